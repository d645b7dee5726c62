/**
 * Measures answers from the cache against a bare HTTP server that sends the same bytes, in one run. Usage:
 * node dist/scripts/bench/hits.js [seconds for each measurement, default 2]
 */
import { execFile } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { promisify } from 'node:util'
import { startApi } from '../../services/api/index.ts'
import type { RunningApi } from '../../services/api/index.ts'
import { parseConfig } from '../../services/core/config/index.ts'
import { connectDatabase, migrate } from '../../services/core/database/index.ts'
import type { DatabaseAddress } from '../../services/core/database/index.ts'
import { createLogger } from '../../services/core/log/index.ts'
import { createDevchain } from '../../services/devchain/index.ts'
import { runReader } from '../../services/filler/index.ts'
import { startEmbeddedPostgres } from '../../services/standalone/embedded-postgres/index.ts'

interface Rate {
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
}

const seconds = Number(process.argv[2] ?? 2)
const logger = createLogger({ name: 'bench', level: 'warn', pretty: true })
const run = promisify(execFile)

/** Drives a server from a process of its own. */
async function measure(url: string, connections: number, headers: readonly string[]): Promise<Rate> {
  const client = import.meta.filename.replace(/hits\.(js|ts)$/, 'load-client.$1')
  const { stdout } = await run(process.execPath, [
    client,
    url,
    String(seconds),
    String(connections),
    ...headers,
  ])
  return JSON.parse(stdout) as Rate
}

/** Indexes the bundled recording. */
async function prepare(database: DatabaseAddress): Promise<string> {
  const client = await connectDatabase(database, { applicationName: 'bench' })
  await migrate(client)
  await client.end()
  const chain = createDevchain({ recordings: ['main'] })
  const { shipUrl, httpUrl } = await chain.start()
  await runReader(
    {
      settings: {
        name: 'bench',
        start_block: 0,
        stop_block: chain.head().num,
        irreversible_only: false,
        ship_prefetch_blocks: 200,
        ship_min_block_confirmation: 50,
        db_group_blocks: 100,
        delete_data: false,
        contracts: [
          {
            handler: 'assets',
            args: { assets_account: 'atomicassets', store_transfers: true, store_logs: true },
          },
        ],
      },
      database,
      chain: { chainId: chain.chainId, http: httpUrl, ship: [shipUrl] },
      logger,
      buildQueryIndexes: false,
    },
    new AbortController().signal,
  )
  await chain.stop()
  return chain.chainId
}

async function serve(
  database: DatabaseAddress,
  chainId: string,
  more: Record<string, unknown>,
): Promise<RunningApi> {
  const { config } = parseConfig({
    connections: {
      sqldb: { ...database },
      chain: { name: 'bench', chain_id: chainId, http: 'http://127.0.0.1:9', ship: 'ws://127.0.0.1:9' },
    },
    server: {
      server_addr: '127.0.0.1',
      namespaces: [{ name: 'assets', path: '/atomicassets', args: { assets_account: 'atomicassets' } }],
      ...more,
    },
  })
  return startApi({
    config: { connections: config.connections, server: { ...config.server, server_port: 0 } },
    logger,
  })
}

/** The least that any server does for an answer: the same status, headers and bytes, from memory. */
async function serveBare(bytes: Buffer): Promise<{ url: string; close: () => void }> {
  const server = createServer((_request, response) => {
    response.writeHead(200, {
      'Content-Type': 'application/json; charset=utf-8',
      'Content-Length': bytes.length,
    })
    response.end(bytes)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    close: () => void server.close(),
  }
}

const paths = ['/v1/config', '/v1/assets?limit=100']
const postgres = await startEmbeddedPostgres()
try {
  const { host, port, user, password } = postgres
  const database = { host, port, user, password, database: 'postgres' }
  const chainId = await prepare(database)
  const limited = { rate_limit: { interval: 60, requests: 1_000_000_000 } }
  const kept = await serve(database, chainId, { cache_life: 3_600 })
  const keptAndLimited = await serve(database, chainId, { cache_life: 3_600, ...limited })
  const fresh = await serve(database, chainId, {})
  for (const path of paths) {
    const bytes = Buffer.from(await (await fetch(`${fresh.url}/atomicassets${path}`)).arrayBuffer())
    const bare = await serveBare(bytes)
    console.log(`${path}: ${bytes.length} bytes`)
    for (const connections of [1, 4]) {
      const base = await measure(bare.url, connections, [])
      const report = (name: string, { perSecond, p50Ms, p99Ms }: Rate): void => {
        console.log(
          `  ${connections} connections, ${name.padEnd(24)} ${String(perSecond).padStart(6)} requests/s, p50 ${p50Ms} ms, p99 ${p99Ms} ms, ${(perSecond / base.perSecond).toFixed(2)} of bare`,
        )
      }
      const url = (api: RunningApi): string => `${api.url}/atomicassets${path}`
      report('bare server', base)
      report('kept', await measure(url(kept), connections, []))
      report('kept, br', await measure(url(kept), connections, ['Accept-Encoding: br']))
      report('kept, rate limit', await measure(url(keptAndLimited), connections, []))
      report('not kept', await measure(url(fresh), connections, []))
    }
    bare.close()
  }
  await Promise.all([kept, keptAndLimited, fresh].map((api) => api.close()))
} finally {
  await postgres.stop()
}
