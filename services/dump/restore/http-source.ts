import { request as httpRequest } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { describeError, FatalError, RetryableError } from '../../core/errors/index.ts'
import { retry } from '../../core/retry/index.ts'
import type { DumpSource } from './dump-source.ts'

/** Limits of a download. */
export interface HttpLimits {
  /** A request fails if no byte arrives for this time, ms. */
  readonly idleMs: number
  readonly attempts: number
  readonly firstPauseMs: number
}

const defaultHttpLimits: HttpLimits = { idleMs: 30_000, attempts: 6, firstPauseMs: 500 }

const MOST_REDIRECTS = 5
const OK = 200
const PARTIAL_CONTENT = 206
/**
 * Lowest accepted transfer rate in bytes a second. A download may take its size divided by this rate, plus `GRACE_MS`.
 */
const LEAST_RATE = 2 ** 14
const GRACE_MS = 300_000
const redirects: readonly number[] = [301, 302, 303, 307, 308]
const absent: readonly number[] = [403, 404, 410]

/** Reads a dump from an HTTP server. A cut download continues with the next byte. */
export function openHttpSource(address: string, limits: HttpLimits = defaultHttpLimits): DumpSource {
  const base = new URL(address)
  if (!base.pathname.endsWith('/')) base.pathname += '/'
  const shown = new URL(base)
  shown.username = ''
  shown.password = ''
  shown.search = ''
  return {
    shown: shown.href,
    async read(name, maxBytes, signal) {
      const url = new URL(base)
      url.pathname += name
      const download = new Download(url, `${name} of ${shown.href}`, maxBytes)
      const limit = AbortSignal.timeout(GRACE_MS + Math.ceil((maxBytes / LEAST_RATE) * 1_000))
      return retry(() => download.attempt(limits, AbortSignal.any([signal, limit])), {
        firstMs: limits.firstPauseMs,
        attempts: limits.attempts,
        signal,
        mayPass: (error) => error instanceof RetryableError,
      })
    },
  }
}

/** The download of one file, over several connections if the server cuts them. */
class Download {
  readonly #url: URL
  readonly #shown: string
  readonly #maxBytes: number
  #parts: Buffer[] = []
  #bytes = 0

  constructor(url: URL, shown: string, maxBytes: number) {
    this.#url = url
    this.#shown = shown
    this.#maxBytes = maxBytes
  }

  /** Requests the file, and requests the rest of the file as long as each request brings more bytes. */
  async attempt(limits: HttpLimits, signal: AbortSignal): Promise<Buffer | undefined> {
    for (;;) {
      const before = this.#bytes
      try {
        return await this.#attempt(limits, signal)
      } catch (error) {
        if (error instanceof FatalError || error instanceof RetryableError) throw error
        if (this.#bytes > before && !signal.aborted) continue
        throw new RetryableError('DUMP_UNREACHABLE', `${this.#shown}: ${describeError(error)}`)
      }
    }
  }

  async #attempt({ idleMs }: HttpLimits, signal: AbortSignal): Promise<Buffer | undefined> {
    const answer = await this.#follow(idleMs, signal)
    try {
      const { statusCode = 0 } = answer
      if (absent.includes(statusCode)) return undefined
      if (statusCode !== PARTIAL_CONTENT || !this.#continues(answer)) this.#startOver()
      if (statusCode !== OK && this.#bytes === 0) throw new Error(`status ${statusCode}`)
      for await (const part of answer as AsyncIterable<Buffer>) {
        this.#bytes += part.length
        if (this.#bytes > this.#maxBytes)
          throw new FatalError('DUMP_DAMAGED', `${this.#shown} is longer than ${this.#maxBytes} bytes`)
        this.#parts.push(part)
      }
      if (!answer.complete) throw new Error('the connection was cut')
      return Buffer.concat(this.#parts)
    } finally {
      answer.destroy()
    }
  }

  /** Whether a partial response (206) starts at the next byte that this download needs. */
  #continues(answer: IncomingMessage): boolean {
    return answer.headers['content-range']?.startsWith(`bytes ${this.#bytes}-`) === true
  }

  #startOver(): void {
    this.#parts = []
    this.#bytes = 0
  }

  async #follow(idleMs: number, signal: AbortSignal): Promise<IncomingMessage> {
    let url = this.#url
    for (let followed = 0; ; followed++) {
      const answer = await this.#request(url, idleMs, signal)
      const { location } = answer.headers
      if (!redirects.includes(answer.statusCode ?? 0) || location === undefined) return answer
      answer.destroy()
      if (followed === MOST_REDIRECTS) throw new Error(`more than ${MOST_REDIRECTS} redirects`)
      const next = new URL(location, url)
      if (next.protocol !== 'https:' && next.protocol !== url.protocol)
        throw new Error(`a redirect from ${url.protocol} to ${next.protocol} is refused`)
      // A redirect to another host gets no credentials.
      if (next.host === url.host) [next.username, next.password] = [url.username, url.password]
      url = next
    }
  }

  #request(url: URL, idleMs: number, signal: AbortSignal): Promise<IncomingMessage> {
    const { username, password } = url
    const login = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
    const headers = {
      // The files are compressed and their checksums cover the served bytes, so the server must not compress again.
      'accept-encoding': 'identity',
      ...(username === '' ? {} : { authorization: `Basic ${Buffer.from(login).toString('base64')}` }),
      ...(this.#bytes === 0 ? {} : { range: `bytes=${this.#bytes}-` }),
    }
    const send = url.protocol === 'https:' ? httpsRequest : httpRequest
    return new Promise((resolve, reject) => {
      const request = send(url, { headers, signal, timeout: idleMs, auth: undefined }, resolve)
      request.on('timeout', () => request.destroy(new Error(`no byte in ${idleMs} ms`)))
      request.on('error', reject)
      request.end()
    })
  }
}
