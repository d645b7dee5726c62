/**
 * Measures every list, count and detail of the api on a generated database, with one client and without a cache. Usage:
 *   node dist/scripts/bench/api.js [--data FOLDER | --server ADDRESS] [--factor N] [--rounds N] [--family assets|market] [--only TEXT] [--filter NAME] [--sort NAME] [--no-plans] [--cpu]
 * ADDRESS is that of a running server's database, as JSON; otherwise a server is started, with its files in FOLDER.
 * Asks every endpoint with every sort, both orders, and every single filter, with values that find many rows, few rows
 * and none; first pages, and page 1,000. Prints, for every endpoint and sort, the filters that take longest (p50 and p95
 * in ms, over the rounds and values), marks what takes more than 50 ms, and names statements that would read a big
 * table from end to end.
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
import { addressOf, pickExamples, requestCases, scansOf } from './requests/index.ts'
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

const rounds = Number(options.rounds)
const server = await openGeneratedServer(options)
try {
  const cases = await chosenCases(server.address)
  console.error(`${cases.length} kinds of request`)
  const report = new Report()
  await measure(server.address, cases, report)
  console.log(report.markdown(Number(options.worst)))
  if (!options['no-plans']) console.log(await describeScans(server.address, cases))
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
  const api = await startApiProcess(address)
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
  // The first answer fills the caches of the database.
  for (let round = 0; round <= rounds; round++) {
    const before = meter?.read() ?? 0
    const answer = await client.get(path)
    status = answer.status
    if (round > 0) times.push(meter ? meter.read() - before : answer.ms)
  }
  report.add({ request, isDeep: extra.page !== undefined, status, times, path })
  if (percentile(times, 0.95) > 50) console.error(`${percentile(times, 0.5).toFixed(0)} ms ${path}`)
}

async function describeScans(address: DatabaseAddress, cases: readonly RequestCase[]): Promise<string> {
  const client = await connectDatabase(address, { applicationName: 'bench' })
  const lines: string[] = []
  for (const request of cases) {
    const { scans } = await scansOf(client, request)
    const big = scans.filter(({ table }) => BIG.has(table))
    for (const { table } of big) lines.push(`- ${addressOf(request)} reads all of ${table}`)
  }
  await client.end()
  return `\n${cases.length} requests explained; big tables read from end to end: ${lines.length === 0 ? 'none' : `\n${lines.join('\n')}`}`
}
