import { RetryableError } from '../errors/index.ts'
import { readLimitedText } from '../http/client/index.ts'
import { retry } from '../retry/index.ts'
import { requestBelow, shownAddress } from './address.ts'
import { nodeFailure, requireSuccess, UnknownToNode } from './failure.ts'
import { BACKGROUND_BYTES, BACKGROUND_TIMEOUT_MS } from './limits.ts'

const patience = { attempts: 6, firstMs: 250, longestMs: 4_000 }

/** Client of a chain node's HTTP API. Limits the concurrent requests, and retries failed requests a few times. */
export class NodeClient {
  /** Address of the chain node for error messages, without secrets. */
  readonly label: string
  /** Number of requests that the chain node answered. */
  requests = 0
  readonly #address: string
  readonly #signal: AbortSignal
  readonly #waiting: (() => void)[] = []
  #free: number

  constructor(url: string, atOnce: number, signal: AbortSignal) {
    this.label = shownAddress(url)
    this.#address = url
    this.#free = atOnce
    this.#signal = signal
  }

  /**
   * Sends a request and returns the JSON object of the response.
   * @throws RetryableError `CHAIN_UNREACHABLE` after the last attempt.
   */
  async ask(path: string, body: object): Promise<Record<string, unknown>> {
    try {
      return await this.#askPatiently(path, body)
    } catch (cause) {
      if (!(cause instanceof UnknownToNode)) throw cause
      throw nodeFailure(cause, this.label, path)
    }
  }

  /** Like `ask`, for a request about an account; null if the account does not exist on the chain. */
  async askAccount(path: string, body: object): Promise<Record<string, unknown> | null> {
    try {
      return await this.#askPatiently(path, body)
    } catch (cause) {
      if (cause instanceof UnknownToNode) return null
      throw cause
    }
  }

  async #askPatiently(path: string, body: object): Promise<Record<string, unknown>> {
    await this.#enter()
    try {
      const answer = await retry(() => this.#post(path, body), {
        ...patience,
        signal: this.#signal,
        mayPass: (error) => !(error instanceof UnknownToNode),
      })
      this.requests++
      return answer
    } catch (cause) {
      if (cause instanceof UnknownToNode) throw cause
      if (this.#signal.aborted) throw new RetryableError('CHAIN_UNREACHABLE', 'stopped', { cause })
      throw nodeFailure(cause, this.label, path)
    } finally {
      this.#leave()
    }
  }

  async #post(path: string, body: object): Promise<Record<string, unknown>> {
    const { url, headers } = requestBelow(this.#address, path)
    const response = await fetch(url, {
      headers,
      method: 'POST',
      body: JSON.stringify(body),
      redirect: 'error',
      signal: AbortSignal.any([this.#signal, AbortSignal.timeout(BACKGROUND_TIMEOUT_MS)]),
    })
    const text = await readLimitedText(response, BACKGROUND_BYTES)
    requireSuccess(response, text)
    const answer: unknown = JSON.parse(text)
    if (typeof answer !== 'object' || answer === null) throw new Error('the answer is not an object')
    return answer as Record<string, unknown>
  }

  async #enter(): Promise<void> {
    if (this.#free > 0) this.#free--
    else await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }

  #leave(): void {
    const next = this.#waiting.shift()
    if (next) next()
    else this.#free++
  }
}
