/**
 * Measures every list, count and detail of the api on a generated database, with one client and without a cache. Usage:
 *   node dist/scripts/bench/api.js [--data FOLDER | --server ADDRESS] [--factor N] [--rounds N] [--family assets|market] [--only TEXT] [--filter NAME] [--sort NAME] [--limit MS] [--no-plans] [--cpu]
 * ADDRESS is that of a running server's database, as JSON; otherwise a server is started, with its files in FOLDER.
 * Asks every endpoint with every sort, both orders, and every single filter, with values that find many rows, few rows
 * and none; first pages, and page 1,000. What takes longer than it may is asked more often, so that its p95 does not
 * hang on one disturbance. Prints, for every endpoint and sort, the filters that take longest (p50 and p95 in ms, over
 * the rounds and values), what takes more than 50 ms, and statements that read a big table from end to end, or a tenth
 * of its rows or index entries; last, a summary in one line.
 */
import { parseArgs } from 'node:util'
import { createNamespace } from '../../services/api/index.ts'
import { parseConfig } from '../../services/core/config/index.ts'
import { connectDatabase } from '../../services/core/database/index.ts'
import type { DatabaseAddress } from '../../services/core/database/index.ts'
import { startApiProcess } from './api-server.ts'
import { CpuMeter } from './cpu-meter.ts'
import { benchNamespaces } from './families.ts'
import { openGeneratedServer } from './generated-server.ts'
import { HttpClient } from './http-client.ts'
import { addressOf, bigParts, pickExamples, requestCases, scansOf } from './requests/index.ts'
import type { RequestCase } from './requests/index.ts'
import { percentile, Report } from './report.ts'

const { values: options } = parseArgs({
  options: {
    data: { type: 'string' },
    server: { type: 'string' },
    seed: { type: 'string', default: 'pronghorn' },
    factor: { type: 'string', default: '1' },
    rounds: { type: 'string', default: '3' },
    family: { type: 'string', default: 'assets' },
    only: { type: 'string' },
    filter: { type: 'string' },
    sort: { type: 'string' },
    worst: { type: 'string', default: '1' },
    limit: { type: 'string', default: '50' },
    'no-plans': { type: 'boolean', default: false },
    cpu: { type: 'boolean', default: false },
  },
})

/** Tables of which a request may read no more than a part. */
const BIG = new Set([
  'assets',
  'logs',
  'blocks',
  'transfers',
  'offers',
  'open_offer_assets',
  'accounts',
  'burners',
  'sales',
  'auctions',
  'bids',
  'buyoffers',
  'template_buyoffers',
  'listing_assets',
  'trades',
])

/** How often what took too long is asked, and the time in ms after which no more is asked of one kind of request. */
const MOST_ROUNDS = 20
const MOST_TIME = 2_000

const rounds = Number(options.rounds)
const limitMs = Number(options.limit)
const startedAt = performance.now()
const server = await openGeneratedServer(options)
try {
  const cases = await chosenCases(server.address)
  console.error(`${cases.length} kinds of request`)
  const report = new Report(limitMs)
  await measure(server.address, cases, report)
  console.log(report.markdown(Number(options.worst)))
  const scans = options['no-plans'] ? 'not explained' : await describeScans(server.address, cases)
  const minutes = ((performance.now() - startedAt) / 60_000).toFixed(1)
  console.log(`\nSummary (${options.family}): ${report.summary()}; ${scans}; ${minutes} minutes`)
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
  return all.filter(
    ({ endpoint, filter, sort }) =>
      (options.sort === undefined || sort === options.sort) &&
      (options.only === undefined || endpoint.path === options.only) &&
      (options.filter === undefined || filter === options.filter),
  )
}

async function measure(
  address: DatabaseAddress,
  cases: readonly RequestCase[],
  report: Report,
): Promise<void> {
  const api = await startApiProcess(address, options.family)
  try {
    const { url } = api
    const base = new URL(url).pathname
    const client = await HttpClient.open(url)
    const meter = await openMeter(address, api.pid, async () => {
      await client.get(`${base}/v1/config`)
    })
    for (const request of cases) {
      await ask(client, base, request, report, meter)
      if (isDeep(request)) await ask(client, base, request, report, meter, { page: '1000' })
    }
    client.close()
  } finally {
    api.stop()
  }
}

/** The processor time of the api and of its one connection to the database; null for plain time. */
async function openMeter(
  address: DatabaseAddress,
  api: number,
  connect: () => Promise<void>,
): Promise<CpuMeter | null> {
  if (!options.cpu) return null
  await connect()
  const client = await connectDatabase(address, { applicationName: 'bench' })
  const { rows } = await client.query<{ pid: number }>(
    "SELECT pid FROM pg_stat_activity WHERE application_name = 'pronghorn-api'",
  )
  await client.end()
  return new CpuMeter([api, ...rows.map(({ pid }) => pid)])
}

/** Lists without a filter are also asked for a page far out. */
function isDeep({ endpoint, filter }: RequestCase): boolean {
  return (
    filter === '' &&
    endpoint.parameters.some(({ name }) => name === 'page') &&
    !endpoint.path.endsWith('/_count')
  )
}

async function ask(
  client: HttpClient,
  base: string,
  request: RequestCase,
  report: Report,
  meter: CpuMeter | null,
  extra: Readonly<Record<string, string>> = {},
): Promise<void> {
  const path = base + addressOf(request, extra)
  const times: number[] = []
  let status = 0
  const isDeep = extra.page !== undefined
  const isSlow = (): boolean => percentile(times, 0.95) > limitMs
  let spent = 0
  // The first answer fills the caches of the database.
  for (let round = 0; round <= rounds || (!isDeep && round <= MOST_ROUNDS && isSlow()); round++) {
    const before = meter?.read() ?? 0
    const answer = await client.get(path)
    status = answer.status
    if (round > 0) times.push(meter ? meter.read() - before : answer.ms)
    spent += answer.ms
    if (round > 0 && spent > MOST_TIME) break
  }
  report.add({ request, isDeep, status, times, path })
  if (isSlow()) console.error(`${percentile(times, 0.5).toFixed(0)} ms ${path}`)
}

/** Prints which requests read big tables, or big parts of them; tells how many do. */
async function describeScans(address: DatabaseAddress, cases: readonly RequestCase[]): Promise<string> {
  const client = await connectDatabase(address, { applicationName: 'bench' })
  const parts = await bigParts(client, BIG)
  let whole = 0
  let walks = 0
  for (const request of cases) {
    const { scans } = await scansOf(client, request, parts)
    for (const { table, read } of scans.filter((scan) => BIG.has(scan.table))) {
      if (read === undefined) whole++
      else walks++
      const what = read === undefined ? 'all' : `${Math.round(read)} rows or entries`
      console.log(`- ${addressOf(request)} reads ${what} of ${table}`)
    }
  }
  await client.end()
  return `${whole} sequential scans of big tables, ${walks} reads of big parts of them`
}
