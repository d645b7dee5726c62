/**
 * Measures what an api does with more than it can do. Usage:
 *   node dist/scripts/bench/overload.js [--data FOLDER | --server ADDRESS] [--seed TEXT] [--factor NUMBER] [--seconds 10]
 * 1. Brief requests (`/v1/config`, `/v1/assets/:asset_id`) alone, and while fifty clients ask for slow lists.
 * 2. Lists at half the rate that is answered at most, at that rate, and at twice that rate; each request from one of
 *    forty clients, at its time, whether or not the others have been answered.
 * Prints one line for each measurement.
 */
import { Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { connectDatabase } from '../../services/core/database/index.ts'
import type { DatabaseAddress } from '../../services/core/database/index.ts'
import { startApiProcess } from './api-server.ts'
import { generatedArguments, openGeneratedServer } from './generated-server.ts'

const { values: options } = parseArgs({
  options: {
    ...generatedArguments,
    factor: { type: 'string', default: '0.2' },
    seconds: { type: 'string', default: '10' },
  },
})
const SLOW_CLIENTS = 50
const CLIENTS = 40
const seconds = Number(options.seconds)

/** What became of the requests of a measurement. */
class Tally {
  readonly answeredMs: number[] = []
  readonly statuses = new Map<string, number>()
  withoutRetryAfter = 0

  add(status: string, ms: number, retryAfter: string | undefined): void {
    this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1)
    if (status === '200') this.answeredMs.push(ms)
    if (status === '503' && retryAfter === undefined) this.withoutRetryAfter++
  }

  percentile(part: number): number {
    const sorted = [...this.answeredMs].sort((one, other) => one - other)
    return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? NaN
  }

  text(): string {
    const statuses = [...this.statuses].map(([status, count]) => `${status}: ${count}`).join(', ')
    const refused = this.withoutRetryAfter > 0 ? `, ${this.withoutRetryAfter} without Retry-After` : ''
    return `p50 ${this.percentile(0.5).toFixed(1)} ms, p99 ${this.percentile(0.99).toFixed(1)} ms (${statuses}${refused})`
  }
}

const agent = new Agent({ keepAlive: true, maxSockets: 2_000 })

/** Asks as the client with a number, whom the server knows by what its proxy says. */
function ask(url: string, client: number, tally: Tally): Promise<void> {
  const startedMs = performance.now()
  return new Promise((resolve) => {
    const end = (status: string, retryAfter?: string): void => {
      tally.add(status, performance.now() - startedMs, retryAfter)
      resolve()
    }
    const headers = { 'x-forwarded-for': `10.0.${client >> 8}.${client & 255}` }
    const sent = request(url, { agent, headers }, (response) => {
      response.resume()
      response.on('end', () => {
        end(String(response.statusCode), response.headers['retry-after'])
      })
    })
    sent.on('error', (error: NodeJS.ErrnoException) => {
      end(error.code ?? 'error')
    })
    sent.end()
  })
}

async function column(address: DatabaseAddress, query: string): Promise<string[]> {
  const client = await connectDatabase(address, { applicationName: 'overload' })
  const { rows } = await client.query<{ value: string }>(query)
  await client.end()
  return rows.map(({ value }) => value)
}

const server = await openGeneratedServer(options)
const [assets, owners, collections] = await Promise.all([
  column(
    server.address,
    'SELECT asset_id::text AS value FROM assets.assets ORDER BY md5(asset_id::text) LIMIT 5000',
  ),
  column(server.address, 'SELECT account AS value FROM assets.accounts ORDER BY md5(account) LIMIT 5000'),
  column(server.address, 'SELECT collection_name AS value FROM assets.collections'),
])
const api = await startApiProcess(server.address, 'assets,market')
const market = api.url.replace(/assets$/, 'market')

const pick = (from: readonly string[], at: number): string => from[at % from.length]!

