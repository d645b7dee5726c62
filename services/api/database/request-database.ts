import type { DatabaseAddress } from '../../core/database/index.ts'
import { RetryableError } from '../../core/errors/index.ts'
import type { Logger } from '../../core/log/index.ts'
import { noDatabaseObserver, DatabaseServer } from './server.ts'
import type { DatabaseObserver, ServerLimits, ServerLoad, Session } from './server.ts'
import { defaultReplicaTiming, Replica, ReplicaWatch } from './replicas.ts'
import type { ReplicaState, ReplicaTiming } from './replicas.ts'
import { ReplicaRouter } from './router.ts'
import { completeScope } from './request-session.ts'
import type { WorkScope } from './request-session.ts'

/** Address of a replica. A member that is not set has the value of the primary's address. */
export interface ReplicaAddress {
  readonly host: string
  readonly port: number
  readonly user?: string | undefined
  readonly password?: string | undefined
  readonly database?: string | undefined
}

/** Settings of the database as requests see it. */
export interface RequestDatabaseSettings extends ServerLimits {
  readonly address: DatabaseAddress
  /** `sqldb.replicas` of the configuration. */
  readonly replicas?: readonly ReplicaAddress[]
  readonly observer?: DatabaseObserver
  /** Time limits for polling replicas. Only tests set them. */
  readonly replicaTiming?: Partial<ReplicaTiming>
  /** Source of random numbers for tests. */
  readonly random?: () => number
}

/** State of a database server. */
export interface ServerState {
  /** Name of the server: `primary`, or host and port of a replica. */
  readonly server: string
  readonly state: ReplicaState
  /** Lag behind the primary, ms; undefined if the lag is not known. */
  readonly lagMs: number | undefined
  /** Whether this process currently reads from the database server. */
  readonly isInUse: boolean
}

/**
 * Database access of requests: the primary or one of its replicas. Requests wait in a queue of limited length. While no
 * server answers, requests are refused at once. No request shows older data than an earlier request of this process.
 */
export interface RequestDatabase {
  /**
   * Runs read-only work on a connection. If the database server fails, the work runs again on another one.
   * @param scope client and limits of the work. Default: work of the API itself with the time limit of a request.
   * @throws RetryableError `DATABASE_BUSY` if no connection is free in time, `DATABASE_UNAVAILABLE` if no server
   * answers, `QUERY_TIMEOUT`, `CLIENT_GONE`.
   */
  run<T>(work: (session: Session) => Promise<T>, scope?: Partial<WorkScope>): Promise<T>
  /**
   * Refuses long (not brief) work of a client if the queue for connections is full and the client has the most waiting
   * requests. The refusal is logged and counted.
   * @returns a promise that resolves when the refusal shall be sent; undefined if the work is not refused.
   */
  turnAway(client: string): Promise<void> | undefined
  /**
   * Resolves when requests of every process show at least the data that is committed at the time of the call. The API
   * calls `caughtUp` between receiving a block and publishing the block to clients. Without replicas the promise
   * resolves at once.
   * @throws RetryableError `DATABASE_UNAVAILABLE` if the primary does not answer.
   */
  caughtUp(): Promise<void>
  /**
   * Sets whether the primary is available. The health monitor calls this. Requests do not use an unavailable primary.
   */
  setAvailable(available: boolean): void
  /** Whether the primary or a replica answers requests. */
  readonly available: boolean
  load(): readonly ServerLoad[]
  servers(): readonly ServerState[]
  close(): Promise<void>
}

/**
 * Opens the database access of requests. With replicas, the primary and all replicas are polled first. Without
 * replicas, no connection is opened before the first request.
 */
export async function openRequestDatabase(
  settings: RequestDatabaseSettings,
  logger: Logger,
): Promise<RequestDatabase> {
  const { address, replicas: addresses = [], observer = noDatabaseObserver } = settings
  const primary = new DatabaseServer('primary', address, settings, { logger, observer })
  const timing = { ...defaultReplicaTiming, ...settings.replicaTiming }
  const replicas = addresses.map((each) => {
    const full = replicaAddress(address, each)
    const server = new DatabaseServer(`${each.host}:${each.port}`, full, settings, { logger, observer })
    return new Replica(server, full, timing)
  })
  if (replicas.length === 0) return new SingleDatabase(primary, settings.maxQueryTimeMs)
  const watch = new ReplicaWatch(address, replicas, timing, logger)
  const { random = Math.random } = settings
  const router = new ReplicaRouter({ primary, watch, timing, logger, observer, random })
  await router.start()
  return new ReplicatedDatabase(primary, watch, router, settings.maxQueryTimeMs)
}

