/**
 * Measures requests per second of one API process on a generated database, with four connections.
 * Usage: node dist/scripts/bench/rates.js [--data FOLDER | --server ADDRESS] [--factor N] [--seconds N] [--rounds N]
 * [--only NAME] [--no-write] [--json FILE] [--env NAME=VALUE]
 * --env sets an environment variable of the API.
 *
 * Every request has another URL. Values are as frequent in the URLs as in the database. If a route has too few URLs,
 * some URLs repeat, and the share of these requests is printed.
 *
 * The reference is a plain Node server without a framework that runs one prepared `SELECT 1` per request. Short rounds
 * of the API and of the plain server alternate. The result is a ratio: the rate of a route, divided by the mean rate of
 * the plain server right before and right after the route. Unlike an absolute figure, the ratio does not drift with the
 * machine.
 *
 * Prints medians of the rounds: requests/s, the ratio, the target ratio, bytes, processor time per request of the API
 * and of its database sessions, and the ratio of processor times, which depends less on other load. All routes are
 * measured first without writes, then (unless --no-write) with two commits a second, as on a chain.
 */
import { parseArgs } from 'node:util'
import { connectDatabase } from '../../services/core/database/index.ts'
import { startApiProcess } from './api-server.ts'
import { startCommits } from './commits.ts'
import { CpuMeter, sessionProcesses } from './cpu-meter.ts'
import { Random } from './generated/choice.ts'
import { generatedArguments, openGeneratedServer } from './generated-server.ts'
import { LoadGenerator } from './load.ts'
import { AddressCycle } from './rates/address-cycle.ts'
import { pickAddresses, rateRoutes } from './rates/routes.ts'
import type { RateRoute } from './rates/routes.ts'
import { median, PrintedTable, storeFigures } from './report.ts'
import { environmentOf, startServerProcess } from './server-process.ts'

const { values: options } = parseArgs({
  options: {
    ...generatedArguments,
    seconds: { type: 'string', default: '1' },
    rounds: { type: 'string', default: '5' },
    values: { type: 'string', default: 'rates' },
    only: { type: 'string' },
    'no-write': { type: 'boolean', default: false },
    json: { type: 'string' },
    env: { type: 'string', multiple: true, default: [] },
  },
})

const CONNECTIONS = 4
/** Number of database rows that are sampled to build the URLs of each route. */
const PICKED = 60_000

/** Figures of one short round of requests; processor times are per request, in ms. */
interface MeteredLoad {
  readonly requests: number
  readonly perSecond: number
  /** Mean size of an answer, bytes. */
  readonly bytes: number
  /** Number of answers with a status other than 200. */
  readonly failures: number
  /** Number of requests whose URL had been requested before. */
  readonly repeated: number
  readonly serverMs: number
  readonly databaseMs: number
}

/** Figures of a route in one round, compared with the plain server. */
interface Round extends MeteredLoad {
  /** Rate of the plain server: the mean of its rates right before and right after the route was measured. */
  readonly plain: number
  readonly ratio: number
  /** Processor time per request of the plain server, divided by that of the route. */
  readonly workRatio: number
}

/** A server process and the load connections to it. */
interface Subject {
  readonly load: LoadGenerator
  readonly pid: number
}

interface Setting {
  readonly api: Subject
  readonly plain: Subject
}

const { only } = options
const seconds = Number(options.seconds)
const root = new AddressCycle(['/'])
const server = await openGeneratedServer(options)
const database = await connectDatabase(server.address, { applicationName: 'bench' })
try {
  const routes = await pickRoutes()
  const plainFile = import.meta.filename.replace(/rates\.(js|ts)$/, 'rates/plain-server.$1')
  const plain = await startServerProcess(plainFile, [JSON.stringify(server.address)])
  const api = await startApiProcess(server.address, 'assets,market', environmentOf(options.env))
  try {
    const setting = {
      api: { load: await LoadGenerator.open(api.url, CONNECTIONS), pid: api.pid },
      plain: { load: await LoadGenerator.open(plain.url, CONNECTIONS), pid: plain.pid },
    }
    const tables: Record<string, unknown> = {}
    for (const isWritten of options['no-write'] ? [false] : [false, true]) {
      console.log(isWritten ? '\nTwo commits a second:\n' : '\nNothing is written:\n')
      tables[isWritten ? 'written' : 'quiet'] = await measureTable(setting, routes, isWritten)
    }
    for (const { load } of Object.values(setting)) load.close()
    await storeFigures(options.json, { factor: options.factor, ...tables })
  } finally {
    api.stop()
    plain.stop()
  }
} finally {
  await database.end()
  await server.stop()
}

