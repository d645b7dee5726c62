import type { DatabaseAddress } from '../../core/database/index.ts'
import type { Logger } from '../../core/log/index.ts'
import { Backoff, pause } from '../../core/retry/index.ts'
import { hasReached, PositionProbe } from './position.ts'
import type { Position, ServerLook } from './position.ts'
import type { DatabaseServer } from './server.ts'

/** Time limits for polling replicas. Tests use shorter limits. */
export interface ReplicaTiming {
  /** Interval between two polls of the primary and all replicas, ms. */
  readonly lookMs: number
  /** Time limit of one poll of a database server, ms. */
  readonly lookTimeoutMs: number
  /** Maximum lag of a replica that requests read from, ms. */
  readonly maxLagMs: number
  /** Maximum time that `caughtUp` waits for the replicas, ms. */
  readonly caughtUpMs: number
}

/** Default time limits for polling replicas. */
export const defaultReplicaTiming: ReplicaTiming = {
  lookMs: 500,
  lookTimeoutMs: 1_000,
  maxLagMs: 2_000,
  caughtUpMs: 2_000,
}

/**
 * State of a replica. `ready`: requests may read from the replica. `behind`: the lag is too great. `unavailable`: the
 * replica does not answer, or the primary has never answered. `foreign`: the server is not a standby of this primary.
 */
export type ReplicaState = 'ready' | 'behind' | 'unavailable' | 'foreign'

/** Pauses between polls of a replica while a caller waits for the replica, ms. */
const pollPauses = { firstMs: 10, longestMs: 100 }
/**
 * Time for which positions of the primary in the write-ahead log are stored, ms. The lag of a replica is computed from
 * these positions.
 */
const HISTORY_MS = 60_000

/** A replica with its last known state and position. */
export class Replica {
  readonly server: DatabaseServer
  readonly probe: PositionProbe
  state: ReplicaState = 'unavailable'
  position: Position | undefined
  /**
   * Lag of the replica, computed from the stored positions of the primary, ms. Infinite if the replica is behind all
   * stored positions.
   */
  lagMs = Infinity

  constructor(server: DatabaseServer, address: DatabaseAddress, timing: ReplicaTiming) {
    this.server = server
    this.probe = new PositionProbe(address, timing.lookTimeoutMs)
  }
}

/** Polls the primary and its replicas, and decides which replicas requests may read from. */
export class ReplicaWatch {
  readonly replicas: readonly Replica[]
  readonly #primary: PositionProbe
  readonly #timing: ReplicaTiming
  readonly #logger: Logger
  readonly #history: { readonly atMs: number; readonly position: Position }[] = []
  #system: string | undefined
  /** Position in the write-ahead log that a replica must have reached before requests read from it. */
  #floor: Position | undefined
  /** Position of the primary in the write-ahead log at the last successful poll of the primary. */
  primaryPosition: Position | undefined
  primaryAnswers = false

  constructor(primary: DatabaseAddress, replicas: readonly Replica[], timing: ReplicaTiming, logger: Logger) {
    this.replicas = replicas
    this.#primary = new PositionProbe(primary, timing.lookTimeoutMs)
    this.#timing = timing
    this.#logger = logger
  }

  get ready(): readonly Replica[] {
    return this.replicas.filter(({ state }) => state === 'ready')
  }

  /** Polls the primary and every replica once, and updates the states of the replicas. */
  async look(): Promise<void> {
    const [primary, ...replicas] = await Promise.all([
      this.lookAtPrimary(),
      ...this.replicas.map((replica) => replica.probe.look()),
    ])
    this.primaryAnswers = primary !== undefined
    this.primaryPosition = primary ?? this.primaryPosition
    this.replicas.forEach((replica, at) => {
      this.#note(replica, replicas[at])
    })
  }