/** A list of ordinary traffic; no two of a thousand are the same. */
function listUrl(at: number): string {
  const page = 1 + (Math.floor(at / 40) % 5)
  const collection = pick(collections, at * 7)
  switch (at % 4) {
    case 0:
      return `${api.url}/v1/assets?owner=${pick(owners, at)}&sort=transferred&page=${page}`
    case 1:
      return `${api.url}/v1/assets?collection_name=${collection}&sort=updated&page=${page}&limit=${50 + (at % 50)}`
    case 2:
      return `${market}/v2/sales?state=1&collection_name=${collection}&sort=price&order=asc&page=${page}&limit=${40 + (at % 50)}`
    default:
      return `${api.url}/v1/transfers?account=${pick(owners, at)}&page=${page}`
  }
}

/** Sends at a rate for some time, whatever comes back. */
async function sendAt(perSecond: number): Promise<Tally> {
  const tally = new Tally()
  const asked: Promise<void>[] = []
  const startedMs = performance.now()
  for (let sent = 0; sent < perSecond * seconds; sent++) {
    const dueMs = startedMs + (sent / perSecond) * 1_000
    if (dueMs > performance.now()) await sleep(dueMs - performance.now())
    asked.push(ask(listUrl(sent), sent % CLIENTS, tally))
  }
  await Promise.all(asked)
  return tally
}

/** The rate at which so many clients are answered who each wait for their answer. */
async function greatestRate(clients: number): Promise<number> {
  const tally = new Tally()
  const untilMs = performance.now() + seconds * 1_000
  let sent = 0
  const drive = async (client: number): Promise<void> => {
    while (performance.now() < untilMs) await ask(listUrl(sent++), client, tally)
  }
  await Promise.all(Array.from({ length: clients }, (_, client) => drive(client)))
  return (tally.statuses.get('200') ?? 0) / seconds
}

async function measureBrief(label: string): Promise<Tally[]> {
  const [config, asset] = [new Tally(), new Tally()]
  const untilMs = performance.now() + seconds * 1_000
  const drive = async (client: number): Promise<void> => {
    for (let at = client; performance.now() < untilMs; at += 4) {
      await ask(`${api.url}/v1/config`, 1_000 + client, config)
      await ask(`${api.url}/v1/assets/${pick(assets, at)}`, 1_000 + client, asset)
      await sleep(20)
    }
  }
  await Promise.all([0, 1, 2, 3].map(drive))
  console.log(`/v1/config, ${label}: ${config.text()}`)
  console.log(`/v1/assets/:asset_id, ${label}: ${asset.text()}`)
  return [config, asset]
}

/** A far page of a sort that no boundary replaces; each costs most of a second of a processor. */
async function askSlowly(client: number, tally: Tally, stop: AbortSignal): Promise<void> {
  for (let at = client; !stop.aborted; at += SLOW_CLIENTS) {
    const before = tally.answeredMs.length
    await ask(
      `${api.url}/v1/assets?sort=name&limit=${50 + (Math.floor(at / 100) % 50)}&page=${900 + (at % 100)}`,
      2_000 + client,
      tally,
    )
    if (tally.answeredMs.length === before) await sleep(200)
  }
}

try {
  const quiet = await measureBrief('alone')
  const stop = new AbortController()
  const slow = new Tally()
  const asking = Array.from({ length: SLOW_CLIENTS }, (_, client) => askSlowly(client, slow, stop.signal))
  await sleep(1_000)
  const loaded = await measureBrief(`with ${SLOW_CLIENTS} slow clients`)
  stop.abort()
  await Promise.all(asking)
  console.log(`slow lists: ${slow.text()}`)
  loaded.forEach((tally, at) => {
    const factor = tally.percentile(0.99) / quiet[at]!.percentile(0.99)
    console.log(`p99 of ${at === 0 ? '/v1/config' : '/v1/assets/:asset_id'}: times ${factor.toFixed(1)}`)
  })
  const rate = await greatestRate(16)
  for (const [name, part] of [
    ['half', 0.5],
    ['all', 1],
    ['twice', 2],
  ] as const) {
    const tally = await sendAt(rate * part)
    console.log(`lists, ${name} of ${Math.round(rate)} a second: ${tally.text()}`)
  }
} finally {
  api.stop()
  agent.destroy()
  await server.stop()
}
