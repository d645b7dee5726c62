/**
 * Measures user traffic: kinds of request with two to five filters, as marketplaces, wallets and games send them, on a
 * generated database with one client.
 * Usage: node dist/scripts/bench/traffic.js [--data FOLDER | --server ADDRESS] [--factor N] [--samples N] [--only
 * NAME] [--values SEED] [--scans] [--memory SHARE] [--json FILE] [--env NAME=VALUE]
 * - --values picks other rows.
 * - --only measures the kinds whose name contains a text.
 * - --env sets an environment variable of the API.
 * - --json writes the results to a file.
 * - --scans adds for each index: its scans by kind of request, and its size divided by the rows of the table.
 * - --memory limits the memory of the server of --data, page cache included, to a share of the database (needs root).
 *   The run then begins with an empty page cache, and counts the pages that a request reads from the disk.
 *
 * Values come from randomly picked assets, sales, transfers and offers, so they are as frequent as in the database. The
 * database gets two commits a second. The first request of a kind does not count.
 *
 * Prints for each kind: p50, p95 and maximum in ms; the statuses; the same figures for the processor time of the API
 * and its database sessions, which is more reliable on a busy machine. A summary follows.
 */
import { parseArgs } from 'node:util'
import { connectDatabase } from '../../services/core/database/index.ts'
import { startApiProcess } from './api-server.ts'
import { startCommits } from './commits.ts'
import { Random } from './generated/choice.ts'
import { CpuMeter, sessionProcesses } from './cpu-meter.ts'
import { generatedArguments, openGeneratedServer } from './generated-server.ts'
import { HttpClient } from './http-client.ts'
import { openLimitedServer } from './memory-limit.ts'
import type { LimitedServer } from './memory-limit.ts'
import { PrintedTable, storeFigures } from './report.ts'
import { environmentOf } from './server-process.ts'
import type { ServerProcess } from './server-process.ts'
import {
  IndexScans,
  resultOf,
  summaryOf,
  cellsOf,
  resultHead,
  trafficKinds,
  TrafficRows,
} from './traffic/index.ts'
import type { IndexUse, KindResult, Sample, TrafficKind } from './traffic/index.ts'

const { values: options } = parseArgs({
  options: {
    ...generatedArguments,
    samples: { type: 'string', default: '60' },
    values: { type: 'string', default: 'traffic' },
    only: { type: 'string' },
    scans: { type: 'boolean', default: false },
    memory: { type: 'string' },
    json: { type: 'string' },
    env: { type: 'string', multiple: true, default: [] },
  },
})

/** Number of concurrent requests that use every database session of the API. */
const SESSIONS = 12

const { only } = options
const kinds = trafficKinds.filter(({ name }) => only === undefined || name.includes(only))
if (kinds.length === 0) throw new Error(`no kind of request has ${only ?? ''} in its name`)
const limited: LimitedServer | undefined =
  options.memory === undefined ? undefined : await openLimitedServer(options, Number(options.memory))
const server = limited ?? (await openGeneratedServer(options))
const database = await connectDatabase(server.address, { applicationName: 'bench' })
try {
  const addresses = await pickAddresses()
  const api = await startApiProcess(server.address, 'assets,market', environmentOf(options.env))
  try {
    const { results, indexes } = await measure(api, addresses)
    console.log(`\n${summaryOf(results)}`)
    for (const { name, failed } of results) {
      if (failed) console.log(`- ${name}: status ${failed.status}: ${failed.address}`)
    }
    if (indexes) console.log(describeIndexes(indexes))
    const { factor, samples } = options
    const memory = limited && { memory: Number(options.memory), memoryBytes: limited.memoryBytes }
    await storeFigures(options.json, { factor, samples, ...memory, kinds: results, indexes })
  } finally {
    api.stop()
  }
} finally {
  await database.end()
  await server.stop()
}

/** Picks the URLs of all requests before the measurement, because the queries that pick values scan indexes, too. */
async function pickAddresses(): Promise<Addresses> {
  const picked = new Map<TrafficKind, readonly string[]>()
  for (const kind of kinds) {
    // One random generator for each kind of request: picked rows do not depend on which other kinds are measured.
    const rows = await TrafficRows.open(database, new Random(`${options.values} ${kind.name}`))
    const addresses: string[] = []
    for (let index = 0; index <= Number(options.samples); index++) {
      addresses.push(await kind.address(rows, index))
    }
    picked.set(kind, addresses)
  }
  return picked
}