  /** Polls the primary. Returns undefined if the primary does not answer. */
  async lookAtPrimary(): Promise<Position | undefined> {
    const look = await this.#primary.look()
    // Ignore the server at the address of the primary if that server is a standby: only a primary identifies the
    // cluster.
    if (!look || look.isReplica) return undefined
    this.#system = look.system
    const atMs = performance.now()
    this.#history.push({ atMs, position: look.position })
    while (this.#history[0]!.atMs < atMs - HISTORY_MS) this.#history.shift()
    return look.position
  }

  /**
   * Polls one database server.
   * @param replica undefined for the primary.
   */
  async lookAt(replica: Replica | undefined): Promise<Position | undefined> {
    return replica ? (await replica.probe.look())?.position : this.lookAtPrimary()
  }

  /**
   * Waits until queries of all ready replicas see all data up to `wanted`. A replica that does not reach `wanted` in
   * time gets the state `behind`.
   */
  async untilReached(wanted: Position): Promise<void> {
    const deadlineMs = performance.now() + this.#timing.caughtUpMs
    await Promise.all(this.ready.map((replica) => this.#untilReachedBy(replica, wanted, deadlineMs)))
    if (!this.#floor || wanted.lsn > this.#floor.lsn) this.#floor = wanted
    for (const replica of this.ready) if (!this.#isAtFloor(replica)) this.#change(replica, 'behind')
  }

  async close(): Promise<void> {
    await Promise.all([this.#primary, ...this.replicas.map(({ probe }) => probe)].map((each) => each.close()))
  }

  async #untilReachedBy(replica: Replica, wanted: Position, deadlineMs: number): Promise<void> {
    const pauses = new Backoff(pollPauses)
    for (;;) {
      if (replica.position && hasReached(replica.position, wanted)) return
      const look = await replica.probe.look()
      if (look) replica.position = look.position
      if (look && hasReached(look.position, wanted)) return
      const pauseMs = pauses.nextDelayMs()
      if (replica.state !== 'ready' || performance.now() + pauseMs > deadlineMs) return
      await pause(pauseMs)
    }
  }

  #note(replica: Replica, look: ServerLook | undefined): void {
    replica.position = look?.position
    replica.lagMs = look ? this.#lagOf(look.position) : Infinity
    if (look && !replica.server.available) replica.server.restored()
    this.#change(replica, this.#judge(replica, look))
  }

  #judge(replica: Replica, look: ServerLook | undefined): ReplicaState {
    if (!look) return 'unavailable'
    // If the primary has never answered, no server can be recognised as its standby, so the replica is `unavailable`.
    if (!look.isReplica || look.system !== this.#system)
      return this.#system === undefined ? 'unavailable' : 'foreign'
    return replica.lagMs <= this.#timing.maxLagMs && this.#isAtFloor(replica) ? 'ready' : 'behind'
  }

  #isAtFloor({ position }: Replica): boolean {
    return !this.#floor || (position !== undefined && hasReached(position, this.#floor))
  }

  /** Age of the data that queries of a replica at `position` see, at the time of the primary's newest answer, ms. */
  #lagOf(position: Position): number {
    const latest = this.#history.at(-1)
    const reached = this.#history.findLast((past) => hasReached(position, past.position))
    return latest && reached ? latest.atMs - reached.atMs : Infinity
  }

  #change(replica: Replica, state: ReplicaState): void {
    if (state === replica.state) return
    replica.state = state
    const fields = { replica: replica.server.name, lagMs: Math.round(replica.lagMs) }
    if (state === 'ready') this.#logger.info(fields, 'the API reads from the replica again')
    if (state === 'behind') this.#logger.warn(fields, 'the replica is behind: the API does not read from it')
    if (state === 'unavailable')
      this.#logger.warn(fields, `the replica is unavailable: ${replica.probe.problem ?? ''}`)
    if (state === 'foreign') {
      this.#logger.error(fields, 'the server is not a standby of the primary: the API does not read from it')
    }
  }
}
