/**
 * Process that runs the API for `bench/latency`. Usage: api-process.js SETTING, where SETTING is a `LatencySetting` as
 * JSON. Sends `{ url }` to the parent process.
 */
import { startApi } from '../../../services/api/index.ts'
import { parseConfig } from '../../../services/core/config/index.ts'
import { createLogger } from '../../../services/core/log/index.ts'
import { benchNamespaces } from '../families.ts'
import type { LatencySetting } from './messages.ts'

const { database, chain, redis, reader } = JSON.parse(process.argv[2]!) as LatencySetting
const { config } = parseConfig({
  connections: {
    sqldb: { ...database },
    kvstore: redis,
    chain: { name: 'devchain', chain_id: chain.chainId, http: chain.http, ship: chain.ship },
  },
  server: {
    server_addr: '127.0.0.1',
    // One benchmark process sends the requests of many clients, and names the client's address in a header.
    trust_proxy: true,
    live: { connections_per_address: 10_000 },
    namespaces: ['assets', 'market']
      .flatMap(benchNamespaces)
      .map((entry) => ({ ...entry, args: { ...(entry['args'] as object), connected_reader: reader } })),
  },
})
const api = await startApi({
  config: { connections: config.connections, server: { ...config.server, server_port: 0 } },
  logger: createLogger({ name: 'bench', level: 'error', pretty: true }),
})
process.on('disconnect', () => process.exit(0))
process.send?.({ url: api.url })
