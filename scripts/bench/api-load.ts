/**
 * Requests per second of the api on a generated database, with four connections and without a cache. Usage:
 *   node dist/scripts/bench/api-load.js [--data FOLDER | --server ADDRESS] [--factor N] [--seconds N]
 * Prints requests/s, p50 and bytes of each route, and its rate as a ratio to that of `/v1/config`, the cheapest route
 * with one statement, measured right before and after it in the same run: a machine's figures drift, ratios do not.
 */
import { parseArgs } from 'node:util'
import { connectDatabase } from '../../services/core/database/index.ts'
import { startApiProcess } from './api-server.ts'
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
  },
})

const CONNECTIONS = 4
const CHEAPEST = '/v1/config'

interface Load {
  readonly perSecond: number
  readonly p50: number
  readonly bytes: number
  readonly failures: number
}

const server = await openGeneratedServer(options)
try {
  const paths = await routes()
  const api = await startApiProcess(server.address)
  try {
    const clients = await Promise.all(Array.from({ length: CONNECTIONS }, () => HttpClient.open(api.url)))
    const base = new URL(api.url).pathname
    console.log('| Route | Bytes | Requests/s | p50 ms | Of the cheapest |\n| --- | --- | --- | --- | --- |')
    for (const path of paths) {
      await load(clients, base + path, 0.5)
      const before = await load(clients, base + CHEAPEST, Number(options.seconds) / 2)
      const measured = await load(clients, base + path, Number(options.seconds))
      const after = await load(clients, base + CHEAPEST, Number(options.seconds) / 2)
      const ratio = measured.perSecond / ((before.perSecond + after.perSecond) / 2)
      const failed = measured.failures > 0 ? ` (${measured.failures} failures)` : ''
      console.log(
        `| ${path}${failed} | ${measured.bytes} | ${measured.perSecond.toFixed(0)} | ${measured.p50.toFixed(1)} | ${ratio.toFixed(3)} |`,
      )
    }
    for (const client of clients) client.close()
  } finally {
    api.stop()
  }
} finally {
  await server.stop()
}

async function load(clients: readonly HttpClient[], path: string, seconds: number): Promise<Load> {
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
  }
}

/** Requests with an owner, a collection and an asset that have much. */
async function routes(): Promise<string[]> {
  const client = await connectDatabase(server.address, { applicationName: 'bench' })
  const { rows } = await client.query<{ owner: string; collection: string; asset: string }>(
    `SELECT k.account AS owner, k.collection_name AS collection,
       (SELECT max(asset_id) FROM assets.assets WHERE owner = k.account)::text AS asset
     FROM assets.collection_accounts k ORDER BY k.assets DESC LIMIT 1`,
  )
  await client.end()
  const { owner, collection, asset } = rows[0]!
  return [
    `/v1/assets/${asset}`,
    '/v1/assets?limit=100',
    `/v1/assets?collection_name=${collection}&limit=100`,
    `/v1/assets?owner=${owner}&sort=asset_id&limit=100`,
    `/v1/assets?owner=${owner}&collection_name=${collection}&template_data:text.rarity=Common&limit=100`,
    `/v1/assets/_count?owner=${owner}`,
    '/v1/accounts?limit=100',
    `/v1/templates?collection_name=${collection}&limit=100`,
    '/v1/collections?limit=100',
    '/v1/transfers?limit=100',
    `/v1/transfers?account=${owner}&limit=100`,
    '/v1/config',
  ]
}
