/**
 * Measures the gain of each cache of the API under mixed traffic: requests of all kinds of `rates`, with values by
 * frequency (popular values repeat), four connections, two commits a second.
 * Usage: node dist/scripts/bench/caches.js [--data FOLDER | --server ADDRESS] [--factor N] [--seconds N] [--rounds N]
 * Runs short rounds, alternately with all caches and without one of them. Prints the medians of requests/s and of
 * processor time per request, and the rate with the cache as a multiple of the rate without it.
 */
import { parseArgs } from 'node:util'
import { connectDatabase } from '../../services/core/database/index.ts'
import { startApiProcess } from './api-server.ts'
import type { ApiSettings } from './api-server.ts'
import { startCommits } from './commits.ts'
import { CpuMeter } from './cpu-meter.ts'
import { Random } from './generated/choice.ts'
import { generatedArguments, openGeneratedServer } from './generated-server.ts'
import { LoadGenerator } from './load.ts'
import { AddressCycle } from './rates/address-cycle.ts'
import { pickRepeatedAddresses, rateRoutes } from './rates/routes.ts'
import { median, PrintedTable } from './report.ts'
import type { ServerProcess } from './server-process.ts'

const { values: options } = parseArgs({
  options: {
    ...generatedArguments,
    seconds: { type: 'string', default: '4' },
    rounds: { type: 'string', default: '5' },
  },
})

const CONNECTIONS = 4
/** Number of URLs of each route. */
const PICKED = 5_000

/** `CACHE_LIFE` of `.env.example`, seconds. */
const LIFE_SECONDS = 2

/**
 * Variants of the API, each without the caches that `without` names. The first variant has all caches; the other
 * variants are compared with the first variant.
 */
const settings: readonly { readonly without: string; readonly caches: ApiSettings }[] = [
  { without: 'nothing', caches: { lifeSeconds: LIFE_SECONDS } },
  { without: 'answers', caches: { lifeSeconds: 0 } },
  { without: 'fragments', caches: { lifeSeconds: LIFE_SECONDS, isCachingFragments: false } },
  { without: 'both', caches: { lifeSeconds: 0, isCachingFragments: false } },
]

interface Round {
  readonly perSecond: number
  readonly workMs: number
}

/** An API process without the cache that `without` names, and the measurements of that process. */
interface Subject {
  readonly without: string
  readonly api: ServerProcess
  readonly load: LoadGenerator
  readonly addresses: AddressCycle
  readonly rounds: Round[]
}

const server = await openGeneratedServer(options)
const database = await connectDatabase(server.address, { applicationName: 'bench' })
const subjects: Subject[] = []
try {
  const addresses = await mixedAddresses()
  const different = new Set(addresses).size
  console.log(`${addresses.length} requests, ${different} different addresses; two commits a second\n`)
  for (const setting of settings) subjects.push(await start(setting, addresses))
  const stopCommits = await startCommits(server.address)
  try {
    // Warm-up, not measured: each API process compiles its programs and fills its caches.
    for (const subject of subjects) await measure(subject)
    for (let round = 0; round < Number(options.rounds); round++) {
      for (const subject of subjects) subject.rounds.push(await measure(subject))
    }
  } finally {
    await stopCommits()
  }
  printTable()
} finally {
  for (const { api, load } of subjects) {
    load.close()
    api.stop()
  }
  await database.end()
  await server.stop()
}

/** URLs of all routes in random order. */
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

async function start(
  { without, caches }: (typeof settings)[number],
  addresses: readonly string[],
): Promise<Subject> {
  const api = await startApiProcess(server.address, 'assets,market', {}, caches)
  const load = await LoadGenerator.open(api.url, CONNECTIONS)
  return { without, api, load, addresses: new AddressCycle(addresses), rounds: [] }
}

/**
 * Measures one round of a variant. Every variant requests the same URLs in the same order, and continues where its
 * last round ended.
 */
async function measure({ api, load, addresses }: Subject): Promise<Round> {
  const meter = new CpuMeter([api.pid])
  const before = meter.read()
  const measured = await load.run({ next: addresses.next, seconds: Number(options.seconds) })
  const failures = measured.failures(200)
  if (failures > 0) throw new Error(`${failures} requests failed`)
  return { perSecond: measured.perSecond, workMs: (meter.read() - before) / measured.requests }
}

function printTable(): void {
  const table = new PrintedTable(['Without', 'Requests/s', 'Api ms', 'Rate with cache / without'])
  const middle = (rounds: readonly Round[], of: keyof Round): number =>
    median(rounds.map((round) => round[of]))
  const all = middle(subjects[0]!.rounds, 'perSecond')
  for (const { without, rounds } of subjects) {
    const rate = middle(rounds, 'perSecond')
    table.row([without, rate.toFixed(0), middle(rounds, 'workMs').toFixed(2), (all / rate).toFixed(2)])
  }
}
