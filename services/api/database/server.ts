import type { ProblemKind } from './problems.ts'
import type pg from 'pg'
import { createPool } from '../../core/database/index.ts'
import type { DatabaseAddress } from '../../core/database/index.ts'
import { describeError, PronghornError, RetryableError } from '../../core/errors/index.ts'
import type { Logger } from '../../core/log/index.ts'
import { BusyLog } from './busy-log.ts'
import { cancelStatement } from './cancel.ts'
import { FairQueue, queueLimits } from './fair-queue.ts'
import type { Leave } from './fair-queue.ts'
import { classifyProblem, isConflict, queryError } from './problems.ts'
import { StatementRunner } from './request-session.ts'
import type { WorkScope } from './request-session.ts'
import type { Statement } from '../sql/index.ts'

/** Facts about a finished statement. */
export interface QueryFacts {
  /** Name of the statement, or of its caller if the statement has no name. */
  readonly query: string
  /** Name of the server: `primary`, or host and port of a replica. */
  readonly server: string
  readonly durationMs: number
  /** Kind of the failure, such as `timeout` or `busy`; undefined if the statement succeeded. */
  readonly problem: ProblemKind | undefined
}

/**
 * Receives the statements, the waits for connections and the refused requests, for the metrics. The methods must not
 * throw.
 */
export interface DatabaseObserver {
  queryEnded(facts: QueryFacts): void
  /** Called when a request has waited `waitMs` for a connection from the pool. */
  connected(server: string, waitMs: number): void
  /** Called when a request gets no connection. */
  refused(reason: 'busy' | 'unavailable'): void
  /** Called when the process begins to read from another database server: the primary or a replica. */
  wentOver(server: string): void
}

/** A database observer that does nothing. */
export const noDatabaseObserver: DatabaseObserver = {
  queryEnded: () => undefined,
  connected: () => undefined,
  refused: () => undefined,
  wentOver: () => undefined,
}

/** Maximum number of characters of a failed statement in the log. */
const LOGGED_QUERY_LENGTH = 300

/** A connection that one request holds for its statements. */
export interface Session {
  /**
   * Runs a statement; each row is an array of its columns.
   * @throws RetryableError `QUERY_TIMEOUT`, `CLIENT_GONE`, `DATABASE_UNAVAILABLE`; FatalError `DATABASE_ERROR`.
   */
  query<Row extends readonly unknown[]>(statement: Statement): Promise<Row[]>
  /** Runs work in a transaction whose statements all see the same snapshot. Calls cannot be nested. */
  snapshot<T>(work: () => Promise<T>): Promise<T>
}

/**
 * Limits of the requests to one database server. Each comment begins with the key of the setting in server.config.json.
 */
export interface ServerLimits {
  /** `max_db_connections`: maximum number of connections to the database server. */
  readonly maxConnections: number
  /** `max_list_queries`: maximum number of concurrent requests with long (not brief) work. */
  readonly maxLists: number
  /** `max_query_time_ms`: time limit for the wait for a connection and all statements of a request together. */
  readonly maxQueryTimeMs: number
  /** `slow_query_threshold`: statements that take at least this time are logged; 0 means never. */
  readonly slowQueryMs: number
}

/** Use of the connections to one database server. */
export interface ServerLoad {
  readonly server: string
  readonly used: number
  readonly idle: number
  readonly waiting: number
  readonly limit: number
}

/**
 * Planner settings for requests. A request reads few rows, mostly in memory: an index is nearly always right, and JIT
 * compilation takes longer than it saves.
 */
const planning = {
  jit: 'off',
  random_page_cost: '1.1',
  work_mem: '16MB',
  // With the default `auto`, PostgreSQL plans each execution anew (custom plan) while it estimates custom plans to be
  // cheaper. Planning a list statement takes longer than running it.
  plan_cache_mode: 'force_generic_plan',
}

