import { RetryableError } from '../../core/errors/index.ts'
import type pg from 'pg'
import type { Statement } from '../sql/index.ts'

/** Limits of one piece of database work, and the client for whom the work is done. */
export interface WorkScope {
  /** Name of the work in metrics and logs. Statements with a name of their own use that name. */
  readonly caller: string
  /** Client for whom the fair queue counts the work. Work of the API itself uses SERVER_ITSELF. */
  readonly client: string
  /** Whether the work is brief: it finds a few rows by key. Some connections are reserved for brief work. */
  readonly isBrief: boolean
  /** Whether the caller itself reports failures of the work, so that failed statements are not logged. */
  readonly reportsFailures: boolean
  /** Whether the statements of the work appear in the metrics and in the log of slow queries. */
  readonly isCounted: boolean
  /** Deadline of the work including its wait for a connection, by `performance.now()`. */
  readonly deadlineMs: number
  /** Notifies of the disconnection of the client; undefined if no client waits for the work. */
  readonly departure: Departure | undefined
}

/**
 * Notifies listeners that a client has disconnected. With an `AbortSignal` in its place, a read by key would take one
 * twentieth longer.
 */
export class Departure {
  readonly #listeners = new Set<() => void>()
  hasHappened = false

  happen(): void {
    this.hasHappened = true
    for (const listener of this.#listeners) listener()
  }

  /** Adds a listener. A listener that is added after the client has disconnected is never called. */
  add(listener: () => void): void {
    this.#listeners.add(listener)
  }

  remove(listener: () => void): void {
    this.#listeners.delete(listener)
  }
}

/**
 * Client name of work of the API itself. No client retries this work, so the work waits for a connection until its
 * deadline.
 */
export const SERVER_ITSELF = ''

/** Fills the missing members of a work scope with the values for work of the API itself. */
export function completeScope(scope: Partial<WorkScope>, maxTimeMs: number): WorkScope {
  return {
    caller: scope.caller ?? 'unnamed',
    client: scope.client ?? SERVER_ITSELF,
    isBrief: scope.isBrief ?? false,
    reportsFailures: scope.reportsFailures ?? false,
    isCounted: scope.isCounted ?? true,
    deadlineMs: scope.deadlineMs ?? performance.now() + maxTimeMs,
    departure: scope.departure,
  }
}

/** Returns the error of work whose client has disconnected. */
export function clientGone(): RetryableError {
  return new RetryableError('CLIENT_GONE', 'the client closed its connection before it was answered')
}

/** Returns the error of work that exceeds its time limit. */
function timeIsUp(cause?: unknown): RetryableError {
  return new RetryableError('QUERY_TIMEOUT', 'the queries of a request took too long', { cause })
}

/** Returns the error of work that gets no connection. */
export function tooBusy(message: string): RetryableError {
  return new RetryableError('DATABASE_BUSY', message)
}

const PLAN_FOR_VALUES = 'SET LOCAL plan_cache_mode = force_custom_plan'
const PLAN_ONCE = 'SET LOCAL plan_cache_mode = force_generic_plan'

/** Connection of a request, limits of the work, and the function that cancels the running statement. */
export interface SessionParts {
  readonly client: pg.PoolClient
  readonly scope: WorkScope
  /** Asks PostgreSQL to cancel the running statement of the connection. */
  readonly cancel: () => void
}

/**
 * Runs the statements of one request in sequence on one connection, each within the remaining time of the request.
 * After the deadline, or if the client disconnects, the running statement is cancelled and the caller gets the error at
 * once. The connection stays in use until the server has finished the statement.
 */
export class StatementRunner {
  readonly #parts: SessionParts
  #last: Promise<unknown> = Promise.resolve()
  #pending = 0
  #settled: Promise<unknown> | undefined
  /** Whether a cancel request was sent. The request may arrive late and cancel a later statement. */
  isInterrupted = false
  #isInTransaction = false
  /** Whether the open transaction currently uses custom plans, which are made for the values of a statement. */
  #isCustom = false

  constructor(parts: SessionParts) {
    this.#parts = parts
  }

  /** Resolves when the server has finished the running statement; undefined if no statement runs. */
  get settled(): Promise<unknown> | undefined {
    return this.#settled
  }

  /** Called when a transaction begins or ends. */
  noteTransaction(isOpen: boolean): void {
    this.#isInTransaction = isOpen
    this.#isCustom = false
  }

  /**
   * Runs a statement after all earlier statements of the session.
   * @throws RetryableError `QUERY_TIMEOUT`, `CLIENT_GONE`; any error of `pg`.
   */
  run<Row extends readonly unknown[]>(statement: Statement): Promise<Row[]> {
    const result =
      this.#pending === 0 ? this.#run<Row>(statement) : this.#last.then(() => this.#run<Row>(statement))
    this.#pending++
    this.#last = result.then(this.#finished, this.#finished)
    return result
  }

  readonly #finished = (): void => {
    this.#pending--
  }

  #run<Row extends readonly unknown[]>(statement: Statement): Promise<Row[]> {
    const { scope } = this.#parts
    const leftMs = scope.deadlineMs - performance.now()
    if (scope.departure?.hasHappened) return Promise.reject(clientGone())
    if (leftMs <= 0 || this.isInterrupted) return Promise.reject(timeIsUp())
    return new Promise<Row[]>((resolve, reject) => {
      const end = (): void => {
        clearTimeout(timer)
        scope.departure?.remove(onGone)
        this.#settled = undefined
      }
      const interrupt = (error: Error): void => {
        this.isInterrupted = true
        this.#parts.cancel()
        reject(error)
      }
      const onGone = (): void => {
        interrupt(clientGone())
      }
      const timer = setTimeout(() => {
        interrupt(timeIsUp())
      }, leftMs)
      scope.departure?.add(onGone)
      this.#settled = this.#send(statement).then(
        ({ rows }) => {
          end()
          resolve(rows as unknown as Row[])
        },
        (error: unknown) => {
          end()
          reject(error instanceof Error ? error : new Error(String(error)))
        },
      )
    })
  }

  /**
   * Sends a statement. A statement with a name is prepared and planned once per connection. A statement without a name
   * gets a plan for its values, so a transaction sets the plan mode. The setting ends with the transaction, because a
   * pooler may then lend the connection to another client. A statement without values has only one plan.
   */
  async #send(statement: Statement): Promise<pg.QueryArrayResult<unknown[]>> {
    const { client } = this.#parts
    const query = (): Promise<pg.QueryArrayResult<unknown[]>> => {
      // A cancel request that arrives while the plan mode is being set does not cancel the statement of the request, so
      // do not send the statement.
      if (this.isInterrupted) throw timeIsUp()
      return client.query<unknown[]>(configOf(statement))
    }
    if (statement.values.length === 0) return query()
    const isCustom = statement.name === undefined
    if (this.#isInTransaction) {
      if (isCustom !== this.#isCustom) await client.query(isCustom ? PLAN_FOR_VALUES : PLAN_ONCE)
      this.#isCustom = isCustom
      return query()
    }
    if (!isCustom) return query()
    await client.query(`BEGIN READ ONLY; ${PLAN_FOR_VALUES}`)
    try {
      const result = await query()
      await client.query('COMMIT')
      return result
    } catch (error) {
      await client.query('ROLLBACK').catch(() => undefined)
      throw error
    }
  }
}

function configOf({ text, values, name }: Statement): pg.QueryArrayConfig {
  const config: pg.QueryArrayConfig = { text, values: [...values], rowMode: 'array' }
  if (name !== undefined) config.name = name
  return config
}
