/**
 * Measures answers from the cache against a plain HTTP server that sends the same headers and bytes, in one run: rounds
 * of short measurements, one after the other, of which the fastest counts. The time that the server's process itself
 * works for a request shows what it costs also on a machine that is busy with other things. Usage:
 * node dist/scripts/bench/hits.js [seconds for each measurement, default 1] [port of a Redis on this machine]
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
import { startEmbeddedPostgres } from '../../services/standalone/index.ts'
import { readerSettings } from './reader-settings.ts'

interface Rate {
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  /** Time that this process, which serves, worked for each request, microseconds. */
  readonly workUs: number
}

const seconds = Number(process.argv[2] ?? 1)
const rounds = 5
const redisPort = process.argv[3]
const kvstore = redisPort === undefined ? {} : { kvstore: { host: '127.0.0.1', port: Number(redisPort) } }
const logger = createLogger({ name: 'bench', level: 'warn', pretty: true })
const run = promisify(execFile)

/** Drives a server from a separate process. */
async function measure(url: string, connections: number, headers: readonly string[]): Promise<Rate> {
  const client = import.meta.filename.replace(/hits\.(js|ts)$/, 'load-client.$1')
  const before = process.cpuUsage()
  const parameters = [client, url, String(seconds), String(connections), ...headers]
  const { stdout } = await run(process.execPath, parameters)
  const { user, system } = process.cpuUsage(before)
  const rate = JSON.parse(stdout) as Omit<Rate, 'workUs'>
  return { ...rate, workUs: (user + system) / (rate.perSecond * seconds) }
}

interface Subject {
  readonly name: string
  readonly url: string
  readonly headers: readonly string[]
}

/** The fastest round of each subject, in their order; the rounds of all alternate. */
async function compare(subjects: readonly Subject[], connections: number): Promise<Rate[]> {
  const best: Rate[] = []
  for (let round = 0; round < rounds; round++) {
    for (const [at, { url, headers }] of subjects.entries()) {
      const rate = await measure(url, connections, headers)
      if (rate.perSecond > (best[at]?.perSecond ?? 0)) best[at] = rate
    }
  }
  return best
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
      settings: readerSettings({ stop_block: chain.head().num }),
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
      ...kvstore,
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
async function serveBare(
  bytes: Buffer,
  headers: Record<string, string>,
): Promise<{ url: string; close: () => void }> {
  const server = createServer((_request, response) => {
    response.writeHead(200, headers)
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
  const cached = await serve(database, chainId, { cache_life: 3_600 })
  const cachedAndLimited = await serve(database, chainId, { cache_life: 3_600, ...limited })
  const fresh = await serve(database, chainId, {})
  for (const path of paths) {
    const sample = await fetch(`${fresh.url}/atomicassets${path}`, {
      headers: { 'accept-encoding': 'identity' },
    })
    const bytes = Buffer.from(await sample.arrayBuffer())
    const automatic = ['date', 'connection', 'keep-alive']
    const headers = [...sample.headers].filter(([name]) => !automatic.includes(name))
    const plain = await serveBare(bytes, Object.fromEntries(headers))
    console.log(`${path}: ${bytes.length} bytes`)
    const subjects = [
      { name: 'plain server', url: plain.url, headers: [] },
      { name: 'cached', url: `${cached.url}/atomicassets${path}`, headers: [] },
      { name: 'cached, br', url: `${cached.url}/atomicassets${path}`, headers: ['Accept-Encoding: br'] },
      { name: 'cached, rate limit', url: `${cachedAndLimited.url}/atomicassets${path}`, headers: [] },
      { name: 'not cached', url: `${fresh.url}/atomicassets${path}`, headers: [] },
    ]
    for (const connections of [1, 4]) {
      const rates = await compare(subjects, connections)
      for (const [at, { perSecond, p50Ms, p99Ms, workUs }] of rates.entries()) {
        const ratio = (perSecond / rates[0]!.perSecond).toFixed(2)
        console.log(
          `  ${connections} connections, ${subjects[at]!.name.padEnd(16)} ${String(perSecond).padStart(6)} requests/s, p50 ${p50Ms} ms, p99 ${p99Ms} ms, ${workUs.toFixed(1)} us of work, ${ratio} of plain`,
        )
      }
    }
    plain.close()
  }
  await Promise.all([cached, cachedAndLimited, fresh].map((api) => api.close()))
} finally {
  await postgres.stop()
}
