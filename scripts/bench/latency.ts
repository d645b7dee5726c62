/**
 * Measures the latency from the node's frame of a block to its commit, and to the client's event.
 * Usage: node dist/scripts/bench/latency.js [--rates 2,50] [--seconds 60] [--clients 20] [--requests 200]
 * [--blocks 3000] [--publish FOLDER [--share 10] [--pairs 3]] [--json FILE]
 *
 * A generated chain produces blocks at each rate, first without requests, then with REST requests at a fixed rate. Each
 * request has another URL. Node, filler, API and clients are separate processes. Filler and API share a Redis
 * (`redis-server` must be on the PATH), as in the appliance. Prints p50 and p99 in ms: from the frame to the commit,
 * from the commit until the last client has its first event of the block, and the sum of both.
 *
 * With `--publish`, all rounds have requests. A round without and a round with `pronghorn publish` alternate, `--pairs`
 * times. During a round, the command writes the whole database into a new folder below FOLDER again and again.
 * `--share` is passed to the command. Prints the medians of p50 and p95 without and with the command, and the change.
 */
import { fork, spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { findFreePort } from '../../services/core/http/listener/index.ts'
import { createDevchain } from '../../services/devchain/index.ts'
import { startEmbeddedPostgres } from '../../services/standalone/index.ts'
import { CpuMeter } from './cpu-meter.ts'
import { createDatabase } from './databases.ts'
import { PublishLoop } from './latency/publish-loop.ts'
import { sharedNow } from './latency/messages.ts'
import type { ClientsMessage, FillerMessage, LatencySetting, WantedLoad } from './latency/messages.ts'
import { median, percentile, PrintedTable, storeFigures } from './report.ts'

const { values } = parseArgs({
  options: {
    rates: { type: 'string', default: '2,50' },
    seconds: { type: 'string', default: '60' },
    clients: { type: 'string', default: '20' },
    requests: { type: 'string', default: '200' },
    blocks: { type: 'string', default: '3000' },
    publish: { type: 'string' },
    share: { type: 'string', default: '10' },
    pairs: { type: 'string', default: '3' },
    json: { type: 'string' },
  },
})

/** Number of blocks before the measured blocks, and number of actions that users push in each block. */
const blocks = Number(values.blocks)
const ACTIONS = 4
const PATIENCE_MS = 120_000
const READER = 'latency'

/** Measured latencies for one block rate under one load, ms. */
interface Latencies {
  readonly blocksPerSecond: number
  readonly requestsPerSecond: number
  /** Runs of `pronghorn publish` that began in the round; null in a round without `pronghorn publish`. */
  readonly publications: number | null
  /** Processor time of the main thread of the API for each request, ms. */
  readonly apiCpuMs: number
  readonly toCommit: number[]
  readonly toEvent: number[]
  readonly toClient: number[]
  readonly rest: readonly number[]
  readonly failures: number
}

const processes: ChildProcess[] = []
const postgres = await startEmbeddedPostgres({ settings: { shared_buffers: '256MB' } })
const { host, port, user, password } = postgres
const database = await createDatabase({ host, port, user, password, database: 'postgres' }, 'latency')
const chain = createDevchain({ recordings: ['main'], blocks, rate: ACTIONS, libLagBlocks: 12 })
const { httpUrl, shipUrl } = await chain.start()
const redis = { host: '127.0.0.1', port: await findFreePort() }
const keyValueServer = spawn(
  'redis-server',
  ['--port', String(redis.port), '--bind', redis.host, '--save', '', '--appendonly', 'no'],
  { stdio: 'ignore' },
)

const framesMs = new Map<number, number>()
const commitsMs = new Map<number, number>()
const eventsMs = new Map<number, number>()
let restNow: Extract<ClientsMessage, { restMs: readonly number[] }> | undefined
try {
  const setting: LatencySetting = {
    ...{ database, redis, reader: READER },
    chain: { chainId: chain.chainId, http: httpUrl, ship: shipUrl },
  }
  const filler = start('filler-process', [JSON.stringify(setting)])
  let known = 0
  filler.on('message', ({ committed, atMs }: FillerMessage) => {
    while (known < committed) commitsMs.set(++known, atMs)
  })
  await waitFor(() => known >= chain.head().num)
  const api = start('api-process', [JSON.stringify(setting)])
  const [{ url }] = (await once(api, 'message')) as [{ url: string }]
  const clients = start('clients-process', [url, values.clients])
  clients.on('message', (message: ClientsMessage) => {
    if ('block' in message) eventsMs.set(message.block, message.atMs)
    if ('restMs' in message) restNow = message
  })
  await once(clients, 'message')
  const rounds: Latencies[] = []
  const requests = Number(values.requests)
  for (const rate of values.rates.split(',').map(Number)) {
    if (values.publish === undefined)
      for (const load of [0, requests]) rounds.push(await measure({ clients, api }, rate, load))
    else
      for (let pair = 0; pair < Number(values.pairs); pair++) {
        rounds.push(await measure({ clients, api }, rate, requests))
        const publishing = await PublishLoop.start(setting, values.publish, values.share)
        rounds.push(
          await measure({ clients, api }, rate, requests, publishing).finally(() => publishing.stop()),
        )
      }
  }
  print(rounds)
  if (values.publish !== undefined) printChange(rounds)
  await storeFigures(values.json, rounds.map(summaryOf))
} finally {
  for (const child of processes) if (child.connected) child.disconnect()
  for (const child of processes) if (child.exitCode === null) await once(child, 'exit')
  keyValueServer.kill()
  await chain.stop()
  await postgres.stop()
}

async function measure(
  { clients, api }: { readonly clients: ChildProcess; readonly api: ChildProcess },
  blocksPerSecond: number,
  requestsPerSecond: number,
  publishing?: PublishLoop,
): Promise<Latencies> {
  clients.send({ perSecond: requestsPerSecond } satisfies WantedLoad)
  // Warm-up, not measured: the processes compile their programs and prepare their statements.
  await produce(blocksPerSecond, 3)
  const first = chain.head().num + 1
  const begun = publishing?.begun ?? 0
  const meter = new CpuMeter([api.pid!])
  const cpuMs = meter.read()
  clients.send({ perSecond: requestsPerSecond } satisfies WantedLoad)
  await produce(blocksPerSecond, Number(values.seconds))
  const last = chain.head().num
  await waitFor(() => commitsMs.has(last))
  await delay(1_000)
  restNow = undefined
  clients.send({ perSecond: 0 } satisfies WantedLoad)
  await waitFor(() => restNow !== undefined)
  const result: Latencies = {
    publications: publishing === undefined ? null : publishing.begun - begun,
    apiCpuMs: (meter.read() - cpuMs) / restNow!.restMs.length,
    ...{ blocksPerSecond, requestsPerSecond, toCommit: [], toEvent: [], toClient: [] },
    ...{ rest: restNow!.restMs, failures: restNow!.failures },
  }
  for (let block = first; block <= last; block++) {
    const [frame, commit, event] = [framesMs, commitsMs, eventsMs].map((times) => times.get(block))
    result.toCommit.push(commit! - frame!)
    // A block may have no event.
    if (event === undefined) continue
    result.toEvent.push(event - commit!)
    result.toClient.push(event - frame!)
  }
  return result
}

/** Produces blocks at a rate. Each block is sent to the filler at once. */
async function produce(perSecond: number, seconds: number): Promise<void> {
  const startMs = sharedNow()
  for (let made = 0; made < perSecond * seconds; made++) {
    await delay(Math.max(0, startMs + (made * 1_000) / perSecond - sharedNow()))
    // Build the block before taking the time: the time that a real node needs to build a block does not count.
    chain.produceBlock()
    framesMs.set(chain.head().num, sharedNow())
  }
}

async function waitFor(isThere: () => boolean): Promise<void> {
  const untilMs = sharedNow() + PATIENCE_MS
  while (!isThere()) {
    if (sharedNow() > untilMs)
      throw new Error(`the expected block or event did not arrive within ${PATIENCE_MS} ms`)
    await delay(10)
  }
}

function summaryOf({ toCommit, toEvent, toClient, rest, failures, ...round }: Latencies) {
  const of = (times: readonly number[]) => ({
    p50: Number(percentile(times, 0.5).toFixed(1)),
    p95: Number(percentile(times, 0.95).toFixed(1)),
    p99: Number(percentile(times, 0.99).toFixed(1)),
  })
  return {
    ...{ ...round, blocks: toCommit.length, withEvents: toClient.length, requests: rest.length, failures },
    ...{ toCommit: of(toCommit), toEvent: of(toEvent), toClient: of(toClient), rest: of(rest) },
  }
}

function print(rounds: readonly Latencies[]): void {
  const times = [
    'From the node sending a block until its commit: p50, p99 ms',
    'From the commit until the client receives the event: p50, p99 ms',
    'From the node sending a block until the client receives the event: p50, p99 ms',
    'REST requests: p50, p99 ms',
  ]
  const isPublishing = values.publish !== undefined
  const table = new PrintedTable([
    ...['Blocks/s', 'Requests/s', 'Blocks', ...times],
    ...(isPublishing ? ['Publications', 'API CPU ms/request'] : []),
  ])
  for (const round of rounds) {
    const { toCommit, toEvent, toClient, rest, ...of } = summaryOf(round)
    const pair = ({ p50, p99 }: { p50: number; p99: number }): string => `${p50}, ${p99}`
    const requests = of.requests === 0 ? '' : `${pair(rest)}${of.failures ? ` (${of.failures} failed)` : ''}`
    const blocks = `${of.blocks} (${of.withEvents} with events)`
    const delays = [toCommit, toEvent, toClient].map(pair)
    const publishing = [of.publications ?? 'none', of.apiCpuMs.toFixed(2)]
    table.row([
      ...[of.blocksPerSecond, of.requestsPerSecond, blocks, ...delays, requests],
      ...(isPublishing ? publishing : []),
    ])
  }
}

/** Prints the medians of p50 and p95 of the rounds without and with `pronghorn publish`, and the change. */
function printChange(rounds: readonly Latencies[]): void {
  const all = rounds.map(summaryOf)
  const table = new PrintedTable(['', 'without', 'with publications', 'change'])
  const rows: readonly (readonly [string, (round: (typeof all)[number]) => number])[] = [
    ['from the node sending a block until its commit, p50 ms', ({ toCommit }) => toCommit.p50],
    ['from the node sending a block until its commit, p95 ms', ({ toCommit }) => toCommit.p95],
    ['REST, p50 ms', ({ rest }) => rest.p50],
    ['REST, p95 ms', ({ rest }) => rest.p95],
    ['API CPU, ms a request', ({ apiCpuMs }) => apiCpuMs],
  ]
  for (const [name, of] of rows) {
    const medianOf = (isWanted: boolean) =>
      median(all.filter(({ publications }) => (publications === null) === isWanted).map(of))
    const [without, beside] = [medianOf(true), medianOf(false)]
    table.row([name, without.toFixed(2), beside.toFixed(2), `${((beside / without - 1) * 100).toFixed(1)} %`])
  }
}

function start(file: string, args: readonly string[]): ChildProcess {
  const path = import.meta.filename.replace(/latency\.(js|ts)$/, `latency/${file}.$1`)
  const child = fork(path, [...args], { serialization: 'advanced' })
  processes.push(child)
  return child
}
