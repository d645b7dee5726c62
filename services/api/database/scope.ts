import { RetryableError } from '../../core/errors/index.ts'

/** Whom work is done for, and how long at most. */
export interface WorkScope {
  /** Names the statements that have no name, in metrics. */
  readonly caller: string
  /** Whose share of the connections the work takes, as the server sees clients; its own work has its own share. */
  readonly client: string
  /** Finds few rows by their keys. Some connections are for such work alone. */
  readonly isBrief: boolean
  /** The caller reports failures in its own words: no statement is logged. */
  readonly reportsFailures: boolean
  /** By `performance.now()`: the work and the time that it waits end then. */
  readonly deadlineMs: number
  /** Undefined for work that no client waits for. */
  readonly departure: Departure | undefined
}

/** Reports that a client has disconnected. An `AbortSignal` would take one twentieth of the time of a point read. */
export class Departure {
  readonly #listeners = new Set<() => void>()
  #hasHappened = false

  get hasHappened(): boolean {
    return this.#hasHappened
  }

  /** Calls the listeners, in their order. */
  happen(): void {
    this.#hasHappened = true
    for (const listener of this.#listeners) listener()
  }

  /** Calls a listener when it happens; not when it has. */
  add(listener: () => void): void {
    this.#listeners.add(listener)
  }

  remove(listener: () => void): void {
    this.#listeners.delete(listener)
  }
}

/** Client name of the server's own work: it is not retried, so it waits up to its deadline. */
export const SERVER_ITSELF = ''

/** A scope with what was left out: work of the server itself that has the time of a request. */
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

/** What befalls work whose client has gone. */
export function clientGone(): RetryableError {
  return new RetryableError('CLIENT_GONE', 'the client closed its connection before it was answered')
}

/** What befalls work that has no time left. */
export function timeIsUp(cause?: unknown): RetryableError {
  return new RetryableError('QUERY_TIMEOUT', 'the queries of a request took too long', { cause })
}

/** What befalls work that gets no connection. */
export function tooBusy(message: string): RetryableError {
  return new RetryableError('DATABASE_BUSY', message)
}
