import type { Duplex } from 'node:stream'
import type { WebSocket } from 'ws'
import type { Connection } from './client.ts'
import type { Format, LiveErrorCode } from './outgoing.ts'

/** A client that was sent an error is disconnected after this time, ms. */
const LAST_WORDS_MS = 3_000
/** Sending to a resuming client pauses while more than this number of bytes are unread. */
const SMALL_BACKLOG_BYTES = 256 * 1024

/** Websocket close codes (RFC 6455) by error code. Other errors close the connection with POLICY_VIOLATION. */
const closeCodes: Readonly<Partial<Record<LiveErrorCode, number>>> = { STOPPING: 1001, UNAVAILABLE: 1013 }
const POLICY_VIOLATION = 1008
/** Maximum length of the reason in a close frame, bytes. */
const MAX_REASON_BYTES = 123

/**
 * Writes whole frames to the socket of a websocket, so that a message for thousands of clients is framed once. The
 * `WebSocket` object of the connection writes only control frames, such as pings.
 */
export class WebsocketConnection implements Connection {
  readonly transport = 'websocket'
  readonly format: Format
  readonly #websocket: WebSocket
  readonly #socket: Duplex
  #isEnding = false

  constructor(websocket: WebSocket, socket: Duplex) {
    this.#websocket = websocket
    this.format = websocket.extensions === '' ? 'websocket' : 'deflated websocket'
    this.#socket = socket
  }

  get isOpen(): boolean {
    return !this.#isEnding && this.#websocket.readyState === this.#websocket.OPEN
  }

  get waitingBytes(): number {
    return this.#socket.writableLength
  }

  write(bytes: Buffer): void {
    this.#socket.write(bytes)
  }

  drained(): Promise<void> {
    return whenDrained(this.#socket)
  }

  end(code: LiveErrorCode, reason: string): void {
    if (this.#isEnding) return
    this.#isEnding = true
    const text = Buffer.from(`${code}: ${reason}`).subarray(0, MAX_REASON_BYTES)
    this.#websocket.close(closeCodes[code] ?? POLICY_VIOLATION, text)
    setTimeout(() => this.#websocket.terminate(), LAST_WORDS_MS).unref()
  }
}

/** Resolves when few bytes are buffered in a stream, or when the stream is closed. */
export function whenDrained(stream: {
  readonly writableLength: number
  readonly writable: boolean
  once(event: string, listener: () => void): unknown
  off(event: string, listener: () => void): unknown
}): Promise<void> {
  if (stream.writableLength <= SMALL_BACKLOG_BYTES || !stream.writable) return Promise.resolve()
  return new Promise((resolve) => {
    const done = (): void => {
      for (const event of ['drain', 'close', 'error']) stream.off(event, done)
      resolve()
    }
    for (const event of ['drain', 'close', 'error']) stream.once(event, done)
  })
}
