/**
 * Requests per second of the api on a generated database, with four connections and without a cache. Usage:
 *   node dist/scripts/bench/api-load.js [--data FOLDER | --server ADDRESS] [--factor N] [--seconds N] [--write]
 * Prints requests/s, p50 and bytes of each route, its rate as a ratio to that of `/v1/config`, the cheapest route with one
 * statement, measured right before and after it in the same run, and the processor time of the api and of the database
 * for a request: a machine's figures drift, ratios less. `--write` commits something twice a second, as a chain does.
 */
import { parseArgs } from 'node:util'
import { connectDatabase } from '../../services/core/database/index.ts'
import { startApiProcess } from './api-server.ts'
import { CpuMeter } from './cpu-meter.ts'
import { openGeneratedServer } from './generated-server.ts'
import { HttpClient } from './http-client.ts'
import { percentile } from './report.ts'

const { values: options } = parseArgs({
  options: {
    data: { type: 'string' },
    server: { type: 'string' },
    seed: { type: 'string', default: 'pronghorn' },
    factor: { type: 'string', default: '0.12' },
    seconds: { type: 'string', default: '2' },
    write: { type: 'boolean', default: false },
  },
})

const CONNECTIONS = 4
const CHEAPEST = '/assets/v1/config'

/** A commit that changes no row: what was kept of the database before it is not trusted after it. */
const COMMIT = 'SELECT pg_current_xact_id()'

interface Load {
  readonly perSecond: number
  readonly p50: number
  readonly bytes: number
  readonly failures: number
  /** Milliseconds on a processor for a request. */
  readonly apiMs: number
  readonly databaseMs: number
}

const server = await openGeneratedServer(options)
const writer = await connectDatabase(server.address, { applicationName: 'bench' })
try {
  const paths = await routes()
  const api = await startApiProcess(server.address, 'assets,market')
  const writing = options.write ? setInterval(() => void writer.query(COMMIT), 500) : undefined
  try {
    const clients = await Promise.all(Array.from({ length: CONNECTIONS }, () => HttpClient.open(api.url)))
    console.log('| Route | Bytes | Requests/s | p50 ms | Of the cheapest | Api ms | Database ms |')
    console.log('| --- | --- | --- | --- | --- | --- | --- |')
    for (const path of paths) {
      // Until the program has been compiled for it.
      await load(clients, path, 1, api.pid)
      const before = await load(clients, CHEAPEST, Number(options.seconds) / 2, api.pid)
      const measured = await load(clients, path, Number(options.seconds), api.pid)
      const after = await load(clients, CHEAPEST, Number(options.seconds) / 2, api.pid)
      const ratio = measured.perSecond / ((before.perSecond + after.perSecond) / 2)
      const failed = measured.failures > 0 ? ` (${measured.failures} failures)` : ''
      console.log(
        `| ${path}${failed} | ${measured.bytes} | ${measured.perSecond.toFixed(0)} | ${measured.p50.toFixed(1)} | ${ratio.toFixed(3)} | ${measured.apiMs.toFixed(2)} | ${measured.databaseMs.toFixed(2)} |`,
      )
    }
    for (const client of clients) client.close()
  } finally {
    clearInterval(writing)
    api.stop()
  }
} finally {
  await writer.end()
  await server.stop()
}

async function load(
  clients: readonly HttpClient[],
  path: string,
  seconds: number,
  pid: number,
): Promise<Load> {
  const [api, database] = [new CpuMeter([pid]), new CpuMeter(await databaseProcesses())]
  const [apiBefore, databaseBefore] = [api.read(), database.read()]
  const started = performance.now()
  const until = started + seconds * 1_000
  const times: number[] = []
  let bytes = 0
  let failures = 0
  await Promise.all(
    clients.map(async (client) => {
      do {
        const answer = await client.get(path)
        times.push(answer.ms)
        bytes = answer.bytes
        if (answer.status !== 200) failures++
      } while (performance.now() < until)
    }),
  )
  return {
    perSecond: (times.length / (performance.now() - started)) * 1_000,
    p50: percentile(times, 0.5),
    bytes,
    failures,
    apiMs: (api.read() - apiBefore) / times.length,
    databaseMs: (database.read() - databaseBefore) / times.length,
  }
}

/** The processes of the database that serve the api; those it opens later are missing. */
async function databaseProcesses(): Promise<number[]> {
  const { rows } = await writer.query<{ pid: number }>(
    "SELECT pid FROM pg_stat_activity WHERE application_name = 'pronghorn-api'",
  )
  return rows.map(({ pid }) => pid)
}

/** Requests with an owner, a collection and an asset that have much. */
async function routes(): Promise<string[]> {
  const { rows } = await writer.query<{ owner: string; collection: string; asset: string }>(
    `SELECT k.account AS owner, k.collection_name AS collection,
       (SELECT max(asset_id) FROM assets.assets WHERE owner = k.account)::text AS asset
     FROM assets.collection_accounts k ORDER BY k.assets DESC LIMIT 1`,
  )
  const { owner, collection, asset } = rows[0]!
  const market = ['/v1/sales?state=1', '/v2/sales?state=1&sort=price&order=asc', '/v2/sales?state=3']
  return [
    `/assets/v1/assets/${asset}`,
    '/assets/v1/assets?limit=100',
    `/assets/v1/assets?collection_name=${collection}&limit=100`,
    `/assets/v1/assets?owner=${owner}&sort=asset_id&limit=100`,
    `/assets/v1/assets?owner=${owner}&collection_name=${collection}&template_data:text.rarity=Common&limit=100`,
    `/assets/v1/assets/_count?owner=${owner}`,
    '/assets/v1/accounts?limit=100',
    `/assets/v1/templates?collection_name=${collection}&limit=100`,
    '/assets/v1/collections?limit=100',
    '/assets/v1/transfers?limit=100',
    `/assets/v1/transfers?account=${owner}&limit=100`,
    ...market.map((path) => `/market${path}&limit=100`),
    `/market/v1/prices/sales/days?collection_name=${collection}`,
    CHEAPEST,
  ]
}