/** Begins a transaction whose statements see one snapshot. */
const begin = { name: 'begin', text: 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY', values: [] }
const commit = { name: 'commit', text: 'COMMIT', values: [] }

/** Logger and metrics observer of a database server. */
export interface ServerReports {
  readonly logger: Logger
  readonly observer: DatabaseObserver
}

/**
 * One PostgreSQL server as requests use it: a connection pool behind a queue of limited length, in which clients share
 * the connections fairly. While the server is unavailable, requests are refused at once.
 */
export class DatabaseServer {
  /** Name of the server: `primary`, or host and port of a replica. */
  readonly name: string
  available = true
  readonly #pool: pg.Pool
  readonly #queue: FairQueue
  readonly #address: DatabaseAddress
  readonly #limits: ServerLimits
  readonly #logger: Logger
  readonly #observer: DatabaseObserver
  /** Connections on which PostgreSQL still runs a statement although the request has ended. */
  readonly #orphans = new Set<pg.PoolClient>()
  readonly #busyLog: BusyLog
  #running = 0
  #whenIdle: (() => void)[] = []

  constructor(name: string, address: DatabaseAddress, limits: ServerLimits, reports: ServerReports) {
    const { logger, observer } = reports
    this.name = name
    this.#address = address
    this.#limits = limits
    this.#logger = logger
    this.#observer = observer
    const { maxConnections: slots, maxLists } = limits
    this.#queue = new FairQueue(queueLimits(slots, maxLists))
    this.#busyLog = new BusyLog(logger, () => {
      const { running, waiting } = this.#queue
      return { running, waiting, limit: slots }
    })
    this.#pool = createPool(address, {
      applicationName: 'pronghorn-api',
      statementTimeoutMs: limits.maxQueryTimeMs,
      max: slots,
      settings: planning,
    })
  }

  /**
   * Runs work on a connection. The connection counts as used until the server has finished the last statement of the
   * work.
   */
  async run<T>(work: (session: Session) => Promise<T>, scope: WorkScope): Promise<T> {
    if (!this.available) {
      this.#observer.refused('unavailable')
      throw new RetryableError('DATABASE_UNAVAILABLE', 'the database is unavailable')
    }
    this.#running++
    try {
      const leave = await this.#queue.enter(scope).catch((error: unknown) => {
        if (error instanceof PronghornError && error.code === 'DATABASE_BUSY') this.#noteBusy(scope.client)
        throw error
      })
      let client: pg.PoolClient
      try {
        client = await this.#acquire(scope)
      } catch (error) {
        leave()
        throw error
      }
      return await this.#useClient(client, work, scope, leave)
    } finally {
      this.#running--
      if (this.#running === 0) for (const wake of this.#whenIdle.splice(0)) wake()
    }
  }

  /** Refuses long work of a client if the queue is full; see `RequestDatabase`. */
  turnAway(client: string): Promise<void> | undefined {
    const refusal = this.#queue.turnAway(client)
    if (refusal) this.#noteBusy(client)
    return refusal
  }

  /** Resolves with true as soon as no work runs, or with false if work still runs after `withinMs`. */
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
    const { totalCount, idleCount } = this.#pool
    const limit = this.#limits.maxConnections
    const { waiting } = this.#queue
    return { server: this.name, used: totalCount - idleCount, idle: idleCount, waiting, limit }
  }

  /**
   * Called when the database server answers again after a failure. Closes the connections that still wait for a
   * statement from before the failure: the statement no longer runs, or runs on a server that another server has
   * replaced.
   */
  restored(): void {
    this.available = true
    this.#dropOrphans()
  }

  close(): Promise<void> {
    this.#busyLog.close()
    this.#dropOrphans()
    return this.#pool.end()
  }

  /**
   * Closes the connections that still wait for a statement although the request has ended. The server may continue to
   * run the statement, because `end` only closes the connection.
   */
  #dropOrphans(): void {
    for (const client of this.#orphans) void (client as unknown as pg.Client).end()
  }

  #noteBusy(client: string): void {
    this.#observer.refused('busy')
    this.#busyLog.note(client)
  }

  async #acquire(scope: WorkScope): Promise<pg.PoolClient> {
    const startedMs = performance.now()
    try {
      const client = await this.#pool.connect()
      if (scope.isCounted) this.#observer.connected(this.name, performance.now() - startedMs)
      return client
    } catch (error) {
      const kind = classifyProblem(error)
      this.#noteProblem(kind, error)
      if (kind === 'busy') this.#noteBusy(scope.client)
      else this.#observer.refused('unavailable')
      throw queryError(error, kind)
    }
  }

  #logFailure(error: unknown, statement: Statement, { caller }: WorkScope): void {
    const query = statement.text.replaceAll(/\s+/g, ' ').trim().slice(0, LOGGED_QUERY_LENGTH)
    this.#logger.warn({ caller, query }, `a query failed: ${describeError(error)}`)
  }

  #noteProblem(kind: ProblemKind, error: unknown): void {
    if (kind === 'unavailable' && !isConflict(error)) this.available = false
  }

  async #useClient<T>(
    client: pg.PoolClient,
    work: (session: Session) => Promise<T>,
    scope: WorkScope,
    leave: Leave,
  ): Promise<T> {
    let broken = false
    const statements = new StatementRunner({
      client,
      scope,
      cancel: () => {
        cancelStatement(this.#address, client)
      },
    })
    const session: Session = {
      query: async <Row extends readonly unknown[]>(statement: Statement) => {
        const startedMs = performance.now()
        let problem: ProblemKind | undefined
        try {
          return await statements.run<Row>(statement)
        } catch (error) {
          problem = classifyProblem(error)
          // After an error of another kind than `value` and `unknown`, the connection may still deliver the result of
          // the failed statement: do not reuse the connection.
          broken ||= problem !== 'value' && problem !== 'unknown'
          if (problem === 'gone') throw error
          this.#noteProblem(problem, error)
          if (!scope.reportsFailures) this.#logFailure(error, statement, scope)
          throw queryError(error, problem)
        } finally {
          if (scope.isCounted) this.#noteEnd(statement, scope.caller, performance.now() - startedMs, problem)
        }
      },
      snapshot: async (work) => {
        await session.query(begin)
        statements.noteTransaction(true)
        try {
          const result = await work()
          await session.query(commit)
          statements.noteTransaction(false)
          return result
        } catch (error) {
          // The transaction is still open or has failed: do not reuse the connection.
          broken = true
          throw error
        }
      },
    }
    // A connection that fails between two statements emits `error`. Without a listener the process would crash.
    const onBreak = (): void => {
      broken = true
    }
    const free = (): void => {
      client.off('error', onBreak)
      this.#orphans.delete(client)
      client.release(broken || statements.isInterrupted)
      leave()
    }
    client.on('error', onBreak)
    try {
      return await work(session)
    } catch (error) {
      broken ||= !(error instanceof PronghornError)
      throw error
    } finally {
      const { settled } = statements
      if (!settled) free()
      else {
        this.#orphans.add(client)
        void settled.then(free)
      }
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
