/**
 * Measures every list, count and detail request of the API on a generated database, with one client and without the
 * cache of answers.
 * Usage: node dist/scripts/bench/api.js [--data FOLDER | --server ADDRESS] [--factor N] [--family assets|market]
 * [--minutes N] [--only PATH] [--filter NAME] [--sort NAME] [--part N/PARTS] [--no-plans] [--cpu]
 * ADDRESS is the database address of a running server, as JSON. Without ADDRESS a server is started, with its files in
 * FOLDER. --cpu measures processor time of the API and its database session instead of elapsed time, for a busy
 * machine. --part 1/2 measures the first half of all requests.
 *
 * Requests of each endpoint: every sort, both orders, and every single filter, with values that match many rows, few
 * rows and none. Lists are requested with their first page, lists without a filter also with page 1,000.
 *
 * A request far below its time limit is measured once. A request near or above its limit is measured several times, so
 * that one disturbance does not decide its p95. Slow pages are measured again at the end, up to three times; the last
 * measurement counts.
 *
 * Prints for every endpoint and sort: the slowest filters (p50 and p95 in ms over all values); requests above their
 * limit (50 ms; prices and statistics 100 ms); statements that scan a big table, or read a tenth of its rows or index
 * entries; and a summary line.
 *
 * The order of requests is random, but the same for the same seed. The run ends after --minutes (default 25). The
 * requests measured until then are a random sample, and the number of missing requests is printed.
 */
import { parseArgs } from 'node:util'
import pg from 'pg'
import { createNamespace } from '../../services/api/index.ts'
import { parseConfig } from '../../services/core/config/index.ts'
import { connectDatabase } from '../../services/core/database/index.ts'
import type { DatabaseAddress } from '../../services/core/database/index.ts'
import { ApiMeter } from './api-meter.ts'
import { startApiProcess } from './api-server.ts'
import { benchNamespaces } from './families.ts'
import { Random } from './generated/choice.ts'
import { generatedArguments, openGeneratedServer } from './generated-server.ts'
import { HttpClient } from './http-client.ts'
import { addressOf, bigParts, fewerCases, pickExamples, requestCases, scansOf } from './requests/index.ts'
import type { BigParts, RequestCase, TableScan } from './requests/index.ts'
import { CaseReport, limitOf } from './case-report.ts'
import { percentile } from './report.ts'

const { values: options } = parseArgs({
  options: {
    ...generatedArguments,
    family: { type: 'string', default: 'assets' },
    only: { type: 'string' },
    filter: { type: 'string' },
    sort: { type: 'string' },
    worst: { type: 'string', default: '1' },
    minutes: { type: 'string', default: '25' },
    part: { type: 'string', default: '1/1' },
    'no-plans': { type: 'boolean', default: false },
    cpu: { type: 'boolean', default: false },
  },
})

/** Planner settings of the API, for the EXPLAIN runs. */
const planning = { jit: 'off', random_page_cost: '1.1', work_mem: '16MB' }
/** Above this share of its time limit, an answer counts as near the limit. */
const NEAR = 0.5
/** How often a request near its time limit is measured, after one request that fills the database's caches. */
const ROUNDS = 3
/** Maximum number of measurements of a request above its limit, and the total time in ms that ends the measurements. */
const MOST_ROUNDS = 20
const MOST_TIME = 2_000
/** Maximum number of times that a page above its time limit is measured again at the end. */
const AGAIN = 3
/** Time limit for explaining a statement, ms. */
const EXPLAIN_MS = 30_000

const startedAt = performance.now()
const endsAt = startedAt + Number(options.minutes) * 60_000
/** Shares of `--minutes`: 60 % to measure all cases, 20 % to measure slow pages again, 20 % for query plans. */
const measuredUntil = startedAt + (endsAt - startedAt) * 0.6
const askedAgainUntil = startedAt + (endsAt - startedAt) * 0.8
const server = await openGeneratedServer(options)
try {
  const cases = await chosenCases(server.address)
  console.error(`${cases.length} kinds of request`)
  const report = new CaseReport()
  const unasked = await measure(server.address, cases, report)
  console.log(report.markdown(Number(options.worst)))
  const fewer = new Set(fewerCases(cases))
  const near = report.nearLimit(NEAR / 2)
  const explained = cases.filter((request) => near.has(request) || fewer.has(request))
  const scans = options['no-plans'] ? 'not explained' : await describeScans(server.address, explained)
  const minutes = ((performance.now() - startedAt) / 60_000).toFixed(1)
  const missed =
    unasked === 0 ? '' : `; not measured, because the time was up: ${unasked} of ${cases.length} cases`
  console.log(`\nSummary (${options.family}): ${report.summary()}; ${scans}; ${minutes} minutes${missed}`)
} finally {
  await server.stop()
}

