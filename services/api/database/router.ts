import { RetryableError } from '../../core/errors/index.ts'
import type { Logger } from '../../core/log/index.ts'
import { Backoff } from '../../core/retry/index.ts'
import type { DatabaseObserver, DatabaseServer } from './server.ts'
import { hasReached } from './position.ts'
import type { Replica, ReplicaTiming, ReplicaWatch } from './replicas.ts'

/**
 * While the process switches to another database server, new requests wait for running requests to finish, but not
 * longer than this, ms.
 */
const GAP_MS = 100
/**
 * Wait before the next switch, ms, if the last switch failed or did not last. The wait begins with `firstMs` and
 * doubles up to `longestMs`.
 */
const changePauses = { firstMs: 1_000, longestMs: 30_000 }
/** Maximum number of polls at the start, before the first database server is chosen. */
const FIRST_LOOKS = 3
/** A switch counts as successful if the process reads from the new database server for at least this time, ms. */
const LASTING_MS = 60_000

/** Dependencies of the `ReplicaRouter`, which chooses the database server that the process reads from. */
export interface RouterParts {
  readonly primary: DatabaseServer
  readonly watch: ReplicaWatch
  readonly timing: ReplicaTiming
  readonly logger: Logger
  readonly observer: DatabaseObserver
  /** Returns a random number, 0 inclusive to 1 exclusive. */
  readonly random: () => number
}

/**
 * Picks the database server that this process reads from. At any time the process reads from one database server only,
 * so that no request shows older data than an earlier request.
 *
 * If a replica fails or lags, the process switches to the primary. The process switches back to a replica only in a
 * pause between requests, and only if queries of the replica see all data that queries of the primary have seen.
 */
export class ReplicaRouter {
  readonly #parts: RouterParts
  /** Replica that the process reads from; undefined means the primary. */
  #current: Replica | undefined
  #gap: Promise<void> | undefined
  readonly #pauses = new Backoff(changePauses)
  #nextChangeMs = 0
  #sinceMs = 0
  #timer: NodeJS.Timeout | undefined
  #looking: Promise<void> = Promise.resolve()
  #catchingUp: { readonly running: Promise<void>; next: Promise<void> | undefined } | undefined
  #isClosed = false
  #known: ReadonlySet<Replica> = new Set()

  constructor(parts: RouterParts) {
    this.#parts = parts
  }

  /**
   * Polls the database servers, and picks the server that this process reads from. No request has been answered yet, so
   * any ready replica may be picked.
   */
  async start(): Promise<void> {
    const { watch, timing } = this.#parts
    // One poll shows the lag of a replica only if the replica has reached the position of the primary, so poll up to
    // FIRST_LOOKS times.
    for (let looks = 1; ; looks++) {
      await watch.look()
      if (looks === FIRST_LOOKS || watch.ready.length === watch.replicas.length) break
      await new Promise((resolve) => setTimeout(resolve, timing.lookMs))
    }
    this.#known = new Set(watch.ready)
    const chosen = this.#pick(watch.ready)
    if (chosen) this.#goTo(chosen)
    this.#plan()
  }

  /** Returns the database server to read from. Waits while the process switches to another one. */
  async server(): Promise<DatabaseServer> {
    while (this.#gap) await this.#gap
    return this.current
  }

  get current(): DatabaseServer {
    return this.#current?.server ?? this.#parts.primary
  }

  /** Whether the database server that the process reads from answers requests. */
  get available(): boolean {
    return this.current.available
  }

  /**
   * Called when a read from a database server has failed.
   * @returns the server to read from instead; undefined if there is none.
   */
  leave(server: DatabaseServer): DatabaseServer | undefined {
    if (server !== this.current) return this.current
    if (this.#current) this.#pause(performance.now() - this.#sinceMs > LASTING_MS)
    if (this.#current && this.#parts.primary.available) this.#goTo(undefined)
    else {
      const left = this.#withoutPrimary()
      if (!left) return undefined
      this.#goTo(left)
    }
    return this.current
  }

  /** Called when the primary does not answer. */
  primaryFailed(): void {
    if (!this.#current) this.leave(this.#parts.primary)
  }

  /**
   * Finds a replica to read from while the primary is unavailable. Without the primary nothing is written, so a replica
   * that has reached the last known position of the primary is up to date.
   */
  #withoutPrimary(): Replica | undefined {
    const { primaryPosition, replicas } = this.#parts.watch
    if (!primaryPosition) return undefined
    return replicas.find(
      (replica) =>
        replica !== this.#current &&
        replica.server.available &&
        replica.position &&
        hasReached(replica.position, primaryPosition),
    )
  }

  #pause(isNew: boolean): void {
    if (isNew) this.#pauses.reset()
    this.#nextChangeMs = performance.now() + this.#pauses.nextDelayMs()
  }

  /**
   * Resolves when queries of every database server that this process may read from see all data that the primary has
   * now.
   * @throws RetryableError `DATABASE_UNAVAILABLE` if the primary does not answer.
   */
  caughtUp(): Promise<void> {
    const catching = this.#catchingUp
    // The running poll may have read the position of the primary before the data of this call was written, so poll
    // again.
    if (catching)
      return (catching.next ??= catching.running.catch(() => undefined).then(() => this.caughtUp()))
    const running = this.#catchUp().finally(() => {
      this.#catchingUp = undefined
    })
    this.#catchingUp = { running, next: undefined }
    return running
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#timer)
    await this.#looking
    await this.#parts.watch.close()
  }

