import type { DatabaseAddress } from '../../core/database/index.ts'
import type { Logger } from '../../core/log/index.ts'
import { Backoff, pause } from '../../core/retry/index.ts'
import { hasReached, PositionProbe } from './position.ts'
import type { Position, ServerLook } from './position.ts'
import type { DatabaseServer } from './server.ts'

/** Times in milliseconds; tests shorten them. */
export interface ReplicaTiming {
  /** Between two polls of all servers, ms. */
  readonly lookMs: number
  /** A check that takes longer has failed. */
  readonly lookTimeoutMs: number
  /** A replica that is further behind the primary is not read from. */
  readonly maxLagMs: number
  /** Longest that `caughtUp` waits for the replicas. */
  readonly caughtUpMs: number
}

/** The configured times. */
export const defaultReplicaTiming: ReplicaTiming = {
  lookMs: 500,
  lookTimeoutMs: 1_000,
  maxLagMs: 2_000,
  caughtUpMs: 2_000,
}

/** How a replica is: `ready` to be read from, too far `behind`, `unavailable`, or `foreign`: no standby of this primary. */
export type ReplicaState = 'ready' | 'behind' | 'unavailable' | 'foreign'

/** Between two polls of a replica that somebody waits for. */
const pollPauses = { firstMs: 10, longestMs: 100 }
/** How long the primary's positions are remembered, to compute the lag of a replica, ms. */
const HISTORY_MS = 60_000

/** A replica and what is known of it. */
export class Replica {
  readonly server: DatabaseServer
  readonly probe: PositionProbe
  state: ReplicaState = 'unavailable'
  position: Position | undefined
  /** Lag by the primary's remembered positions; infinite when it is behind all of them. */
  lagMs = Infinity

  constructor(server: DatabaseServer, address: DatabaseAddress, timing: ReplicaTiming) {
    this.server = server
    this.probe = new PositionProbe(address, timing.lookTimeoutMs)
  }
}

/** Follows where the primary and its replicas are. */
export class ReplicaWatch {
  readonly replicas: readonly Replica[]
  readonly #primary: PositionProbe
  readonly #timing: ReplicaTiming
  readonly #logger: Logger
  readonly #history: { readonly atMs: number; readonly position: Position }[] = []
  #system: string | undefined
  /** Everything that is read from must show at least this. */
  #floor: Position | undefined
  /** Where the primary was at the last look that it answered. */
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

  /** Looks at every server once and judges the replicas. */
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

  /** Where the primary is now; undefined when it does not answer. */
  async lookAtPrimary(): Promise<Position | undefined> {
    const look = await this.#primary.look()
    // A standby at the primary's address does not identify the primary.
    if (!look || look.isReplica) return undefined
    this.#system = look.system
    const atMs = performance.now()
    this.#history.push({ atMs, position: look.position })
    while (this.#history[0]!.atMs < atMs - HISTORY_MS) this.#history.shift()
    return look.position
  }

  /** Where a server is now, `undefined` naming the primary. */
  async lookAt(replica: Replica | undefined): Promise<Position | undefined> {
    return replica ? (await replica.probe.look())?.position : this.lookAtPrimary()
  }

  /**
   * Waits until every replica that is ready shows what `wanted` does. One that does not in time is behind until it
   * does.
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
    // Replicas can only be compared with a known primary.
    if (!look.isReplica || look.system !== this.#system)
      return this.#system === undefined ? 'unavailable' : 'foreign'
    return replica.lagMs <= this.#timing.maxLagMs && this.#isAtFloor(replica) ? 'ready' : 'behind'
  }

  #isAtFloor({ position }: Replica): boolean {
    return !this.#floor || (position !== undefined && hasReached(position, this.#floor))
  }

  /** Age of what a replica shows, at the time of the newest look that the primary answered. */
  #lagOf(position: Position): number {
    const latest = this.#history.at(-1)
    const reached = this.#history.findLast((past) => hasReached(position, past.position))
    return latest && reached ? latest.atMs - reached.atMs : Infinity
  }

  #change(replica: Replica, state: ReplicaState): void {
    if (state === replica.state) return
    replica.state = state
    const fields = { replica: replica.server.name, lagMs: Math.round(replica.lagMs) }
    if (state === 'ready') this.#logger.info(fields, 'the replica can be read from')
    if (state === 'behind') this.#logger.warn(fields, 'the replica is behind and is not read from')
    if (state === 'unavailable')
      this.#logger.warn(fields, `the replica is unavailable: ${replica.probe.problem ?? ''}`)
    if (state === 'foreign') {
      this.#logger.error(fields, 'the server is no standby of the primary and is not read from')
    }
  }
}