async function chosenCases(address: DatabaseAddress): Promise<RequestCase[]> {
  const client = await connectDatabase(address, { applicationName: 'bench' })
  const { config } = parseConfig({
    server: { namespaces: benchNamespaces(options.family) },
  })
  const endpoints = config.server.namespaces.flatMap(
    (entry) => createNamespace(entry, { trigrams: true })?.endpoints ?? [],
  )
  const all = requestCases(endpoints, await pickExamples(client))
  await client.end()
  const chosen = all.filter(
    ({ endpoint, filter, sort }) =>
      (options.sort === undefined || sort === options.sort) &&
      (options.only === undefined || endpoint.path === options.only) &&
      (options.filter === undefined || filter === options.filter),
  )
  const random = new Random(`${options.seed} order`)
  const [, part, parts] = (/^(\d+)\/(\d+)$/.exec(options.part) ?? []).map(Number)
  if (!part || !parts || part > parts)
    throw new Error(`--part needs N/PARTS, such as 1/2, not ${options.part}`)
  return chosen
    .map((request) => ({ request, place: random.fraction() }))
    .sort((a, b) => a.place - b.place)
    .map(({ request }) => request)
    .filter((_, index) => index % parts === part - 1)
}

/**
 * Measures all cases until the time is up.
 * @returns the number of cases that were not measured.
 */
async function measure(
  address: DatabaseAddress,
  cases: readonly RequestCase[],
  report: CaseReport,
): Promise<number> {
  const api = await startApiProcess(address, options.family)
  try {
    const { url } = api
    const base = new URL(url).pathname
    const client = await HttpClient.open(url)
    await client.get(`${base}/v1/config`)
    const meter = options.cpu ? await ApiMeter.of(address, api.pid) : null
    const asking: Asking = { get: (path) => client.get(path), base, report, meter }
    let asked = 0
    for (const request of cases) {
      if (performance.now() > measuredUntil) break
      asked++
      await ask(asking, request)
      if (isDeep(request)) await ask(asking, request, { page: '1000' })
    }
    for (let again = 0; again < AGAIN; again++) {
      const slow = report.slowPages()
      console.error(`${slow.length} pages above their limit are measured again`)
      for (const request of slow) {
        if (performance.now() > askedAgainUntil) break
        report.forget(request)
        await ask(asking, request)
      }
    }
    client.close()
    return cases.length - asked
  } finally {
    api.stop()
  }
}

/** Whether page 1,000 is measured too: for lists without a filter. */
function isDeep({ endpoint, filter }: RequestCase): boolean {
  return filter === '' && 'page' in endpoint.parameters && !endpoint.path.endsWith('/_count')
}

/** HTTP client, URL path and settings that all measurements use. */
interface Asking {
  readonly get: (path: string) => ReturnType<HttpClient['get']>
  /** URL path of the namespace. */
  readonly base: string
  readonly report: CaseReport
  /** Meter of the processor time; null if the elapsed time is measured. */
  readonly meter: ApiMeter | null
}

async function ask(
  { get, base, report, meter }: Asking,
  request: RequestCase,
  extra: Readonly<Record<string, string>> = {},
): Promise<void> {
  const path = base + addressOf(request, extra)
  const times: number[] = []
  let status = 0
  const isDeep = extra.page !== undefined
  const limitMs = limitOf(request)
  const isSlow = (): boolean => percentile(times, 0.95) > limitMs
  const one = async (): Promise<number> => {
    let elapsed = 0
    const asked = async (): Promise<void> => {
      const answer = await get(path)
      status = answer.status
      elapsed = answer.ms
    }
    if (meter) return meter.measure(asked)
    await asked()
    return elapsed
  }
  // The first request fills the database's caches. If even that request is fast, one measurement suffices.
  const first = await one()
  let spent = first
  if (first < NEAR * limitMs) times.push(first)
  else {
    do {
      times.push(await one())
      spent += times.at(-1)!
    } while (spent < MOST_TIME && times.length < (isSlow() && !isDeep ? MOST_ROUNDS : ROUNDS))
  }
  report.add({ request, isDeep, status, times, path })
  if (isSlow()) console.error(`${percentile(times, 0.5).toFixed(0)} ms ${path}`)
}

/**
 * Prints the requests that read a big table or a big part of it.
 * @returns a summary.
 */
async function describeScans(address: DatabaseAddress, cases: readonly RequestCase[]): Promise<string> {
  const client = await connectDatabase(address, {
    applicationName: 'bench',
    statementTimeoutMs: EXPLAIN_MS,
    settings: planning,
  })
  const parts = await bigParts(client)
  let whole = 0
  let walks = 0
  let cut = 0
  let explained = 0
  for (const request of cases) {
    if (performance.now() > endsAt) break
    explained++
    const scans = await scansWithin(client, request, parts)
    if (scans === null) {
      cut++
      console.log(`- ${addressOf(request)} takes longer than ${EXPLAIN_MS} ms with EXPLAIN`)
    }
    for (const { table, read } of scans ?? []) {
      if (read === undefined) whole++
      else walks++
      const what = read === undefined ? 'all' : `${Math.round(read)} rows or entries`
      console.log(`- ${addressOf(request)} reads ${what} of ${table}`)
    }
  }
  await client.end()
  return `EXPLAIN of ${explained} of ${cases.length} requests: ${whole} sequential scans of big tables, ${walks} reads of big parts of tables, ${cut} requests above the time limit`
}

/** Full scans and big reads of big tables by a request; null if EXPLAIN exceeds its time limit. */
async function scansWithin(
  client: pg.ClientBase,
  request: RequestCase,
  parts: BigParts,
): Promise<readonly TableScan[] | null> {
  try {
    return (await scansOf(client, request, parts)).scans
  } catch (error) {
    if (error instanceof pg.DatabaseError && error.code === '57014') return null
    throw error
  }
}
