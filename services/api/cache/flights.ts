import { PronghornError } from '../../core/errors/index.ts'
import type { ErrorCode } from '../../core/errors/index.ts'

/**
 * Codes of errors that a second attempt would get as well. `DATABASE_BUSY` is not among the codes: a busy database may
 * refuse one client and serve another.
 */
const lasting: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['INVALID_REQUEST', 'QUERY_TIMEOUT'])

/**
 * Whether the requests that joined a failed query also get its error. After another error they start a query of their
 * own.
 */
export function isLasting(error: unknown): boolean {
  return error instanceof PronghornError && lasting.has(error.code)
}

/** Whether the error says that the query was cancelled because its client had disconnected. */
export function isGone(error: unknown): boolean {
  return error instanceof PronghornError && error.code === 'CLIENT_GONE'
}

interface Flight<T> {
  readonly startedMs: number
  readonly result: Promise<T>
}

/** Running queries by cache key. Concurrent requests with the same key share one query. */
export class Flights<T> {
  readonly #underway = new Map<string, Flight<T>>()

  /** Finds the running query of a key. A query that began `maxAgeMs` ago or earlier is not returned. */
  find(key: string, maxAgeMs: number): Promise<T> | undefined {
    const flight = this.#underway.get(key)
    return flight && performance.now() - flight.startedMs < maxAgeMs ? flight.result : undefined
  }

  /** Starts the query of a key. Later requests with the same key join the query. */
  start(key: string, work: () => Promise<T>): Promise<T> {
    const result = work().finally(() => {
      if (this.#underway.get(key) === flight) this.#underway.delete(key)
    })
    const flight = { startedMs: performance.now(), result }
    this.#underway.set(key, flight)
    return result
  }

  /** Forgets the running queries, so that later requests do not join them. */
  clear(): void {
    this.#underway.clear()
  }
}
