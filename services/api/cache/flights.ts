import { PronghornError } from '../../core/errors/index.ts'
import type { ErrorCode } from '../../core/errors/index.ts'

/** Error codes that a retry would get again. A busy database is not one: it may refuse one client and serve another. */
const lasting: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['INVALID_REQUEST', 'QUERY_TIMEOUT'])

/** Whether requests that joined the query fail with this error instead of retrying. */
export function isLasting(error: unknown): boolean {
  return error instanceof PronghornError && lasting.has(error.code)
}

/** Whether the query was cancelled because its client has disconnected. */
export function isGone(error: unknown): boolean {
  return error instanceof PronghornError && error.code === 'CLIENT_GONE'
}

interface Flight<T> {
  readonly startedMs: number
  readonly result: Promise<T>
}

/** Running queries by key, so that concurrent requests with the same key share one query. */
export class Flights<T> {
  readonly #underway = new Map<string, Flight<T>>()

  /** The running query for a key, if it began no longer ago than `maxAgeMs`. */
  find(key: string, maxAgeMs: number): Promise<T> | undefined {
    const flight = this.#underway.get(key)
    return flight && performance.now() - flight.startedMs < maxAgeMs ? flight.result : undefined
  }

  /** Starts the query for a key; later requests join this one. */
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
