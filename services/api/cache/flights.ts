import { PronghornError } from '../../core/errors/index.ts'
import type { ErrorCode } from '../../core/errors/index.ts'

/** Failures that another attempt at the same moment would meet too. A busy database refuses one client and not another. */
const lasting: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['INVALID_REQUEST', 'QUERY_TIMEOUT'])

/** Whether who waited for the work of another fails with it, instead of trying itself. */
export function isLasting(error: unknown): boolean {
  return error instanceof PronghornError && lasting.has(error.code)
}

/** Whether the work was given up because the client that it was done for has left. */
export function isGone(error: unknown): boolean {
  return error instanceof PronghornError && error.code === 'CLIENT_GONE'
}

interface Flight<T> {
  readonly startedMs: number
  readonly result: Promise<T>
}

/** Work under way, by key: whoever asks for the same joins it instead of starting it again. */
export class Flights<T> {
  readonly #underway = new Map<string, Flight<T>>()

  /** The work under way for a key, if it began no longer ago than `maxAgeMs`. */
  find(key: string, maxAgeMs: number): Promise<T> | undefined {
    const flight = this.#underway.get(key)
    return flight && performance.now() - flight.startedMs < maxAgeMs ? flight.result : undefined
  }

  /** Starts work for a key; from now on this is what others join. */
  start(key: string, work: () => Promise<T>): Promise<T> {
    const result = work().finally(() => {
      if (this.#underway.get(key) === flight) this.#underway.delete(key)
    })
    const flight = { startedMs: performance.now(), result }
    this.#underway.set(key, flight)
    return result
  }

  /** Lets nobody join what is under way now. */
  clear(): void {
    this.#underway.clear()
  }
}