  async #catchUp(): Promise<void> {
    const { watch } = this.#parts
    const wanted = await watch.lookAtPrimary()
    if (!wanted) throw new RetryableError('DATABASE_UNAVAILABLE', 'the primary does not answer')
    await watch.untilReached(wanted)
    if (this.#current && this.#current.state !== 'ready') this.leave(this.#current.server)
  }

  #plan(): void {
    if (this.#isClosed) return
    const { timing, random } = this.#parts
    // The interval is random: polls in step with the blocks would always see a replica at the same phase of its replay.
    this.#timer = setTimeout(
      () => {
        this.#looking = this.#look()
          .catch((error: unknown) => {
            this.#parts.logger.error({ err: error }, 'the replicas could not be checked')
          })
          .finally(() => {
            this.#plan()
          })
      },
      timing.lookMs * (0.8 + 0.4 * random()),
    )
  }

  async #look(): Promise<void> {
    const { watch, primary } = this.#parts
    await watch.look()
    const joined = watch.ready.filter((replica) => !this.#known.has(replica))
    this.#known = new Set(watch.ready)
    if (this.#current) {
      const isUseless = watch.primaryAnswers
        ? this.#current.state !== 'ready'
        : this.#current.state === 'unavailable'
      if (isUseless) this.leave(this.#current.server)
      // A process moves to a new replica with a probability that spreads the processes evenly over the ready replicas.
      else if (joined.length > 0 && this.#parts.random() < joined.length / watch.ready.length) {
        await this.#changeTo(this.#pick(joined)!)
      }
      return
    }
    if (!primary.available) this.primaryFailed()
    const { primaryPosition } = watch
    if (!primaryPosition) return
    const level = watch.ready.filter(({ position }) => position && hasReached(position, primaryPosition))
    const chosen = this.#pick(level)
    if (chosen && performance.now() >= this.#nextChangeMs) await this.#changeTo(chosen)
  }

  /**
   * Switches to a replica in a pause between requests, if the replica has reached the position of the server that the
   * process read from until then.
   */
  async #changeTo(next: Replica): Promise<void> {
    let open: () => void = () => undefined
    this.#gap = new Promise((resolve) => {
      open = resolve
    })
    const before = this.#current
    let isDone = false
    try {
      if (await this.current.drained(GAP_MS)) {
        const shown = await this.#parts.watch.lookAt(before)
        const reached = shown && (await this.#parts.watch.lookAt(next))
        isDone = this.#current === before && reached !== undefined && hasReached(reached, shown!)
      }
    } finally {
      if (isDone) this.#goTo(next)
      this.#gap = undefined
      open()
    }
    if (!isDone) this.#pause(false)
  }

  #goTo(next: Replica | undefined): void {
    this.#current = next
    this.#sinceMs = performance.now()
    const { logger, observer } = this.#parts
    logger.info({ server: this.current.name }, 'the API reads from this database server now')
    observer.wentOver(this.current.name)
  }

  #pick(replicas: readonly Replica[]): Replica | undefined {
    return replicas[Math.floor(this.#parts.random() * replicas.length)]
  }
}
