import type pg from 'pg'
import { clientGone, timeIsUp } from './scope.ts'
import type { WorkScope } from './scope.ts'
import type { Statement } from './statement.ts'

/** How connections plan their statements at present. */
const planModes = new WeakMap<pg.PoolClient, string>()

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

  constructor(parts: SessionParts) {
    this.#parts = parts
  }

  /** Resolves when the server has finished the last statement. Undefined when it has. */
  get settled(): Promise<unknown> | undefined {
    return this.#onWire
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
   * A prepared statement is planned once. By default PostgreSQL goes on planning it for its values while it takes such
   * plans for cheaper, but for the statement of a page that takes longer than to run it. Without values there is only one
   * plan.
   */
  async #send(statement: Statement): Promise<pg.QueryArrayResult<unknown[]>> {
    const { client } = this.#parts
    const mode = statement.name === undefined ? 'force_custom_plan' : 'force_generic_plan'
    if (statement.values.length > 0 && planModes.get(client) !== mode) {
      await client.query(`SET plan_cache_mode = ${mode}`)
      planModes.set(client, mode)
      // The message that cancels the statement has found this one.
      if (this.isInterrupted) throw timeIsUp()
    }
    return client.query<unknown[]>(configOf(statement))
  }
}

function configOf({ text, values, name }: Statement): pg.QueryArrayConfig {
  const config: pg.QueryArrayConfig = { text, values: [...values], rowMode: 'array' }
  if (name !== undefined) config.name = name
  return config
}