async function pickRoutes(): Promise<Map<RateRoute, AddressCycle>> {
  const picked = new Map<RateRoute, AddressCycle>()
  for (const route of rateRoutes.filter(({ name }) => only === undefined || name.includes(only))) {
    const random = new Random(`${options.values} ${route.name}`)
    picked.set(route, new AddressCycle(await pickAddresses(database, route, random, PICKED)))
  }
  return picked
}

/** Measures every route in every round, and prints a table. */
async function measureTable(
  setting: Setting,
  routes: ReadonlyMap<RateRoute, AddressCycle>,
  isWritten: boolean,
): Promise<Record<string, readonly Round[]>> {
  const stopCommits = isWritten ? await startCommits(server.address) : undefined
  const rounds = new Map([...routes.keys()].map((route): [RateRoute, Round[]] => [route, []]))
  try {
    // Warm-up of both servers: compiles their programs and prepares their statements. Its requests are not measured.
    await setting.plain.load.run({ next: root.next, seconds })
    for (const { next } of routes.values()) await setting.api.load.run({ next, seconds })
    for (let round = 0; round < Number(options.rounds); round++) {
      let before = await measure(setting.plain, root, seconds / 2)
      for (const [route, addresses] of routes) {
        const measured = await measure(setting.api, addresses, seconds)
        const after = await measure(setting.plain, root, seconds / 2)
        const plain = (before.perSecond + after.perSecond) / 2
        const workRatio = (workOf(before) + workOf(after)) / 2 / workOf(measured)
        rounds.get(route)!.push({ ...measured, plain, ratio: measured.perSecond / plain, workRatio })
        before = after
      }
    }
  } finally {
    await stopCommits?.()
  }
  const figures = ['Requests/s', 'Plain', 'Ratio', 'Wanted', 'Bytes', 'Api ms', 'Database ms']
  const table = new PrintedTable(['Route', ...figures, 'Ratio by processor time'])
  for (const [route, measured] of rounds) table.row(cellsOf(route, measured))
  return Object.fromEntries([...rounds].map(([{ name }, measured]) => [name, measured]))
}

async function measure(
  { load, pid }: Subject,
  addresses: AddressCycle,
  duration: number,
): Promise<MeteredLoad> {
  const [server, sessionsOf] = [new CpuMeter([pid]), new CpuMeter(await sessionProcesses(database, pid))]
  const [serverBefore, sessionsBefore] = [server.read(), sessionsOf.read()]
  const repeatedBefore = addresses.repeated
  const measured = await load.run({ next: addresses.next, seconds: duration })
  const { requests, perSecond, bytes } = measured
  return {
    ...{ requests, perSecond, bytes, failures: measured.failures(200) },
    repeated: addresses.repeated - repeatedBefore,
    serverMs: (server.read() - serverBefore) / requests,
    databaseMs: (sessionsOf.read() - sessionsBefore) / requests,
  }
}

function workOf({ serverMs, databaseMs }: MeteredLoad): number {
  return serverMs + databaseMs
}

function cellsOf({ name, wanted }: RateRoute, rounds: readonly Round[]): (string | number)[] {
  const middle = (of: (round: Round) => number): number => median(rounds.map(of))
  const sum = (of: (round: Round) => number): number => rounds.reduce((total, round) => total + of(round), 0)
  const [requests, failures, repeated] = [
    sum((round) => round.requests),
    sum((round) => round.failures),
    sum((round) => round.repeated),
  ]
  const failed = failures === 0 ? '' : ` (${failures} failures)`
  const again = repeated === 0 ? '' : ` (${Math.round((repeated / requests) * 100)}% repeated)`
  return [
    `${name}${failed}${again}`,
    middle(({ perSecond }) => perSecond).toFixed(0),
    middle(({ plain }) => plain).toFixed(0),
    middle(({ ratio }) => ratio).toFixed(3),
    wanted,
    middle(({ bytes }) => bytes).toFixed(0),
    middle(({ serverMs }) => serverMs).toFixed(2),
    middle(({ databaseMs }) => databaseMs).toFixed(2),
    middle(({ workRatio }) => workRatio).toFixed(3),
  ]
}
