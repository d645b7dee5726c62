/**
 * Measures an API under overload.
 * Usage: node dist/scripts/bench/overload.js [--data FOLDER | --server ADDRESS] [--seed TEXT] [--factor NUMBER]
 * [--seconds 10]
 * 1. Brief requests (`/v1/config`, `/v1/assets/:asset_id`) alone, and while fifty clients request slow lists.
 * 2. Lists at half the greatest rate, at the greatest rate, and at twice that rate. Each request comes from one of
 * forty clients, at its scheduled time, whether or not earlier requests have been answered.
 * Prints one line for each measurement.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { startApiProcess } from './api-server.ts'
import { generatedArguments, openGeneratedServer } from './generated-server.ts'
import type { Load, LoadOptions, LoadRequest } from './load.ts'
import { pick, readOverloadLists, requestOf, sendLoad } from './overload-lists.ts'
import { percentile, PrintedTable } from './report.ts'

const { values: options } = parseArgs({
  options: {
    ...generatedArguments,
    factor: { type: 'string', default: '0.2' },
    seconds: { type: 'string', default: '10' },
  },
})
const SLOW_CLIENTS = 50
const CLIENTS = 40
/**
 * Number of clients that measure the greatest rate. Each client sends a request when its previous request has been
 * answered.
 */
const WAITING_CLIENTS = 16
const seconds = Number(options.seconds)

/** Number of connections for brief requests, and the pause of a connection after an answer, ms. */
const BRIEF = 4
const BRIEF_REST_MS = 20
/** Pause of a client after a refused request, ms. */
const REFUSED_REST_MS = 200
/** Limit of concurrent requests. */
const MOST_OPEN = 500

function cellsOf(load: Load): string[] {
  const counts = new Map<number, number>()
  for (const { status } of load.answers) counts.set(status, (counts.get(status) ?? 0) + 1)
  const statuses = [...counts].map(([status, count]) => `${count} x ${status}`).join(', ')
  const silent = load.answers.filter(({ status, isRetryNamed }) => status === 503 && !isRetryNamed).length
  const shown = silent > 0 ? `${statuses}, ${silent} without Retry-After` : statuses
  const times = load.times(200)
  return [percentile(times, 0.5).toFixed(1), percentile(times, 0.99).toFixed(1), shown]
}

const server = await openGeneratedServer(options)
const api = await startApiProcess(server.address, 'assets,market')
const lists = await readOverloadLists(server.address, api.url)

const send = (connections: number, load: LoadOptions): Promise<Load> => sendLoad(api.url, connections, load)

async function measureBrief(label: string): Promise<Map<string, Load>> {
  let sent = 0
  const nexts: Readonly<Record<string, () => LoadRequest>> = {
    '/v1/config': () => requestOf(`${api.url}/v1/config`, 1_000 + (sent++ % BRIEF)),
    '/v1/assets/:asset_id': () =>
      requestOf(`${api.url}/v1/assets/${pick(lists.assets, sent++)}`, 1_000 + (sent % BRIEF)),
  }
  const options = { seconds, restMs: () => BRIEF_REST_MS }
  const loads = new Map(
    await Promise.all(
      Object.entries(nexts).map(
        async ([name, next]) => [name, await send(BRIEF, { ...options, next })] as const,
      ),
    ),
  )
  for (const [name, load] of loads) table.row([`${name}, ${label}`, ...cellsOf(load)])
  return loads
}

/**
 * Sends slow list requests: far pages of a sort, for which the API cannot seek. Each takes most of a second of
 * processor time.
 */
function askSlowly(signal: AbortSignal): Promise<Load> {
  let sent = 0
  const next = () => {
    const at = sent++
    const page = `limit=${50 + (Math.floor(at / 100) % 50)}&page=${900 + (at % 100)}`
    return requestOf(`${api.url}/v1/assets?sort=name&${page}`, 2_000 + (at % SLOW_CLIENTS))
  }
  const restMs = ({ status }: { status: number }) => (status === 200 ? 0 : REFUSED_REST_MS)
  return send(SLOW_CLIENTS, { next, signal, restMs })
}

const table = new PrintedTable(['Requests', 'p50 ms', 'p99 ms', 'Answers'])
try {
  const quiet = await measureBrief('alone')
  const stop = new AbortController()
  const slow = askSlowly(stop.signal)
  await sleep(1_000)
  const loaded = await measureBrief(`with ${SLOW_CLIENTS} slow clients`)
  stop.abort()
  table.row(['slow lists', ...cellsOf(await slow)])
  const reached = await send(WAITING_CLIENTS, { next: lists.requests(WAITING_CLIENTS), seconds })
  const rate = reached.times(200).length / seconds
  for (const [name, part] of [
    ['half', 0.5],
    ['all', 1],
    ['twice', 2],
  ] as const) {
    const load = await send(MOST_OPEN, { next: lists.requests(CLIENTS), perSecond: rate * part, seconds })
    table.row([`lists, ${name} of ${Math.round(rate)} a second`, ...cellsOf(load)])
  }
  console.log()
  for (const [name, load] of loaded) {
    const factor = percentile(load.times(200), 0.99) / percentile(quiet.get(name)!.times(200), 0.99)
    console.log(
      `p99 of ${name} while slow clients send requests: ${factor.toFixed(1)} times the p99 without slow clients`,
    )
  }
} finally {
  api.stop()
  await server.stop()
}
