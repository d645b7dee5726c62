import type pg from 'pg'
import { clientGone, timeIsUp } from './scope.ts'
import type { WorkScope } from './scope.ts'
import type { Statement } from '../sql/index.ts'

const PLAN_FOR_VALUES = 'SET LOCAL plan_cache_mode = force_custom_plan'
const PLAN_ONCE = 'SET LOCAL plan_cache_mode = force_generic_plan'

/** Callbacks of a session for its connection. */
export interface SessionParts {
  readonly client: pg.PoolClient
  readonly scope: WorkScope
  /** Asks the server to end the statement that runs. */
  readonly cancel: () => void
}

/**
 * The statements of one request on one connection, one after the other. Each has the time that is left of the request.
 * After the deadline, or when the client has disconnected, the statement is cancelled and the caller gets its error at
 * once; the connection stays in use until the server has finished the statement.
 */
export class StatementRunner {
  readonly #parts: SessionParts
  #last: Promise<unknown> = Promise.resolve()
  #pending = 0
  #onWire: Promise<unknown> | undefined
  /** Whether a statement was cancelled: the message may still be in flight and would hit another. */
  isInterrupted = false
  #isInTransaction = false
  /** Whether the transaction plans statements for their values. */
  #isCustom = false

  constructor(parts: SessionParts) {
    this.#parts = parts
  }

  /** Resolves when the server has finished the last statement. Undefined when it has. */
  get settled(): Promise<unknown> | undefined {
    return this.#onWire
  }

  /** Says that the statements behind are those of one transaction, or no longer. */
  noteTransaction(isOpen: boolean): void {
    this.#isInTransaction = isOpen
    this.#isCustom = false
  }

  /**
   * @throws RetryableError `QUERY_TIMEOUT`, `CLIENT_GONE`; whatever `pg` throws.
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
   * A connection plans a prepared statement once; one without a name is planned for its values, in a transaction, which
   * leaves nothing behind on a connection that a pool lends for each transaction. Without values there is only one plan.
   */
  async #send(statement: Statement): Promise<pg.QueryArrayResult<unknown[]>> {
    const { client } = this.#parts
    const query = (): Promise<pg.QueryArrayResult<unknown[]>> => {
      // The message that cancels the statement has found another one.
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
