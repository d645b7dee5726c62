/**
 * The clients of a live data benchmark, as a separate process: minimal plain websockets.
 * Usage: live-clients.js URL COUNT MESSAGES plain|deflate
 * With `deflate` the clients accept compressed messages, as browsers do. The process sends to the benchmark:
 * - `{ ready }` when all clients have subscribed,
 * - `{ doneMs }` for each block of MESSAGES messages, when the last client has the last message,
 * - `{ cutMs }` when the server disconnects a further client, which never reads.
 */
import { once } from 'node:events'
import { connect } from 'node:net'
import type { Socket } from 'node:net'

/** Messages that the clients' process sends to the benchmark. */
export type ClientsMessage =
  | { readonly ready: number }
  | { readonly doneMs: number; readonly bytes: number }
  | { readonly cutMs: number }
  | { readonly lost: number }

const [url = '', count = '', messages = '', deflate = 'plain'] = process.argv.slice(2)
const { hostname, port, host } = new URL(url)
const perBlock = Number(messages)
/** Connections that are opened at the same time. */
const AT_ONCE = 50

/** Opcodes: the low four bits of a frame's first byte. */
const TEXT = 1
const PING = 9
/** Reply to an empty ping, masked with zeros. */
const PONG = Buffer.from([0x8a, 0x80, 0, 0, 0, 0])

/** Counts the frames of a subscribed connection. */
class FrameCounter {
  frames = 0
  bytes = 0
  #skip = 0
  #rest: Buffer | undefined

  /**
   * Counts the frames in a chunk.
   * @param answer called for each ping.
   */
  take(chunk: Buffer, answer: () => void): void {
    this.bytes += chunk.length
    let data = this.#rest ? Buffer.concat([this.#rest, chunk]) : chunk
    this.#rest = undefined
    for (;;) {
      if (this.#skip >= data.length) {
        this.#skip -= data.length
        return
      }
      data = data.subarray(this.#skip)
      this.#skip = 0
      const head = headOf(data)
      if (!head) {
        this.#rest = data
        return
      }
      if (head.opcode === TEXT) this.frames++
      if (head.opcode === PING) answer()
      this.#skip = head.length
    }
  }
}

/** Length of a frame with its header, and its opcode; undefined if the header is incomplete. */
function headOf(data: Buffer): { length: number; opcode: number } | undefined {
  if (data.length < 2) return undefined
  const opcode = data[0]! & 0x0f
  const short = data[1]! & 0x7f
  if (short < 126) return { length: 2 + short, opcode }
  if (short === 126) return data.length < 4 ? undefined : { length: 4 + data.readUInt16BE(2), opcode }
  return data.length < 10 ? undefined : { length: 10 + Number(data.readBigUInt64BE(2)), opcode }
}

/** Opens a websocket connection. Bytes after the handshake go to `hear`. */
async function open(hear: (chunk: Buffer) => void, deflates = deflate === 'deflate'): Promise<Socket> {
  const socket = connect(Number(port), hostname)
  await once(socket, 'connect')
  socket.write(
    `GET /assets/v1/live HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
      'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n' +
      (deflates ? 'Sec-WebSocket-Extensions: permessage-deflate\r\n\r\n' : '\r\n'),
  )
  await new Promise<void>((resolve, reject) => {
    socket.once('data', (answer: Buffer) => {
      const text = answer.toString('latin1')
      if (!text.startsWith('HTTP/1.1 101')) reject(new Error(text))
      const rest = answer.subarray(text.indexOf('\r\n\r\n') + 4)
      if (rest.length > 0) hear(rest)
      socket.on('data', hear)
      resolve()
    })
  })
  socket.write(maskedText('{"type":"subscribe","events":["asset_updated"]}'))
  return socket
}

/** A text frame of a client. Clients must mask; a mask of zeros leaves the text as it is. */
function maskedText(text: string): Buffer {
  const payload = Buffer.from(text)
  return Buffer.concat([Buffer.from([0x81, 0x80 | payload.length, 0, 0, 0, 0]), payload])
}

// The client that never reads accepts no compression, so that fewer blocks fill its buffer.
const stuck = await open(() => undefined, false)
stuck.pause()
// The stuck client only sends: a failed write shows that the server has closed the connection.
setInterval(() => stuck.write(PONG), 500).unref()
stuck.on('error', () => undefined)
stuck.once('close', () => say({ cutMs: performance.timeOrigin + performance.now() }))

const counters: FrameCounter[] = []
let blocks = 0
let waiting = Number(count)
for (let opened = 0; opened < Number(count); opened += AT_ONCE) {
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, Number(count) - opened) }, () => follow()))
}

async function follow(): Promise<void> {
  const counter = new FrameCounter()
  counters.push(counter)
  const socket = await open((chunk) => {
    // The first frame is the reply to the subscription; all others are events.
    const before = counter.frames
    counter.take(chunk, () => socket.write(PONG))
    const wanted = 1 + (blocks + 1) * perBlock
    if (before >= wanted || counter.frames < wanted || --waiting > 0) return
    blocks++
    waiting = counters.length
    const bytes = counters.reduce((sum, each) => sum + each.bytes, 0)
    say({ doneMs: performance.timeOrigin + performance.now(), bytes })
  })
  socket.on('error', () => undefined)
  socket.once('close', () => say({ lost: 1 }))
}

function say(message: ClientsMessage): void {
  process.send?.(message)
}

process.on('disconnect', () => process.exit(0))
say({ ready: counters.length })
