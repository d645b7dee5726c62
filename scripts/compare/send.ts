import { Agent as PlainAgent, request as plainRequest } from 'node:http'
import { Agent as SecureAgent, request as secureRequest } from 'node:https'
import type { IncomingHttpHeaders } from 'node:http'
import type { SentRequest } from '../answers/index.ts'

/** A complete HTTP answer. */
export interface Received {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
}

/** Limit of an answer, bytes. */
const MAX_BYTES = 64 * 1024 * 1024

/** Sends requests over keep-alive connections. */
export class Sender {
  readonly #plain: PlainAgent
  readonly #secure: SecureAgent
  readonly #timeoutMs: number

  constructor({ timeoutMs, atOnce }: { readonly timeoutMs: number; readonly atOnce: number }) {
    this.#plain = new PlainAgent({ keepAlive: true, maxSockets: atOnce })
    this.#secure = new SecureAgent({ keepAlive: true, maxSockets: atOnce })
    this.#timeoutMs = timeoutMs
  }

  /** @throws Error if no complete answer arrives in time. */
  send({ method, url, headers = {}, body }: SentRequest): Promise<Received> {
    const isSecure = url.startsWith('https:')
    const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
    return new Promise((resolve, reject) => {
      const sent = (isSecure ? secureRequest : plainRequest)(
        url,
        {
          method,
          agent: isSecure ? this.#secure : this.#plain,
          headers: { ...headers, ...length },
          signal: AbortSignal.timeout(this.#timeoutMs),
        },
        (response) => {
          const chunks: Buffer[] = []
          let size = 0
          response.on('data', (chunk: Buffer) => {
            size += chunk.length
            if (size > MAX_BYTES) sent.destroy(new Error(`the answer is longer than ${MAX_BYTES} bytes`))
            else chunks.push(chunk)
          })
          response.on('error', reject)
          response.on('end', () => {
            resolve({
              status: response.statusCode ?? 0,
              headers: response.headers,
              text: Buffer.concat(chunks).toString(),
            })
          })
        },
      )
      sent.on('error', (error) => {
        const isLate = error.name === 'AbortError' || error.name === 'TimeoutError'
        reject(isLate ? new Error(`no answer within ${this.#timeoutMs} ms`) : error)
      })
      sent.end(body)
    })
  }

  close(): void {
    this.#plain.destroy()
    this.#secure.destroy()
  }
}
