import type pg from 'pg'
import { clientGone, timeIsUp } from './scope.ts'
import type { WorkScope } from './scope.ts'
import type { Statement } from '../sql/index.ts'

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
  #onWire: Promise<unknown> | undefined
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
    return this.#onWire
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
        this.#onWire = undefined
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
      this.#onWire = this.#send(statement).then(
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
