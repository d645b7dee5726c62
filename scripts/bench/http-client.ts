/** A minimal HTTP client that uses little processor time, so that benchmarks measure the server, not the client. */
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { once } from 'node:events'

/** Status, time and size of an answer. */
export interface MeasuredAnswer {
  readonly status: number
  readonly bytes: number
  readonly ms: number
  /** Whether the answer has a `Retry-After` header. */
  readonly isRetryNamed: boolean
}

type Answer = Omit<MeasuredAnswer, 'ms'>

const HEAD_END = Buffer.from('\r\n\r\n')
/** End of a chunked body. JSON texts of the API contain no line breaks, so only the end of a body has these bytes. */
const CHUNKS_END = Buffer.from('\r\n0\r\n\r\n')

/** A keep-alive connection with one request at a time. */
export class HttpClient {
  readonly #socket: Socket
  readonly #host: string
  #received: Buffer[] = []
  #length = 0
  #expected = 0
  #status = 0
  #isRetryNamed = false
  #done: ((answer: Answer) => void) | null = null
  #fail: ((error: Error) => void) | null = null

  private constructor(socket: Socket, host: string) {
    this.#socket = socket
    this.#host = host
    socket.setNoDelay(true)
    socket.on('data', (chunk: Buffer) => {
      this.#take(chunk)
    })
    socket.on('error', (error) => this.#fail?.(error))
    socket.on('close', () => this.#fail?.(new Error('the server closed the connection instead of answering')))
  }

  static async open(url: string): Promise<HttpClient> {
    const { hostname, port, host } = new URL(url)
    const socket = connect(Number(port), hostname)
    await once(socket, 'connect')
    return new HttpClient(socket, host)
  }

  /**
   * Sends a GET request without `Accept-Encoding`.
   * @throws Error if the connection breaks before the answer is complete.
   */
  async get(path: string, headers: readonly string[] = []): Promise<MeasuredAnswer> {
    if (this.#socket.destroyed || this.#socket.readableEnded)
      throw new Error('the server has closed the connection')
    const started = performance.now()
    const answer = new Promise<Answer>((resolve, reject) => {
      this.#done = resolve
      this.#fail = reject
    })
    const lines = headers.length === 0 ? '' : `${headers.join('\r\n')}\r\n`
    this.#socket.write(`GET ${path} HTTP/1.1\r\nHost: ${this.#host}\r\n${lines}\r\n`)
    return { ...(await answer), ms: performance.now() - started }
  }

  close(): void {
    this.#socket.destroy()
  }

  #take(chunk: Buffer): void {
    this.#length += chunk.length
    if (this.#expected === 0) {
      this.#received.push(chunk)
      this.#readHead()
    } else if (this.#expected === Infinity) this.#received = [this.#lastBytes(), chunk]
    if (this.#expected === Infinity && this.#lastBytes().equals(CHUNKS_END)) this.#expected = this.#length
    if (this.#expected === 0 || this.#length < this.#expected) return
    const answer = { status: this.#status, bytes: this.#length, isRetryNamed: this.#isRetryNamed }
    this.#received = []
    this.#length = this.#expected = 0
    this.#done?.(answer)
  }

  /** The last received bytes, as many as the end of a chunked body has. */
  #lastBytes(): Buffer {
    return Buffer.concat(this.#received).subarray(-CHUNKS_END.length)
  }

  /** Parses the response head. Without `Content-Length` the body is chunked: the API streams its largest answers. */
  #readHead(): void {
    const data = Buffer.concat(this.#received)
    const end = data.indexOf(HEAD_END)
    if (end < 0) return
    const head = data.subarray(0, end).toString('latin1')
    this.#status = Number(head.slice(9, 12))
    this.#isRetryNamed = this.#status === 503 && /\nretry-after:/i.test(head)
    const body = /transfer-encoding: chunked/i.test(head)
      ? Infinity
      : Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0)
    this.#expected = end + HEAD_END.length + body
  }
}
