import { RetryableError } from '../../core/errors/index.ts'
import type pg from 'pg'
import type { Statement } from '../sql/index.ts'

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
  /** Whether metrics and the log of slow queries count the work. */
  readonly isCounted: boolean
  /** End of the work including its wait, by `performance.now()`. */
  readonly deadlineMs: number
  /** Reports the client's disconnection; undefined if no client waits for the work. */
  readonly departure: Departure | undefined
}

/** Reports that a client has disconnected. An `AbortSignal` would add one twentieth to the time of a point read. */
export class Departure {
  readonly #listeners = new Set<() => void>()
  hasHappened = false

  /** Calls all listeners, in order. */
  happen(): void {
    this.hasHappened = true
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
    isCounted: scope.isCounted ?? true,
    deadlineMs: scope.deadlineMs ?? performance.now() + maxTimeMs,
    departure: scope.departure,
  }
}

/** The error of work whose client has disconnected. */
export function clientGone(): RetryableError {
  return new RetryableError('CLIENT_GONE', 'the client closed its connection before it was answered')
}

/** The error of work that exceeds its time limit. */
function timeIsUp(cause?: unknown): RetryableError {
  return new RetryableError('QUERY_TIMEOUT', 'the queries of a request took too long', { cause })
}

/** The error of work that gets no connection. */
export function tooBusy(message: string): RetryableError {
  return new RetryableError('DATABASE_BUSY', message)
}

const PLAN_FOR_VALUES = 'SET LOCAL plan_cache_mode = force_custom_plan'
const PLAN_ONCE = 'SET LOCAL plan_cache_mode = force_generic_plan'

/** The connection of a session and its callbacks. */
export interface SessionParts {
  readonly client: pg.PoolClient
  readonly scope: WorkScope
  /** Asks the server to cancel the running statement. */
  readonly cancel: () => void
}

/**
 * Runs the statements of one request in sequence on one connection, each with the request's remaining time. After the
 * deadline, or if the client disconnects, the statement is cancelled and the caller gets its error at once; the
 * connection stays in use until the server has finished the statement.
 */
export class StatementRunner {
  readonly #parts: SessionParts
  #last: Promise<unknown> = Promise.resolve()
  #pending = 0
  #settled: Promise<unknown> | undefined
  /** Whether a cancel request was sent. It may still be in flight and would hit a later statement. */
  isInterrupted = false
  #isInTransaction = false
  /** Whether the open transaction currently plans statements for their values (custom plans). */
  #isCustom = false

  constructor(parts: SessionParts) {
    this.#parts = parts
  }

  /** Resolves when the server has finished the running statement; undefined if none runs. */
  get settled(): Promise<unknown> | undefined {
    return this.#settled
  }

  /** Called when a transaction begins or ends. */
  noteTransaction(isOpen: boolean): void {
    this.#isInTransaction = isOpen
    this.#isCustom = false
  }

  /**
   * Runs a statement after the earlier ones.
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
   * A named statement is prepared and planned once per connection. A statement without a name is planned for its
   * values, in a transaction of its own, so that the setting does not leak on a connection that a pooler lends per
   * transaction. A statement without values has only one plan.
   */
  async #send(statement: Statement): Promise<pg.QueryArrayResult<unknown[]>> {
    const { client } = this.#parts
    const query = (): Promise<pg.QueryArrayResult<unknown[]>> => {
      // The cancel request hit the statement that set the plan mode.
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