function replicaAddress(primary: DatabaseAddress, replica: ReplicaAddress): DatabaseAddress {
  const { host, port, user, password, database } = replica
  return {
    host,
    port,
    user: user ?? primary.user,
    password: password ?? primary.password,
    password_file: password === undefined ? primary.password_file : undefined,
    database: database ?? primary.database,
    ssl: primary.ssl,
  }
}

class SingleDatabase implements RequestDatabase {
  readonly #server: DatabaseServer
  readonly #maxTimeMs: number

  constructor(server: DatabaseServer, maxTimeMs: number) {
    this.#server = server
    this.#maxTimeMs = maxTimeMs
  }

  get available(): boolean {
    return this.#server.available
  }

  async run<T>(work: (session: Session) => Promise<T>, partial: Partial<WorkScope> = {}): Promise<T> {
    const scope = completeScope(partial, this.#maxTimeMs)
    // The database server is known to be unavailable, so do not retry: `run` refuses the work at once.
    if (!this.#server.available) return this.#server.run(work, scope)
    try {
      return await this.#server.run(work, scope)
    } catch (error) {
      if (!isUnavailable(error)) throw error
      // Only one connection has failed so far, so let a second attempt decide whether the database server is
      // unavailable.
      this.#server.available = true
      return this.#server.run(work, scope)
    }
  }

  turnAway(client: string): Promise<void> | undefined {
    return this.#server.turnAway(client)
  }

  caughtUp(): Promise<void> {
    return Promise.resolve()
  }

  setAvailable(available: boolean): void {
    if (available && !this.#server.available) this.#server.restored()
    else this.#server.available = available
  }

  load(): readonly ServerLoad[] {
    return [this.#server.load()]
  }

  servers(): readonly ServerState[] {
    return [primaryState(this.#server, true)]
  }

  close(): Promise<void> {
    return this.#server.close()
  }
}

class ReplicatedDatabase implements RequestDatabase {
  readonly #primary: DatabaseServer
  readonly #watch: ReplicaWatch
  readonly #router: ReplicaRouter
  readonly #maxTimeMs: number

  constructor(primary: DatabaseServer, watch: ReplicaWatch, router: ReplicaRouter, maxTimeMs: number) {
    this.#primary = primary
    this.#watch = watch
    this.#router = router
    this.#maxTimeMs = maxTimeMs
  }

  get available(): boolean {
    return this.#router.available
  }

  async run<T>(work: (session: Session) => Promise<T>, partial: Partial<WorkScope> = {}): Promise<T> {
    const scope = completeScope(partial, this.#maxTimeMs)
    const server = await this.#router.server()
    try {
      return await server.run(work, scope)
    } catch (error) {
      if (!isUnavailable(error)) throw error
      const other = await this.#otherThan(server, work, scope)
      if (!other) throw error
      return other.result
    }
  }

  async #otherThan<T>(
    server: DatabaseServer,
    work: (session: Session) => Promise<T>,
    scope: WorkScope,
  ): Promise<{ readonly result: T } | undefined> {
    // A replica may cancel a statement that conflicts with replication. The replica is still available then, so try the
    // statement again.
    if (server.available) {
      try {
        return { result: await server.run(work, scope) }
      } catch (error) {
        if (!isUnavailable(error)) throw error
      }
    }
    const other = this.#router.leave(server)
    return other && other !== server ? { result: await other.run(work, scope) } : undefined
  }

  turnAway(client: string): Promise<void> | undefined {
    return this.#router.current.turnAway(client)
  }

  caughtUp(): Promise<void> {
    return this.#router.caughtUp()
  }

  setAvailable(available: boolean): void {
    if (available && !this.#primary.available) this.#primary.restored()
    else this.#primary.available = available
    if (!available) this.#router.primaryFailed()
  }

  load(): readonly ServerLoad[] {
    return [this.#primary, ...this.#watch.replicas.map(({ server }) => server)].map((each) => each.load())
  }

  servers(): readonly ServerState[] {
    const { current } = this.#router
    return [
      primaryState(this.#primary, current === this.#primary),
      ...this.#watch.replicas.map(({ server, state, lagMs }) => ({
        server: server.name,
        state,
        lagMs: Number.isFinite(lagMs) ? lagMs : undefined,
        isInUse: server === current,
      })),
    ]
  }

  async close(): Promise<void> {
    await this.#router.close()
    await Promise.all(
      [this.#primary, ...this.#watch.replicas.map(({ server }) => server)].map((each) => each.close()),
    )
  }
}

function primaryState(server: DatabaseServer, isInUse: boolean): ServerState {
  return { server: server.name, state: server.available ? 'ready' : 'unavailable', lagMs: 0, isInUse }
}

function isUnavailable(error: unknown): boolean {
  return error instanceof RetryableError && error.code === 'DATABASE_UNAVAILABLE'
}
