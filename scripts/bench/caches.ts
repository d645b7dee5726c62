/**
 * What each cache of the api gains on varied traffic: requests of all kinds of `rates`, with values by their frequency (a
 * popular one comes again), four connections, two commits a second. Usage:
 *   node dist/scripts/bench/caches.js [--data FOLDER | --server ADDRESS] [--factor N] [--seconds N] [--rounds N]
 * Short rounds of an api with every cache and of one without the one in question alternate; prints the medians of requests/s
 * and of processor time for a request, and the rate with the cache as a multiple of that without.
 */
import { parseArgs } from 'node:util'
import type { CacheName } from '../../services/api/index.ts'
import { connectDatabase } from '../../services/core/database/index.ts'
import { startApiProcess } from './api-server.ts'
import { CpuMeter } from './cpu-meter.ts'
import { Random } from './generated/choice.ts'
import { openGeneratedServer } from './generated-server.ts'
import { HttpClient } from './http-client.ts'
import { AddressCycle, load } from './rates/load.ts'
import { COMMIT, COMMIT_EVERY_MS } from './rates/commits.ts'
import { pickRepeatedAddresses, rateRoutes } from './rates/routes.ts'
import { percentile } from './report.ts'
import type { ServerProcess } from './server-process.ts'

const { values: options } = parseArgs({
  options: {
    data: { type: 'string' },
    server: { type: 'string' },
    seed: { type: 'string', default: 'pronghorn' },
    factor: { type: 'string', default: '1' },
    seconds: { type: 'string', default: '4' },
    rounds: { type: 'string', default: '5' },
  },
})

const CONNECTIONS = 4
/** Addresses of each route. */
const PICKED = 5_000

/** Caches that are switched off; none for the api that the others are compared with. */
const SETTINGS: readonly (readonly CacheName[])[] = [[], ['fragments'], ['unchanged-answers']]

interface Subject {
  readonly cachesOff: readonly CacheName[]
  readonly api: ServerProcess
  readonly clients: readonly HttpClient[]
  readonly rates: number[]
  readonly workMs: number[]
}

const server = await openGeneratedServer(options)
const database = await connectDatabase(server.address, { applicationName: 'bench' })
const subjects: Subject[] = []
try {
  const addresses = await mixedAddresses()
  const different = new Set(addresses).size
  console.log(`${addresses.length} requests, ${different} different addresses; two commits a second\n`)
  for (const cachesOff of SETTINGS) subjects.push(await start(cachesOff))
  const writing = setInterval(() => void database.query(COMMIT), COMMIT_EVERY_MS)
  try {
    // Until the programs have been compiled and the caches are filled.
    for (const subject of subjects) await measure(subject, addresses)
    for (const { rates, workMs } of subjects) [rates.length, workMs.length] = [0, 0]
    for (let round = 0; round < Number(options.rounds); round++) {
      for (const subject of subjects) await measure(subject, addresses)
    }
  } finally {
    clearInterval(writing)
  }
  printTable()
} finally {
  for (const { api, clients } of subjects) {
    for (const client of clients) client.close()
    api.stop()
  }
  await database.end()
  await server.stop()
}

/** Requests of all routes in random order. */
async function mixedAddresses(): Promise<string[]> {
  const random = new Random('caches')
  const all: { address: string; place: number }[] = []
  for (const route of rateRoutes) {
    for (const address of await pickRepeatedAddresses(database, route, random, PICKED)) {
      all.push({ address, place: random.fraction() })
    }
  }
  return all.sort((a, b) => a.place - b.place).map(({ address }) => address)
}

async function start(cachesOff: readonly CacheName[]): Promise<Subject> {
  const api = await startApiProcess(server.address, 'assets,market', {}, cachesOff.join())
  const clients = await Promise.all(Array.from({ length: CONNECTIONS }, () => HttpClient.open(api.url)))
  return { cachesOff, api, clients, rates: [], workMs: [] }
}

/** Every round asks for the same addresses in the same order. */
async function measure(
  { api, clients, rates, workMs }: Subject,
  addresses: readonly string[],
): Promise<void> {
  const meter = new CpuMeter([api.pid])
  const before = meter.read()
  const measured = await load(clients, new AddressCycle(addresses), Number(options.seconds))
  if (measured.failures > 0) throw new Error(`${measured.failures} requests failed`)
  rates.push(measured.perSecond)
  workMs.push((meter.read() - before) / measured.requests)
}

function printTable(): void {
  console.log('| Without | Requests/s | Api ms | Rate with it, times that without |')
  console.log('| --- | --- | --- | --- |')
  const all = percentile(subjects[0]!.rates, 0.5)
  for (const { cachesOff, rates, workMs } of subjects) {
    const rate = percentile(rates, 0.5)
    const name = cachesOff.length === 0 ? 'nothing' : cachesOff.join(', ')
    console.log(
      `| ${name} | ${rate.toFixed(0)} | ${percentile(workMs, 0.5).toFixed(2)} | ${(all / rate).toFixed(2)} |`,
    )
  }
}