async function measure(
  { url, pid }: ServerProcess,
  addresses: Addresses,
): Promise<{ results: KindResult[]; indexes: IndexUse[] | undefined }> {
  let client = await HttpClient.open(url)
  // If a query fails after the beginning of the answer has been sent, the API closes the connection: the status is then
  // 0.
  const get = async (address: string): Promise<Pick<Sample, 'status' | 'bytes' | 'ms'>> => {
    const started = performance.now()
    try {
      return await client.get(address)
    } catch {
      client = await HttpClient.open(url)
      return { status: 0, bytes: 0, ms: performance.now() - started }
    }
  }
  const ask: Ask = async (address, meter) => {
    const before = meter.read()
    const readBefore = limited?.pagesRead() ?? 0
    const answer = await get(address)
    const pagesRead = limited && { pagesRead: limited.pagesRead() - readBefore }
    return { address, ...answer, workMs: meter.read() - before, ...pagesRead }
  }
  const startMeter = async (): Promise<CpuMeter> =>
    new CpuMeter([pid, ...(await sessionProcesses(database, pid))])
  const scans = options.scans ? new IndexScans(database, () => useEverySession(url)) : undefined
  await scans?.begin()
  const table = new PrintedTable(resultHead)
  const stopCommits = await startCommits(server.address)
  const results: KindResult[] = []
  const order = limited ? inTurns : kindByKind
  try {
    for await (const [{ name }, samples] of order(addresses, ask, startMeter)) {
      const result = resultOf(name, samples)
      results.push(result)
      table.row(cellsOf(result))
      await scans?.take(name)
    }
  } finally {
    await stopCommits()
  }
  client.close()
  return { results, indexes: await scans?.list() }
}

type Ask = (address: string, meter: CpuMeter) => Promise<Sample>
type Addresses = ReadonlyMap<TrafficKind, readonly string[]>
type Samples = AsyncGenerator<[TrafficKind, Sample[]]>

/** Sends all requests of a kind, then all requests of the next kind. The first request of each kind does not count. */
async function* kindByKind(addresses: Addresses, ask: Ask, startMeter: () => Promise<CpuMeter>): Samples {
  for (const [kind, [warming, ...rest]] of addresses) {
    if (warming !== undefined) await ask(warming, await startMeter())
    const meter = await startMeter()
    const samples: Sample[] = []
    for (const address of rest) samples.push(await ask(address, meter))
    yield [kind, samples]
  }
}

/**
 * Sends requests of all kinds in turns, so that the kinds of request compete for the memory. The first half of the
 * requests fills the memory and does not count.
 */
async function* inTurns(addresses: Addresses, ask: Ask, startMeter: () => Promise<CpuMeter>): Samples {
  const samples = new Map([...addresses.keys()].map((kind): [TrafficKind, Sample[]] => [kind, []]))
  const rounds = Number(options.samples)
  for (let round = 0; round < rounds; round++) {
    const meter = await startMeter()
    for (const [kind, ofKind] of addresses) samples.get(kind)!.push(await ask(ofKind[round]!, meter))
  }
  for (const [kind, all] of samples) yield [kind, all.slice(Math.floor(rounds / 2))]
}

async function useEverySession(url: string): Promise<void> {
  const clients = await Promise.all(Array.from({ length: SESSIONS }, () => HttpClient.open(url)))
  // Distinct URLs: concurrent requests for the same URL would share one query.
  await Promise.all(clients.map((client, at) => client.get(`/assets/v1/assets/${at + 1}`)))
  for (const client of clients) client.close()
}

function describeIndexes(indexes: readonly IndexUse[]): string {
  const unused = indexes.filter(({ scans, isKey }) => scans === 0 && !isKey)
  return [
    `\n${indexes.length} indexes; ${unused.length} that serve no constraint were not scanned:`,
    ...unused.map(({ name, bytesPerRow }) => `- ${name}, ${bytesPerRow} bytes a row`),
  ].join('\n')
}
