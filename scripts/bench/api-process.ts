/**
 * The API of a benchmark, as a separate process.
 * Usage: api-process.js ADDRESS CHAIN_ID [FAMILY[,FAMILY]] [SETTINGS]
 * ADDRESS is the address of the database, SETTINGS are `ApiSettings`, both as JSON. Prints one line of JSON: {"url"}.
 */
import { startApi } from '../../services/api/index.ts'
import { parseConfig } from '../../services/core/config/index.ts'
import { createLogger } from '../../services/core/log/index.ts'
import type { ApiSettings } from './api-server.ts'
import { benchNamespaces } from './families.ts'

const [address, chainId, named = 'assets', settings = '{}'] = process.argv.slice(2)
const {
  lifeSeconds = 0,
  isCachingFragments = true,
  isWarmedUp = true,
  requestsPerMinute,
} = JSON.parse(settings) as ApiSettings
const families = named.split(',')
const node = { http: 'http://127.0.0.1:9', ship: 'ws://127.0.0.1:9' }
const { config } = parseConfig({
  connections: {
    sqldb: JSON.parse(address!) as unknown,
    chain: { name: 'generated', chain_id: chainId, ...node },
  },
  server: {
    server_addr: '127.0.0.1',
    // One benchmark process sends the requests of many clients, and names the client's address in a header.
    trust_proxy: true,
    cache_life: lifeSeconds,
    ...(requestsPerMinute !== undefined && { rate_limit: { interval: 60, requests: requestsPerMinute } }),
    namespaces: families.flatMap(benchNamespaces),
  },
})
const api = await startApi({
  config: { connections: config.connections, server: { ...config.server, server_port: 0 } },
  isCachingFragments,
  isWarmedUp,
  logger: createLogger({ name: 'bench', level: 'error', pretty: true }),
})
console.log(JSON.stringify({ url: `${api.url}/${families[0]!}` }))
process.on('SIGTERM', () => process.exit(0))
