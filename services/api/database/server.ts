import type pg from 'pg'
import { createPool } from '../../core/database/index.ts'
import type { DatabaseAddress } from '../../core/database/index.ts'
import { describeError, PronghornError, RetryableError } from '../../core/errors/index.ts'
import type { Logger } from '../../core/log/index.ts'
import type { DatabaseObserver } from './observer.ts'
import { classifyProblem, isConflict, queryError } from './problems.ts'
import type { ProblemKind } from './problems.ts'
import type { Statement } from './statement.ts'

/** One connection, held for the statements of one request. */
export interface Session {
  /**
   * Runs a statement; each row is an array of its columns.
   * @throws RetryableError `QUERY_TIMEOUT`, `DATABASE_UNAVAILABLE`; FatalError `DATABASE_ERROR`.
   */
  query<Row extends readonly unknown[]>(statement: Statement): Promise<Row[]>
}

/** Limits of the requests to one server, named like their keys in server.config.json. */
export interface ServerLimits {
  /** `max_db_connections`. */
  readonly maxConnections: number
  /** `max_query_time_ms`: longest run of one statement. */
  readonly maxQueryTimeMs: number
  /** `slow_query_threshold`: a longer statement is logged; 0 = never. */
  readonly slowQueryMs: number
}

/** Connections to one server, and requests that wait for one. */
export interface ServerLoad {
  readonly server: string
  readonly used: number
  readonly idle: number
  readonly waiting: number
  readonly limit: number
}

/**
 * How requests are planned. They touch few rows, mostly in memory: an index is nearly always right, compiling a
 * statement never is.
 */
const PLANNING = { jit: 'off', random_page_cost: '1.1', work_mem: '16MB' }

/** Requests that may wait, for each connection; with the query time limit this bounds how long one waits. */
const WAITING_PER_CONNECTION = 4
/** The server ends a statement itself; this much later the client stops believing that it will. */
const SERVER_GRACE_MS = 1_000

/** One PostgreSQL server as requests see it: a pool with a bounded queue that refuses at once while it is away. */
export class DatabaseServer {
  /** `primary`, or host and port of a replica. */
  readonly name: string
  available = true
  readonly #pool: pg.Pool
  readonly #limits: ServerLimits
  readonly #maxWaiting: number
  readonly #logger: Logger
  readonly #observer: DatabaseObserver
  #running = 0
  #whenIdle: (() => void)[] = []

  constructor(
    name: string,
    address: DatabaseAddress,
    limits: ServerLimits,
    logger: Logger,
    observer: DatabaseObserver,
  ) {
    this.name = name
    this.#limits = limits
    this.#logger = logger
    this.#observer = observer
    this.#maxWaiting = Math.max(20, limits.maxConnections * WAITING_PER_CONNECTION)
    this.#pool = createPool(address, {
      applicationName: 'pronghorn-api',
      statementTimeoutMs: limits.maxQueryTimeMs,
      max: limits.maxConnections,
      settings: PLANNING,
    })
  }

  /** Runs work on a connection. `caller` names the statements that have no name. */
  async run<T>(work: (session: Session) => Promise<T>, caller: string): Promise<T> {
    if (!this.available) {
      this.#observer.refused('away')
      throw new RetryableError('DATABASE_UNAVAILABLE', 'the database is away')
    }
    if (this.#pool.waitingCount >= this.#maxWaiting) {
      this.#observer.refused('busy')
      throw new RetryableError('DATABASE_BUSY', `${this.#maxWaiting} requests wait for a database connection`)
    }
    this.#running++
    try {
      return await this.#useClient(await this.#acquire(), work, caller)
    } finally {
      this.#running--
      if (this.#running === 0) for (const wake of this.#whenIdle.splice(0)) wake()
    }
  }

  /** Resolves with true when no work runs, with false when some still does after `withinMs`. */
  async drained(withinMs: number): Promise<boolean> {
    if (this.#running === 0) return true
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        resolve(false)
      }, withinMs)
      this.#whenIdle.push(() => {
        clearTimeout(timer)
        resolve(true)
      })
    })
  }

  load(): ServerLoad {
    const { totalCount, idleCount, waitingCount } = this.#pool
    const limit = this.#limits.maxConnections
    return { server: this.name, used: totalCount - idleCount, idle: idleCount, waiting: waitingCount, limit }
  }

  close(): Promise<void> {
    return this.#pool.end()
  }

  async #acquire(): Promise<pg.PoolClient> {
    const startedMs = performance.now()
    try {
      const client = await this.#pool.connect()
      this.#observer.connected(this.name, performance.now() - startedMs)
      return client
    } catch (error) {
      const kind = classifyProblem(error)
      this.#noteProblem(kind, error)
      this.#observer.refused(kind === 'busy' ? 'busy' : 'away')
      throw queryError(error, kind)
    }
  }

  #noteProblem(kind: ProblemKind, error: unknown): void {
    if (kind === 'away' && !isConflict(error)) this.available = false
  }

  async #useClient<T>(
    client: pg.PoolClient,
    work: (session: Session) => Promise<T>,
    caller: string,
  ): Promise<T> {
    let broken = false
    const session: Session = {
      query: async <Row extends readonly unknown[]>(statement: Statement) => {
        const startedMs = performance.now()
        let problem: ProblemKind | undefined
        try {
          return await runStatement<Row>(client, statement, this.#limits.maxQueryTimeMs + SERVER_GRACE_MS)
        } catch (error) {
          problem = classifyProblem(error)
          // A timed-out or cut connection may still carry an answer to the old question.
          broken ||= problem !== 'value' && problem !== 'unknown'
          this.#noteProblem(problem, error)
          this.#logger.warn({ err: describeError(error), query: statement.text }, 'Query exception')
          throw queryError(error, problem)
        } finally {
          this.#noteEnd(statement, caller, performance.now() - startedMs, problem)
        }
      },
    }
    // A client that breaks between two statements tells so by an event, which would end the process unheard.
    const onBreak = (): void => {
      broken = true
    }
    client.on('error', onBreak)
    try {
      return await work(session)
    } catch (error) {
      broken ||= !(error instanceof PronghornError)
      throw error
    } finally {
      client.off('error', onBreak)
      client.release(broken)
    }
  }

  #noteEnd(statement: Statement, caller: string, durationMs: number, problem: ProblemKind | undefined): void {
    const query = statement.isNamedByText ? caller : (statement.name ?? caller)
    this.#observer.queryEnded({ query, server: this.name, durationMs, problem })
    const { slowQueryMs } = this.#limits
    const { reason } = statement
    if (reason !== undefined)
      this.#logger.debug({ reason, caller }, `List read in ${Math.round(durationMs)} ms`)
    if (slowQueryMs === 0 || durationMs < slowQueryMs) return
    this.#logger.warn(
      { query: statement.text, reason, values: JSON.stringify(statement.values.map(String)).slice(0, 1_000) },
      `Query took ${Math.round(durationMs)} ms`,
    )
  }
}

async function runStatement<Row extends readonly unknown[]>(
  client: pg.PoolClient,
  statement: Statement,
  timeoutMs: number,
): Promise<Row[]> {
  const config = {
    text: statement.text,
    values: [...statement.values],
    rowMode: 'array' as const,
    query_timeout: timeoutMs,
    ...(statement.name === undefined ? {} : { name: statement.name }),
  }
  const result = await client.query<unknown[]>(config)
  return result.rows as unknown as Row[]
}
