/**
 * Measures resuming live clients on a generated database.
 * Usage: node dist/scripts/bench/live-herd.js [--data FOLDER] [--factor N] [--clients N] [--seconds N] [--events N]
 * [--slow N]
 * First a herd: all clients disconnect, blocks are produced for some time (two a second), and all clients reconnect at
 * once with their cursors. Prints the time until the last client has all missed events. Then slow clients from
 * different addresses: each reads all events of these blocks, uncompressed, at 128 KB a second. Prints how long fast
 * clients of other addresses wait for their first event and for all missed events.
 */
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { WebSocket } from 'ws'
import { generatedArguments } from './generated-server.ts'
import { measureLive } from './live-setting.ts'
import type { LiveSetting } from './live-setting.ts'
import { percentile } from './report.ts'

const { values: options } = parseArgs({
  options: {
    ...generatedArguments,
    factor: { type: 'string', default: '0.02' },
    clients: { type: 'string', default: '2000' },
    seconds: { type: 'string', default: '40' },
    events: { type: 'string', default: '50' },
    slow: { type: 'string', default: '20' },
  },
})

const BLOCKS_PER_SECOND = 2
/** Number of connections that are opened at the same time. */
const AT_ONCE = 200
/** Number of bytes that a slow client reads at a time, and interval between two reads. */
const SLOW_BYTES = 32 * 1024
const SLOW_EVERY_MS = 250
const QUICK_CLIENTS = 10

/** A subscribed client. */
interface Client {
  readonly socket: WebSocket
  cursor: string | undefined
  events: number
  firstEventMs: number | undefined
  /** Time at which the client had received all events, ms. */
  doneMs: number | undefined
}

await measureLive(options, Number(options.events), measure)

async function measure(setting: LiveSetting): Promise<void> {
  await setting.commit(1)
  const cursor = await herd(setting)
  await slowAddresses(setting.url, cursor)
}

/**
 * Disconnects all clients, commits blocks, reconnects all clients at once with their cursors, and prints the time until
 * the last client has every event.
 * @returns a cursor from before these blocks.
 */
async function herd({ url, assets, commit }: LiveSetting): Promise<string> {
  const count = Number(options.clients)
  // Each client subscribes to one asset, which every block updates.
  const subscriptionOf = (at: number): object => ({ assets: [assets[at % assets.length]] })
  const openAll = async (cursors: readonly (string | undefined)[]): Promise<Client[]> => {
    const clients: Client[] = []
    for (let opened = 0; opened < count; opened += AT_ONCE) {
      const places = Array.from({ length: Math.min(AT_ONCE, count - opened) }, (_, at) => opened + at)
      const group = places.map((at) =>
        open(url, `10.0.${at >> 8}.${at & 255}`, subscriptionOf(at), cursors[at]),
      )
      clients.push(...(await Promise.all(group)))
    }
    return clients
  }
  const before = await openAll([])
  while (before.some(({ cursor }) => cursor === undefined)) await sleep(10)
  const cursors = before.map(({ cursor }) => cursor)
  for (const { socket } of before) socket.terminate()
  const blocks = Number(options.seconds) * BLOCKS_PER_SECOND
  for (let block = 2; block < 2 + blocks; block++) {
    await commit(block)
    await sleep(1_000 / BLOCKS_PER_SECOND)
  }
  const startMs = performance.now()
  const clients = await openAll(cursors)
  const openedMs = performance.now()
  while (clients.some(({ doneMs }) => doneMs === undefined)) await sleep(10)
  const times = clients.map(({ doneMs }) => (doneMs! - startMs) / 1_000)
  const missing = clients.filter(({ events }) => events < blocks).length
  const extra = clients.filter(({ events }) => events > blocks).length
  console.log(
    `${count} clients were disconnected for ${options.seconds} s (${blocks} blocks of ${options.events} events) and reconnect at once. ` +
      `All are connected after ${((openedMs - startMs) / 1_000).toFixed(1)} s. ` +
      `All have the missed events after ${Math.max(...times).toFixed(1)} s (median ${percentile(times, 0.5).toFixed(1)} s). ` +
      `${missing} clients have too few events, ${extra} clients have too many.`,
  )
  for (const { socket } of clients) socket.terminate()
  return cursors[0]!
}

async function slowAddresses(url: string, cursor: string): Promise<void> {
  const slow = await Promise.all(
    Array.from({ length: Number(options.slow) }, (_, at) => open(url, `10.1.0.${at + 1}`, {}, cursor)),
  )
  const reading = slow.map(({ socket }) => readSlowly(socket))
  await sleep(2_000)
  const waits: number[] = []
  const whole: number[] = []
  for (let at = 0; at < QUICK_CLIENTS; at++) {
    const startMs = performance.now()
    const client = await open(url, `10.2.0.${at + 1}`, {}, cursor)
    while (client.doneMs === undefined) await sleep(5)
    waits.push(client.firstEventMs! - startMs)
    whole.push(client.doneMs - startMs)
    client.socket.terminate()
  }
  const cut = slow.filter(({ socket }) => socket.readyState === WebSocket.CLOSED).length
  console.log(
    `While clients of ${options.slow} addresses read slowly, a client of another address has the first missed event after at most ${Math.max(...waits).toFixed(0)} ms, ` +
      `and all missed events after at most ${Math.max(...whole).toFixed(0)} ms. ${cut} slow clients were cut off.`,
  )
  for (const timer of reading) clearInterval(timer)
  for (const { socket } of slow) socket.terminate()
}

function readSlowly(socket: WebSocket): NodeJS.Timeout {
  const tcp = (socket as unknown as { _socket: NodeJS.ReadableStream & { bytesRead: number } })._socket
  let allowed = 0
  tcp.on('data', () => {
    if (tcp.bytesRead > allowed) tcp.pause()
  })
  return setInterval(() => {
    allowed += SLOW_BYTES
    if (tcp.bytesRead <= allowed) tcp.resume()
  }, SLOW_EVERY_MS)
}

async function open(url: string, address: string, filters: object, cursor?: string): Promise<Client> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/assets/v1/live`, {
    headers: { 'X-Forwarded-For': address },
    perMessageDeflate: false,
  })
  const client: Client = { socket, cursor, events: 0, firstEventMs: undefined, doneMs: undefined }
  socket.on('message', (data: Buffer) => {
    const message = JSON.parse(data.toString()) as { type: string; cursor?: string }
    client.cursor = message.cursor ?? client.cursor
    if (message.type === 'event') {
      client.events++
      client.firstEventMs ??= performance.now()
    } else if (message.type === 'position') client.doneMs ??= performance.now()
  })
  socket.on('error', () => undefined)
  await once(socket, 'open')
  socket.send(JSON.stringify({ type: 'subscribe', ...filters, ...(cursor === undefined ? {} : { cursor }) }))
  return client
}
