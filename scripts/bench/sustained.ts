/**
 * Measures an API under three times the rate that it can serve, from fifty addresses, of which one sends 80 %.
 * Usage: node dist/scripts/bench/sustained.js [--data FOLDER | --server ADDRESS] [--seed TEXT] [--factor NUMBER]
 * [--minutes 10] [--served REQUESTS_PER_SECOND] [--rate-limit REQUESTS_PER_ADDRESS_AND_MINUTE]
 * The rate that the API can serve is measured, or given by `--served`. In the first minute the other forty-nine
 * addresses send alone. Prints a line for each minute: percentiles and refusals of the forty-nine, answers of the busy
 * address, and the API's resident memory.
 */
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { startApiProcess } from './api-server.ts'
import { generatedArguments, openGeneratedServer } from './generated-server.ts'
import type { Load, LoadOptions } from './load.ts'
import { readOverloadLists, sendLoad, sendLoadApart } from './overload-lists.ts'
import type { LoadApart } from './overload-lists.ts'
import { percentile, PrintedTable } from './report.ts'

const { values: options } = parseArgs({
  options: {
    ...generatedArguments,
    factor: { type: 'string', default: '0.2' },
    minutes: { type: 'string', default: '10' },
    served: { type: 'string' },
    'rate-limit': { type: 'string' },
  },
})
/**
 * Number of clients that measure the rate that the API can serve. Each client sends a request when its previous request
 * has been answered.
 */
const WAITING_CLIENTS = 16
/**
 * Number of the first address in the measurement of the rate. The overload comes from other addresses, because each
 * address has its own rate limit.
 */
const WAITING_ADDRESSES = 10_000
const ADDRESSES = 50
const OVERLOAD_FACTOR = 3
const SHARE_OF_ONE = 0.8
/** Maximum number of concurrent requests of the busy address, and of all other addresses together. */
const MOST_OPEN = 300
const SERVED_SECONDS = 20
const MINUTE_SECONDS = 60

const server = await openGeneratedServer(options)
const requestsPerMinute = options['rate-limit'] === undefined ? undefined : Number(options['rate-limit'])
const api = await startApiProcess(server.address, 'assets,market', {}, { requestsPerMinute })
const lists = await readOverloadLists(server.address, api.url)
const send = (connections: number, load: LoadOptions): Promise<Load> => sendLoad(api.url, connections, load)

/** Resident memory of the API, MB. */
function residentMegabytes(): number {
  const found = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${api.pid}/status`, 'utf8'))
  return Math.round(Number(found?.[1]) / 1_024)
}

/** Counts of answers by status other than 200, as text. */
function othersOf(load: Load): string {
  const counts = new Map<number, number>()
  for (const { status } of load.answers) counts.set(status, (counts.get(status) ?? 0) + 1)
  counts.delete(200)
  return [...counts].map(([status, count]) => `${count} x ${status}`).join(', ') || 'none'
}

const cellsOf = (load: Load): string[] => {
  const times = load.times(200)
  return [
    String(times.length),
    percentile(times, 0.5).toFixed(1),
    percentile(times, 0.95).toFixed(1),
    othersOf(load),
  ]
}

/** Measures the requests a second that the API answers, after a warm-up of the same length. */
async function measureServed(): Promise<number> {
  const load = { next: lists.requests(WAITING_ADDRESSES, ADDRESSES), seconds: SERVED_SECONDS }
  await send(WAITING_CLIENTS, load)
  return (await send(WAITING_CLIENTS, load)).times(200).length / SERVED_SECONDS
}

try {
  const served = options.served === undefined ? await measureServed() : Number(options.served)
  const perSecond = OVERLOAD_FACTOR * served
  console.log(`\n${Math.round(perSecond)} requests a second; the API can serve ${Math.round(served)}\n`)
  const table = new PrintedTable([
    ...['Minute', 'Others: 200', 'p50 ms', 'p95 ms', 'Refused'],
    ...['Busy address: 200', 'p50 ms', 'p95 ms', 'Refused', 'Memory MB'],
  ])
  const others: LoadOptions = {
    next: lists.requests(ADDRESSES - 1, 1),
    perSecond: perSecond * (1 - SHARE_OF_ONE),
    seconds: MINUTE_SECONDS,
  }
  const next = lists.requests(1)
  const one: LoadApart = {
    ...{ url: api.url, connections: MOST_OPEN, requests: Array.from({ length: 10_000 }, next) },
    ...{ perSecond: perSecond * SHARE_OF_ONE, seconds: MINUTE_SECONDS },
  }
  table.row(['alone', ...cellsOf(await send(MOST_OPEN, others)), '', '', '', '', residentMegabytes()])
  for (let minute = 1; minute <= Number(options.minutes); minute++) {
    const [ofOthers, ofOne] = await Promise.all([send(MOST_OPEN, others), sendLoadApart(one)])
    table.row([minute, ...cellsOf(ofOthers), ...cellsOf(ofOne), residentMegabytes()])
  }
} finally {
  api.stop()
  await server.stop()
}
