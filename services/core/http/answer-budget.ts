import type { IncomingMessage, ServerResponse } from 'node:http'
import { secondsText } from '../limits/index.ts'
import type { Limit } from '../limits/index.ts'
import { ByteBudget, SHARE_OF_ONE } from './limits/index.ts'
import { onceClosed } from './listener/index.ts'
import { RequestError } from './request-error.ts'

/** Settings named like their keys below `limits` in server.config.json. */
export interface AnswerLimits {
  readonly answer_bytes: number
  readonly answers_bytes: number
}

/** The client whose share an answer uses. */
export interface AnswerClient {
  readonly key: string
  /** A client that is not limited. */
  readonly isExempt: boolean
}

/** A request and its response. */
export interface AnswerExchange {
  readonly req: IncomingMessage
  readonly res: ServerResponse
}

/** How long a request waits for bytes, ms. */
const WAIT_MS = 1_000
/** Seconds after which a refused client may try again. */
const RETRY_AFTER_SECONDS = '1'

/**
 * Limits of answers, for people.
 * @param one what says how large one answer may be.
 * @param together what says how large all that are in progress may be.
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
      beyond: '400, which names its size and the largest `limit` that fits',
    },
    {
      ...together,
      counts: `bytes of answers until they have been sent, 1/${1 / SHARE_OF_ONE} of them for one client, or one answer`,
      per: 'process',
      beyond: `${secondsText(WAIT_MS)} of waiting, then 503 with \`Retry-After\``,
    },
  ]
}

/** Bytes of answers from when they are known until they have been sent: a client that does not read has its own for so long. */
export class AnswerBudget {
  /** Most bytes of one answer. */
  readonly maxBytes: number
  readonly #budget: ByteBudget
  #refused = 0

  constructor({ answer_bytes: one, answers_bytes: all }: AnswerLimits) {
    this.maxBytes = one
    // The largest answer is within the share of a client.
    this.#budget = new ByteBudget({
      maxBytes: Math.max(all, one),
      maxBytesOfOne: Math.max(one, all * SHARE_OF_ONE),
    })
  }

  /** Bytes of answers in progress. */
  get bytes(): number {
    return this.#budget.bytes
  }

  /** Requests that were refused because the bytes of other answers were in progress. */
  get refused(): number {
    return this.#refused
  }

  /** Waits until a client may have any bytes: nothing is read for one that may not. @throws RequestError 503. */
  async admit({ key, isExempt }: AnswerClient): Promise<void> {
    if (isExempt) return
    await this.#take(key, 1)
    this.#budget.giveBack(key, 1)
  }

  /** Takes the bytes of an answer until it has been sent. @throws RequestError 503. */
  async hold(exchange: AnswerExchange, { key, isExempt }: AnswerClient, bytes: number): Promise<void> {
    if (isExempt) return
    await this.#take(key, bytes)
    this.#giveBackAfter(exchange, key, bytes)
  }

  /** Takes the bytes of an answer like `hold`, without waiting. @returns false when too few are free. */
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

  /** The refusal of a client that has used its share. */
  refusal(): RequestError {
    this.#refused++
    return new RequestError(503, 'Too many bytes of answers at once', { 'Retry-After': RETRY_AFTER_SECONDS })
  }

  #giveBackAfter(exchange: AnswerExchange, key: string, bytes: number): void {
    const giveBack = (): void => {
      this.#budget.giveBack(key, bytes)
    }
    // The client may have left while its request waited.
    if (exchange.res.destroyed || exchange.req.socket.destroyed) giveBack()
    else onceClosed(exchange, giveBack)
  }
}
