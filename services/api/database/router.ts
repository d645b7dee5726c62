import { RetryableError } from '../../core/errors/index.ts'
import type { Logger } from '../../core/log/index.ts'
import { Backoff } from '../../core/retry/index.ts'
import type { DatabaseObserver, DatabaseServer } from './server.ts'
import { hasReached } from './position.ts'
import type { Replica, ReplicaTiming, ReplicaWatch } from './replicas.ts'

/** While the process switches servers, new requests wait up to this long for running requests to finish, ms. */
const GAP_MS = 100
/**
 * Pauses before the next switch, ms, after a switch that failed or did not last: the first pause, doubled each time up
 * to the longest.
 */
const changePauses = { firstMs: 1_000, longestMs: 30_000 }
/** Polls at the start, before a replica is chosen. */
const FIRST_LOOKS = 3
/** After this time on a server, the switch to it counts as successful, ms. */
const LASTING_MS = 60_000

/** Dependencies of a `ReplicaRouter`. */
export interface RouterParts {
  readonly primary: DatabaseServer
  readonly watch: ReplicaWatch
  readonly timing: ReplicaTiming
  readonly logger: Logger
  readonly observer: DatabaseObserver
  /** Random number, 0 inclusive to 1 exclusive. */
  readonly random: () => number
}

/**
 * Picks the server that this process reads from: one at a time, so that no request shows older data than an earlier
 * one. If a replica fails or lags, it switches to the primary. It switches back to a replica only in a pause between
 * requests, when the replica shows everything that the primary has shown.
 */
export class ReplicaRouter {
  readonly #parts: RouterParts
  /** Server that is read from; undefined means the primary. */
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
   * Polls the servers and picks the first one. Nothing has been shown yet, so any ready replica may be picked at once.
   */
  async start(): Promise<void> {
    const { watch, timing } = this.#parts
    // A single poll gives the lag of a replica only if it shows everything.
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

  /** The server to read from. Waits while the process switches servers. */
  async server(): Promise<DatabaseServer> {
    while (this.#gap) await this.#gap
    return this.current
  }

  get current(): DatabaseServer {
    return this.#current?.server ?? this.#parts.primary
  }

  /** Whether the current server answers requests. */
  get available(): boolean {
    return this.current.available
  }

  /**
   * Called after a server failed during a read.
   * @returns the server to read from instead, if there is one.
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

  /** Called if the primary does not answer. */
  primaryFailed(): void {
    if (!this.#current) this.leave(this.#parts.primary)
  }

  /**
   * A replica to use while the primary is down: nothing new is written, so any replica that has everything is up to
   * date.
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
   * Resolves when every server that this process may read from shows everything that the primary shows now.
   * @throws RetryableError `DATABASE_UNAVAILABLE` if the primary does not answer.
   */
  caughtUp(): Promise<void> {
    const catching = this.#catchingUp
    // The running check may have polled the primary before the caller's data was written: start another one after it.
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
    // Random interval: polls in step with the blocks would see a replica at the same phase of its replay every time.
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
      // Requests that stay on their server and requests that move to another server together use the replicas evenly.
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

  /** Switches to a replica in a pause between requests, if the replica shows everything that was shown until then. */
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
    logger.info({ server: this.current.name }, 'the API reads from this server now')
    observer.wentOver(this.current.name)
  }

  #pick(replicas: readonly Replica[]): Replica | undefined {
    return replicas[Math.floor(this.#parts.random() * replicas.length)]
  }
}
