import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'

/** Requests of one connection that are in progress at once; the bytes behind them stay in the socket. */
export const MAX_IN_PROGRESS = 8

const HEADERS_END = '\r\n\r\n'
/** Characters of the end of headers that may stand in an earlier read. */
const SEAM = HEADERS_END.length - 1

/** What bounds the requests of the connections of a server. */
export interface PipeliningLimit {
  /** Leaves a connection alone: it carries another protocol from now on. */
  release(socket: Duplex): void
}

/**
 * Bounds the requests of each connection of a server that are in progress.
 * @param isDirect whether Node's parser may read a connection until it carries a request before the last is answered.
 *   That is 20 us of processor time less for a request (an answer from the cache takes 60), for clients that are known to
 *   send one request at a time, such as the proxy.
 */
export function limitPipelining(server: Server, isDirect: (socket: Socket) => boolean): PipeliningLimit {
  const connections = new WeakMap<Duplex, Pipeline>()
  server.on('connection', (socket: Socket) => {
    const pipeline = new Pipeline(socket)
    connections.set(socket, pipeline)
    if (!isDirect(socket)) pipeline.gate()
  })
  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    connections.get(socket)?.started(response)
  })
  return { release: (socket) => connections.get(socket)?.release() }
}

/**
 * The requests of one connection. Node's parser takes everything that a socket delivers: 64 KB of small requests start two
 * thousand of them in one turn of the event loop. Behind the gate it gets the bytes up to the end of one request's
 * headers at a time. While too many requests are in progress the rest goes back into the socket, which is not read; it is
 * read again in a later turn, so that other connections have theirs.
 */
class Pipeline {
  readonly #socket: Socket
  /** Gives bytes to the parser; undefined while the parser reads the socket itself. */
  #parse: ((bytes: Buffer) => void) | undefined
  #inProgress = 0
  #isHeld = false
  #isReleased = false
  /** The last three characters that the parser got: the end of headers may be split between two reads. */
  #tail = ''

  constructor(socket: Socket) {
    this.#socket = socket
  }

  started(response: ServerResponse): void {
    response.once('close', this.#ended)
    if (++this.#inProgress > 1) this.gate()
  }

  /** Reads the socket from now on, in place of the parser. */
  gate(): void {
    if (this.#parse || this.#isReleased) return
    // The only listener of such a socket is that of its parser.
    const [parse] = this.#socket.listeners('data')
    this.#parse = parse as (bytes: Buffer) => void
    this.#socket.off('data', this.#parse)
    // A listener that is not its own ends the parser's direct reading.
    this.#socket.on('data', this.#take)
  }

  release(): void {
    this.#isReleased = true
    this.#socket.off('data', this.#take)
  }

  readonly #ended = (): void => {
    this.#inProgress--
    if (this.#isHeld && this.#inProgress === MAX_IN_PROGRESS - 1) setImmediate(this.#resume)
  }

  readonly #take = (bytes: Buffer): void => {
    let start = 0
    while (start < bytes.length) {
      this.#isHeld ||= this.#inProgress >= MAX_IN_PROGRESS
      // Node resumes the socket by itself after each answer.
      if (this.#isHeld) this.#socket.pause()
      if (this.#isHeld || this.#isReleased) {
        this.#socket.unshift(bytes.subarray(start))
        return
      }
      const end = this.#headersEnd(bytes, start)
      const part = bytes.subarray(start, end)
      start = end
      this.#tail = (this.#tail + part.toString('latin1', Math.max(0, part.length - SEAM))).slice(-SEAM)
      this.#parse?.call(this.#socket, part)
    }
  }

  readonly #resume = (): void => {
    this.#isHeld = false
    this.#socket.resume()
  }

  /** Where the first headers end, or the bytes. */
  #headersEnd(bytes: Buffer, start: number): number {
    const seam = (this.#tail + bytes.toString('latin1', start, start + SEAM)).indexOf(HEADERS_END)
    if (seam >= 0) return start + seam + HEADERS_END.length - this.#tail.length
    const end = bytes.indexOf(HEADERS_END, start, 'latin1')
    return end < 0 ? bytes.length : end + HEADERS_END.length
  }
}
