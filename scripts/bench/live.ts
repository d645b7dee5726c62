/**
 * Measures live data under load on a generated database.
 * Usage: node dist/scripts/bench/live.js [--data FOLDER] [--factor N] [--clients N] [--events N] [--blocks N]
 * [--plain]
 * Clients accept compressed messages, as browsers do, or uncompressed messages (`--plain`). Prints:
 * - the time from the commit of a busy block until the last client has its last event,
 * - the times of REST requests, without and during busy blocks, and the ratio of these times,
 * - when the server disconnects a client that never reads.
 */
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { generatedArguments } from './generated-server.ts'
import { LoadGenerator } from './load.ts'
import type { ClientsMessage } from './live-clients.ts'
import { measureLive } from './live-setting.ts'
import type { LiveSetting } from './live-setting.ts'
import { percentile, PrintedTable } from './report.ts'

const { values: options } = parseArgs({
  options: {
    ...generatedArguments,
    factor: { type: 'string', default: '0.02' },
    clients: { type: 'string', default: '2000' },
    events: { type: 'string', default: '500' },
    blocks: { type: 'string', default: '18' },
    plain: { type: 'boolean', default: false },
  },
})

/** Pause between two busy blocks, and duration of the measurement without busy blocks, ms. */
const PAUSE_MS = 3_000
const QUIET_MS = 5_000
const PATIENCE_MS = 60_000
const REST_PATH = '/assets/v1/assets?limit=20'
const REST_PAUSE_MS = 10

await measureLive(options, Number(options.events), measure)

async function measure({ url, commit, start }: LiveSetting): Promise<void> {
  const heard = { done: [] as { doneMs: number; bytes: number }[], cutMs: NaN, lost: 0 }
  const clients = start('live-clients.js', [
    url,
    options.clients,
    options.events,
    options.plain ? 'plain' : 'deflate',
  ])
  clients.on('message', (message: ClientsMessage) => {
    if ('doneMs' in message) heard.done.push(message)
    if ('cutMs' in message) heard.cutMs = message.cutMs
    if ('lost' in message) heard.lost++
  })
  await once(clients, 'message')
  const rest = await LoadGenerator.open(url, 1)
  const quiet = await restTimes(rest, () => Promise.resolve(), QUIET_MS)
  const delays: number[] = []
  let busyStartMs = NaN
  const busy = await restTimes(rest, async () => {
    for (let block = 1; block <= Number(options.blocks); block++) {
      const committedMs = await commit(block)
      if (block === 1) busyStartMs = committedMs
      for (let waitedMs = 0; heard.done.length < block && waitedMs < PATIENCE_MS; waitedMs += 5)
        await sleep(5)
      const done = heard.done[block - 1]
      if (!done) throw new Error(`block ${block} has not reached every client within ${PATIENCE_MS} ms`)
      delays.push(done.doneMs - committedMs)
      await sleep(Math.max(0, PAUSE_MS - (performance.timeOrigin + performance.now() - committedMs)))
    }
  })
  rest.close()
  const perClient = heard.done.at(-1)!.bytes / Number(options.clients) / delays.length
  const ms = (value: number): string => value.toFixed(1)
  console.log(
    `${options.clients} clients, ${options.events} events in each block; each client receives ${(perClient / 1e6).toFixed(2)} MB for each block`,
  )
  const blocks = new PrintedTable(['Block', 'From the commit until the last client has the last event, ms'])
  delays.forEach((delay, at) => blocks.row([at + 1, delay.toFixed(0)]))
  console.log()
  const requests = new PrintedTable(['REST', 'p50 ms', 'p99 ms'])
  for (const [name, times] of [
    ['quiet', quiet],
    ['busy', busy],
  ] as const) {
    requests.row([name, ms(percentile(times, 0.5)), ms(percentile(times, 0.99))])
  }
  console.log(
    `p99 of REST requests during blocks with events: ${(percentile(busy, 0.99) / percentile(quiet, 0.99)).toFixed(2)} times the p99 without such blocks`,
  )
  const cut = Number.isNaN(heard.cutMs)
    ? 'was not cut off'
    : `was cut off ${((heard.cutMs - busyStartMs) / 1_000).toFixed(1)} s after the first block`
  console.log(`the client that reads nothing ${cut}; ${heard.lost} other clients lost the connection`)
}

/** Times of sequential REST requests, sent while `work` runs and for at least `atLeastMs`. */
async function restTimes(rest: LoadGenerator, work: () => Promise<void>, atLeastMs = 0): Promise<number[]> {
  const ending = new AbortController()
  const working = Promise.all([work(), sleep(atLeastMs)]).finally(() => ending.abort())
  const next = () => ({ path: REST_PATH })
  const load = await rest.run({ next, signal: ending.signal, restMs: () => REST_PAUSE_MS })
  await working
  return load.times()
}
