import { RetryableError } from '../../core/errors/index.ts'

/** Client, time limit and kind of some database work. */
export interface WorkScope {
  /** Names the work in metrics and logs if its statements have no names. */
  readonly caller: string
  /** Client that the work is counted for in the fair queue. Work of the server itself has a client name of its own. */
  readonly client: string
  /** Whether the work finds few rows by key. Some connections are reserved for brief work. */
  readonly isBrief: boolean
  /** Whether the caller reports failures itself: failed statements are not logged. */
  readonly reportsFailures: boolean
  /** End of the work including its wait, by `performance.now()`. */
  readonly deadlineMs: number
  /** Reports the client's disconnection; undefined if no client waits for the work. */
  readonly departure: Departure | undefined
}

/** Reports that a client has disconnected. An `AbortSignal` would add one twentieth to the time of a point read. */
export class Departure {
  readonly #listeners = new Set<() => void>()
  #hasHappened = false

  get hasHappened(): boolean {
    return this.#hasHappened
  }

  /** Calls all listeners, in order. */
  happen(): void {
    this.#hasHappened = true
    for (const listener of this.#listeners) listener()
  }

  /** Adds a listener. Has no effect if the client has disconnected already. */
  add(listener: () => void): void {
    this.#listeners.add(listener)
  }

  remove(listener: () => void): void {
    this.#listeners.delete(listener)
  }
}

/** Client name of the server's own work. Nobody retries this work, so it waits until its deadline. */
export const SERVER_ITSELF = ''

/** Fills in the missing members of a scope: work of the server itself with the time limit of a request. */
export function completeScope(scope: Partial<WorkScope>, maxTimeMs: number): WorkScope {
  return {
    caller: scope.caller ?? 'unnamed',
    client: scope.client ?? SERVER_ITSELF,
    isBrief: scope.isBrief ?? false,
    reportsFailures: scope.reportsFailures ?? false,
    deadlineMs: scope.deadlineMs ?? performance.now() + maxTimeMs,
    departure: scope.departure,
  }
}

/** The error of work whose client has disconnected. */
export function clientGone(): RetryableError {
  return new RetryableError('CLIENT_GONE', 'the client closed its connection before it was answered')
}

/** The error of work that exceeds its time limit. */
export function timeIsUp(cause?: unknown): RetryableError {
  return new RetryableError('QUERY_TIMEOUT', 'the queries of a request took too long', { cause })
}

/** The error of work that gets no connection. */
export function tooBusy(message: string): RetryableError {
  return new RetryableError('DATABASE_BUSY', message)
}
