import type { IncomingMessage, ServerResponse } from 'node:http'
import { secondsText } from '../limits/index.ts'
import type { Limit } from '../limits/index.ts'
import { ByteBudget, SHARE_OF_ONE } from './limits/index.ts'
import { onceClosed } from './listener/index.ts'
import { RequestError } from './request-error.ts'

/** Byte limits of responses. The keys are the settings below `limits` in server.config.json. */
export interface AnswerLimits {
  readonly answer_bytes: number
  readonly answers_bytes: number
}

/** Client whose share of the byte budget the response uses. */
export interface AnswerClient {
  readonly key: string
  /** Whether the client is exempt from limits. */
  readonly isExempt: boolean
}

/** An HTTP request with its response. */
export interface AnswerExchange {
  readonly req: IncomingMessage
  readonly res: ServerResponse
}

/** How long a request waits for free bytes of the budget, in ms. */
const WAIT_MS = 1_000
/** Header `Retry-After` of the response with status 503, in seconds. */
const RETRY_AFTER_SECONDS = '1'

/**
 * Describes the limits of responses for the documentation.
 * @param one setting that limits the size of one response.
 * @param together setting that limits the size of all responses in progress.
 */
export function describeAnswerLimits(
  one: Pick<Limit, 'setting' | 'value'>,
  together: Pick<Limit, 'setting' | 'value'>,
): readonly Limit[] {
  return [
    {
      ...one,
      counts: 'bytes of an answer before compression',
      per: 'request',
      beyond: '400; the error names the size of the answer and the largest `limit` that fits',
    },
    {
      ...together,
      counts: `bytes of all answers that have not been sent; one client may use 1/${1 / SHARE_OF_ONE} of these bytes, or one answer of maximum size`,
      per: 'process',
      beyond: `the request waits ${secondsText(WAIT_MS)}, then 503 with \`Retry-After\``,
    },
  ]
}

/**
 * Counts the bytes of responses from their creation until they have been sent. Responses that a client does not read
 * count until the client has read them.
 */
export class AnswerBudget {
  /** Maximum bytes of one response. */
  readonly maxBytes: number
  readonly #budget: ByteBudget
  #refused = 0

  constructor({ answer_bytes: one, answers_bytes: all }: AnswerLimits) {
    this.maxBytes = one
    // The share of one client must allow at least one response of maximum size.
    this.#budget = new ByteBudget({
      maxBytes: Math.max(all, one),
      maxBytesOfOne: Math.max(one, all * SHARE_OF_ONE),
    })
  }

  /** Bytes of answers in progress. */
  get bytes(): number {
    return this.#budget.bytes
  }

  /** Number of requests refused because the budget was used up by responses in progress. */
  get refused(): number {
    return this.#refused
  }

  /**
   * Waits until a client is below its share of the byte budget. Called before the database is read, so that a client
   * above its share causes no reads.
   * @throws RequestError 503.
   */
  async admit({ key, isExempt }: AnswerClient): Promise<void> {
    if (isExempt) return
    await this.#take(key, 1)
    this.#budget.giveBack(key, 1)
  }

  /**
   * Reserves the bytes of a response until it has been sent; waits if necessary.
   * @throws RequestError 503.
   */
  async hold(exchange: AnswerExchange, { key, isExempt }: AnswerClient, bytes: number): Promise<void> {
    if (isExempt) return
    await this.#take(key, bytes)
    this.#giveBackAfter(exchange, key, bytes)
  }

  /**
   * Reserves the bytes of a response like `hold`, without waiting.
   * @returns false if too few bytes are free.
   */
  holdNow(exchange: AnswerExchange, { key, isExempt }: AnswerClient, bytes: number): boolean {
    if (isExempt) return true
    const isTaken = this.#budget.take(key, bytes)
    if (isTaken) this.#giveBackAfter(exchange, key, bytes)
    return isTaken
  }

  async #take(key: string, bytes: number): Promise<void> {
    if (this.#budget.take(key, bytes) || (await this.#budget.takeWithin(key, bytes, WAIT_MS))) return
    throw this.refusal()
  }

  /** Creates the error for a request that the byte budget refuses, and counts the refusal. */
  refusal(): RequestError {
    this.#refused++
    const headers = { 'Retry-After': RETRY_AFTER_SECONDS }
    return new RequestError(503, 'Too many bytes of answers in progress: try again later', headers)
  }

  #giveBackAfter(exchange: AnswerExchange, key: string, bytes: number): void {
    const giveBack = (): void => {
      this.#budget.giveBack(key, bytes)
    }
    // The client may have disconnected while its request waited for free bytes of the budget.
    if (exchange.res.destroyed || exchange.req.socket.destroyed) giveBack()
    else onceClosed(exchange, giveBack)
  }
}
