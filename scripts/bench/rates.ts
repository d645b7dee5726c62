/**
 * Requests per second of one api process on a generated database, with four connections, where every request has another
 * address and values follow their frequency. Usage:
 *   node dist/scripts/bench/rates.js [--data FOLDER | --server ADDRESS] [--factor N] [--seconds N] [--rounds N] [--only NAME] [--no-write] [--json FILE] [--env NAME=VALUE]
 * Next to it runs a plain Node server, without a framework, that has one prepared `SELECT 1` for each request: short rounds
 * of both alternate, and the ratio of a route's rate to that of the plain server right before and after it is what
 * counts, since a machine's figures drift. Prints medians of the rounds: requests/s, the ratio, the ratio that is wanted,
 * bytes, the processor time of the api and of its database sessions for a request, and the ratio to that of the plain
 * server, which other work on the machine disturbs less. First while nothing is written, then (unless --no-write) while
 * the database moves on twice a second, as it does on a chain. --env sets a variable of the api. Where there are too few
 * addresses, the share of repeated ones is printed.
 */
import { writeFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { connectDatabase } from '../../services/core/database/index.ts'
import { startApiProcess } from './api-server.ts'
import { startCommits } from './commits.ts'
import { CpuMeter, sessionProcesses } from './cpu-meter.ts'
import { Random } from './generated/choice.ts'
import { generatedArguments, openGeneratedServer } from './generated-server.ts'
import { HttpClient } from './http-client.ts'
import { AddressCycle, load } from './rates/load.ts'
import type { Load } from './rates/load.ts'
import { pickAddresses, rateRoutes } from './rates/routes.ts'
import type { RateRoute } from './rates/routes.ts'
import { percentile } from './report.ts'
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
/** Rows picked for the addresses of each route. */
const PICKED = 60_000

/** A short measurement, with milliseconds on a processor for a request. */
interface MeteredLoad extends Load {
  readonly serverMs: number
  readonly databaseMs: number
}

/** One round of a route. */
interface Round extends MeteredLoad {
  /** Rate of the plain server right before and after it. */
  readonly plain: number
  readonly ratio: number
  /** Processor time for a request to the plain server as a share of that for one to the route. */
  readonly workRatio: number
}

/** A server and the connections to it. */
interface Subject {
  readonly clients: readonly HttpClient[]
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
      api: { clients: await connect(api.url), pid: api.pid },
      plain: { clients: await connect(plain.url), pid: plain.pid },
    }
    const tables: Record<string, unknown> = {}
    for (const isWritten of options['no-write'] ? [false] : [false, true]) {
      console.log(isWritten ? '\nTwo commits a second:\n' : '\nNothing is written:\n')
      tables[isWritten ? 'written' : 'quiet'] = await measureTable(setting, routes, isWritten)
    }
    for (const client of [...setting.api.clients, ...setting.plain.clients]) client.close()
    if (options.json !== undefined) {
      await writeFile(options.json, `${JSON.stringify({ factor: options.factor, ...tables }, null, 1)}\n`)
    }
  } finally {
    api.stop()
    plain.stop()
  }
} finally {
  await database.end()
  await server.stop()
}

function connect(url: string): Promise<HttpClient[]> {
  return Promise.all(Array.from({ length: CONNECTIONS }, () => HttpClient.open(url)))
}

async function pickRoutes(): Promise<Map<RateRoute, AddressCycle>> {
  const picked = new Map<RateRoute, AddressCycle>()
  for (const route of rateRoutes.filter(({ name }) => only === undefined || name.includes(only))) {
    const random = new Random(`${options.values} ${route.name}`)
    picked.set(route, new AddressCycle(await pickAddresses(database, route, random, PICKED)))
  }
  return picked
}

/** Measures every route in every round. */
async function measureTable(
  setting: Setting,
  routes: ReadonlyMap<RateRoute, AddressCycle>,
  isWritten: boolean,
): Promise<Record<string, readonly Round[]>> {
  const stopCommits = isWritten ? startCommits(database) : undefined
  const rounds = new Map([...routes.keys()].map((route): [RateRoute, Round[]] => [route, []]))
  try {
    // Until the programs have been compiled, and the sessions have prepared what they ask.
    await load(setting.plain.clients, root, seconds)
    for (const addresses of routes.values()) await load(setting.api.clients, addresses, seconds)
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
  console.log(
    '| Route | Requests/s | Plain | Ratio | Wanted | Bytes | Api ms | Database ms | Ratio by processor time |',
  )
  console.log('| --- | --- | --- | --- | --- | --- | --- | --- | --- |')
  for (const [route, measured] of rounds) console.log(tableLine(route, measured))
  return Object.fromEntries([...rounds].map(([{ name }, measured]) => [name, measured]))
}

async function measure(
  { clients, pid }: Subject,
  addresses: AddressCycle,
  duration: number,
): Promise<MeteredLoad> {
  const [server, sessionsOf] = [new CpuMeter([pid]), new CpuMeter(await sessionProcesses(database, pid))]
  const [serverBefore, sessionsBefore] = [server.read(), sessionsOf.read()]
  const measured = await load(clients, addresses, duration)
  return {
    ...measured,
    serverMs: (server.read() - serverBefore) / measured.requests,
    databaseMs: (sessionsOf.read() - sessionsBefore) / measured.requests,
  }
}

function workOf({ serverMs, databaseMs }: MeteredLoad): number {
  return serverMs + databaseMs
}

function tableLine({ name, wanted }: RateRoute, rounds: readonly Round[]): string {
  const median = (of: (round: Round) => number): number => percentile(rounds.map(of), 0.5)
  const sum = (of: (round: Round) => number): number => rounds.reduce((total, round) => total + of(round), 0)
  const [requests, failures, repeated] = [
    sum((round) => round.requests),
    sum((round) => round.failures),
    sum((round) => round.repeated),
  ]
  const failed = failures === 0 ? '' : ` (${failures} failures)`
  const again = repeated === 0 ? '' : ` (${Math.round((repeated / requests) * 100)}% repeated)`
  return [
    `| ${name}${failed}${again}`,
    median(({ perSecond }) => perSecond).toFixed(0),
    median(({ plain }) => plain).toFixed(0),
    median(({ ratio }) => ratio).toFixed(3),
    wanted,
    median(({ bytes }) => bytes).toFixed(0),
    median(({ serverMs }) => serverMs).toFixed(2),
    median(({ databaseMs }) => databaseMs).toFixed(2),
    `${median(({ workRatio }) => workRatio).toFixed(3)} |`,
  ].join(' | ')
}
