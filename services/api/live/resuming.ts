import { setImmediate } from 'node:timers/promises'
import { cursorAfter, encodeCursor, forkOfHolder, survivor } from '../../core/feed-reader/index.ts'
import type { FeedCursor } from '../../core/feed-reader/index.ts'
import { describeError, PronghornError } from '../../core/errors/index.ts'
import type { FeedBlock, FeedFork, FeedGap } from '../../core/feed/index.ts'
import type { Logger } from '../../core/log/index.ts'
import { pause } from '../../core/retry/index.ts'
import type { BlockEvents } from './block-events.ts'
import type { Channel } from './channel.ts'
import { cursorText, sayBegun } from './client.ts'
import type { LiveClient, Subscription } from './client.ts'
import type { ReaderHub } from './hub.ts'
import type { LiveObserver } from './observer.ts'
import { errorMessage, message } from './outgoing.ts'
import { compareEvents, lowestOf, nextEvent, samePlace } from './places.ts'
import { receiversOf } from './resumed-receivers.ts'
import { ClientTurns } from './client-turns.ts'
import { isRead } from './slow-client.ts'

/** Time limits for sending missed events to resuming clients. */
export interface ResumeTiming {
  /** Maximum duration of one turn of a client, ms. */
  readonly turnMs: number
  /**
   * Pause after the first `subscribed`, ms. Subscriptions that the client adds during the pause are resumed together.
   */
  readonly gatherMs: number
  /** Interval of `waiting` messages to a client that waits for a turn, ms. */
  readonly noticeMs: number
  /** Maximum wait of a client for a turn, ms. After that time the client is disconnected. */
  readonly waitMs: number
}

/** Default time limits of resuming. Tests replace some of them. */
export const resumeTiming: ResumeTiming = { turnMs: 20, gatherMs: 100, noticeMs: 2_000, waitMs: 30_000 }

/** Maximum time for which sending may block the event loop, ms. */
const STRETCH_MS = 10
/**
 * A turn ends when more bytes than this are buffered for the client; the client has to read them before its next turn.
 */
const PIECE_BYTES = 256 * 1024

export interface ResumerOptions {
  readonly logger: Logger
  readonly observer: LiveObserver
  readonly hubOf: (channel: Channel) => ReaderHub | undefined
  /** Time limits of resuming that replace the defaults. Only tests set them. */
  readonly timing?: Partial<ResumeTiming> | undefined
}

/** State of a resuming client. */
interface Resume {
  readonly client: LiveClient
  readonly channel: Channel
  readonly hub: ReaderHub
  /** Time when the client began to wait for a turn; undefined during a turn and while the client reads. */
  waitingSinceMs: number | undefined
}

/**
 * Continuation of a client's resuming after a turn. `again`: another turn at once. `read`: another turn after the
 * client has read its messages. `gather`: a pause, so that further new subscriptions resume together. `ahead`: a pause,
 * because a cursor is ahead of the entries that this process has read. `done`: no further turn.
 */
type Next = 'again' | 'read' | 'gather' | 'ahead' | 'done'

/**
 * Sends clients the events that they missed, as fast as they read, until they have reached the position of the feed.
 */
export class Resumer {
  readonly #options: ResumerOptions
  readonly #timing: ResumeTiming
  readonly #turns = new ClientTurns()
  readonly #resumes = new Map<LiveClient, Resume>()
  readonly #pulse: NodeJS.Timeout

  constructor(options: ResumerOptions) {
    this.#options = options
    this.#timing = { ...resumeTiming, ...options.timing }
    this.#pulse = setInterval(() => this.#notify(), this.#timing.noticeMs)
    this.#pulse.unref()
  }

  close(): void {
    clearInterval(this.#pulse)
  }

  /**
   * Sends a client all events after the positions of its subscriptions. Has no effect if the client is already
   * resuming.
   */
  resume(channel: Channel, client: LiveClient): void {
    if (this.#resumes.has(client)) return
    const hub = this.#options.hubOf(channel)
    if (!hub) return
    const resume: Resume = { client, channel, hub, waitingSinceMs: undefined }
    this.#resumes.set(client, resume)
    const isBusy = this.#turns.isBusy
    this.#ask(resume)
    if (isBusy) this.#sendWaiting(resume)
  }

  #ask(resume: Resume): void {
    resume.waitingSinceMs = performance.now()
    this.#turns.ask(resume.client.address, () => this.#take(resume))
  }

  /** Sends `waiting` to clients that wait for a turn. Disconnects clients that have waited too long. */
  #notify(): void {
    const nowMs = performance.now()
    for (const resume of this.#resumes.values()) {
      if (resume.waitingSinceMs === undefined) continue
      const waitedMs = nowMs - resume.waitingSinceMs
      if (waitedMs > this.#timing.waitMs) {
        resume.client.dismiss(
          'UNAVAILABLE',
          `the server could not send the missed events within ${this.#timing.waitMs / 1_000} s`,
        )
      } else if (waitedMs >= this.#timing.noticeMs / 2) this.#sendWaiting(resume)
    }
  }

  #sendWaiting({ client }: Resume): void {
    client.send(message('waiting', { clients: this.#turns.waiting }))
  }

  async #take(resume: Resume): Promise<void> {
    const { client } = resume
    resume.waitingSinceMs = undefined
    if (isGone(client)) {
      this.#resumes.delete(client)
      return
    }
    try {
      const join = (): void => void this.#resumes.delete(client)
      const next = await new ResumeTurn(resume, this.#timing.turnMs, join).run()
      if (next !== 'done') void this.#continue(resume, next)
      else if (isGone(client)) this.#resumes.delete(client)
    } catch (error) {
      this.#resumes.delete(client)
      this.#options.logger.warn({ err: describeError(error) }, 'the missed events of a client cannot be sent')
      client.dismiss('UNAVAILABLE', 'missed events cannot be read now')
    }
  }

  /** Waits until the client is ready for another turn, and queues the turn. */
  async #continue(resume: Resume, next: Exclude<Next, 'done'>): Promise<void> {
    const { client } = resume
    if (next === 'gather' || next === 'ahead') await pause(this.#timing.gatherMs, client.left)
    else if (next === 'read' && !(await isRead(client.connection))) {
      this.#resumes.delete(client)
      this.#options.observer.cut(client.connection.transport, 'slow')
      client.dismiss('TOO_SLOW', 'the client does not read its messages')
      return
    }
    this.#ask(resume)
  }
}

/** One turn of a resuming client. */
class ResumeTurn {
  readonly #client: LiveClient
  readonly #channel: Channel
  readonly #hub: ReaderHub
  readonly #endMs: number
  readonly #onJoin: () => void

  /** @param onJoin called when the client has received all missed events and becomes live. */
  constructor({ client, channel, hub }: Resume, turnMs: number, onJoin: () => void) {
    this.#onJoin = onJoin
    this.#client = client
    this.#channel = channel
    this.#hub = hub
    this.#endMs = performance.now() + turnMs
  }

  async run(): Promise<Next> {
    if (await this.#begin()) return 'gather'
    let yieldedMs = performance.now()
    while (this.#client.connection.isOpen) {
      const next = await this.#step()
      if (next) return next
      if (this.#client.connection.waitingBytes > PIECE_BYTES) return 'read'
      if (performance.now() > this.#endMs) return 'again'
      if (performance.now() - yieldedMs < STRETCH_MS) continue
      await setImmediate()
      yieldedMs = performance.now()
    }
    return 'done'
  }

  get #all(): Subscription[] {
    return [...this.#client.subscriptions.values()]
  }

  /**
   * Checks the cursors of new subscriptions and sends `subscribed`.
   * @returns whether the client had new subscriptions.
   */
  async #begin(): Promise<boolean> {
    const waiting = this.#all.filter(({ isBegun }) => !isBegun)
    for (const subscription of waiting) {
      const cursor = subscription.place
      const refusal = cursor && (await this.#check(cursor))
      if (refusal) this.#refuse(subscription, refusal)
      else sayBegun(subscription)
    }
    return waiting.length > 0
  }

  /** Checks a cursor. Returns an error if the events after the cursor are no longer stored. */
  async #check(cursor: FeedCursor): Promise<PronghornError | undefined> {
    try {
      await this.#hub.history.check(cursor)
      return undefined
    } catch (error) {
      if (error instanceof PronghornError && error.code === 'CURSOR_TOO_OLD') return error
      throw error
    }
  }

  /** Reports a cursor that is too old, and moves the subscription to the position of the feed. */
  #refuse(subscription: Subscription, { details }: PronghornError): void {
    const { position } = this.#hub
    const { oldest } = details as { oldest?: string | null }
    subscription.place = position
    if (!subscription.isBegun) sayBegun(subscription)
    const text = 'the events after this cursor are no longer stored; events continue from now'
    const members = { id: subscription.id, oldest_cursor: oldest ?? null }
    this.#client.sendTo([subscription], errorMessage('CURSOR_TOO_OLD', text, members, cursorText(position)))
  }

  /**
   * Moves the subscriptions with the lowest position one entry ahead.
   * @returns the continuation (`Next`) if the turn ends; undefined if another call of `#step` continues the turn.
   */
  async #step(): Promise<Next | undefined> {
    const { position, history } = this.#hub
    const all = this.#all
    if (all.some(({ isBegun }) => !isBegun)) return (await this.#begin()) ? 'gather' : undefined
    const place = lowestOf(all)
    if (!place || !position) return this.#join(position)
    if (samePlace(place, position)) {
      // Not every subscription may be at the position of the feed: one may have a cursor from another process, at an
      // entry that this process has not read yet.
      return all.every((each) => each.place && samePlace(each.place, position))
        ? this.#join(position)
        : 'ahead'
    }
    const walking = all.filter((each) => each.place && samePlace(each.place, place))
    if (place.epoch !== position.epoch) {
      const error = await history.pruned()
      for (const each of walking) this.#refuse(each, error)
      return undefined
    }
    // The cursor comes from another process, which has published more entries than this process has read.
    if (compareEvents(nextEvent(place), nextEvent(position)) > 0) return 'ahead'
    const forks = await history.forksAfter(place.sequence)
    const undoneFrom = forks.undoneFrom(place.sequence)
    if (this.#sendForks(walking, undoneFrom, () => forks.after(place.sequence))) return undefined
    const { sequence } = nextEvent(place)
    const entry = history.peek(sequence) ?? (await history.read(sequence))
    if (entry === undefined) {
      const error = await history.pruned()
      for (const each of walking) this.#refuse(each, error)
      return undefined
    }
    const isKnown = entry !== 'unreadable'
    const left = isKnown ? survivor(entry, forks.undoneFrom(sequence)) : null
    if (left?.kind === 'block') await this.#sendEvents(left, walking, place)
    else if (left?.kind === 'gap') this.#sendGap(left, walking)
    else for (const each of walking) each.place = { ...each.place!, sequence, seen: null }
    return undefined
  }

  /** Makes the client live. The channel then sends all further entries to the client. */
  #join(position: FeedCursor | undefined): Next {
    this.#client.stand(undefined)
    this.#client.state = 'live'
    this.#onJoin()
    this.#client.send(message('position', {}, cursorText(position)))
    return 'done'
  }

  /**
   * Sends `fork` to subscriptions that have received events of undone blocks, and moves their cursors back.
   * @returns whether any cursor was moved.
   */
  #sendForks(
    walking: readonly Subscription[],
    undoneFrom: number,
    forks: () => Parameters<typeof forkOfHolder>[1],
  ): boolean {
    const concerned = walking.filter(({ place }) => undoneFrom <= place!.block)
    const after = concerned.length === 0 ? [] : forks()
    const byEntry = new Map<string, { fork: FeedFork; subscriptions: Subscription[] }>()
    for (const each of concerned) {
      const fork = forkOfHolder(each.place!, after)
      if (!fork) continue
      const same = byEntry.get(fork.sequence)
      if (same) same.subscriptions.push(each)
      else byEntry.set(fork.sequence, { fork, subscriptions: [each] })
    }
    for (const { fork, subscriptions } of byEntry.values()) {
      const cursor = cursorAfter(fork)
      const notice = message('fork', { block_num: fork.block_num }, encodeCursor(cursor))
      this.#client.sendTo(subscriptions, notice)
      for (const each of subscriptions) each.place = cursor
    }
    return byEntry.size > 0
  }

  #sendGap(gap: FeedGap, walking: readonly Subscription[]): void {
    const { from_block, to_block } = gap
    const cursor = cursorAfter(gap)
    this.#client.sendTo(walking, message('gap', { from_block, to_block }, encodeCursor(cursor)))
    for (const each of walking) each.place = cursor
  }

  async #sendEvents(block: FeedBlock, walking: readonly Subscription[], place: FeedCursor): Promise<void> {
    const events = this.#hub.eventsOf(block, this.#channel)
    const filters = [...new Set(walking.map(({ filter }) => filter))]
    await events.readKeysFor(filters)
    const from = place.seen ?? 0
    const end = this.#endOf(block, walking, from)
    const wanted = events.hitsOfAny(filters).filter(({ index }) => index >= from && index < end)
    const isWhole = from === 0 && end === block.events.length && walking.length === this.#all.length
    if (wanted.length > 0) {
      const loaded = await events.load(wanted)
      const { connection } = this.#client
      const batch =
        isWhole && loaded.length === wanted.length
          ? await events.batch(connection.format, filters)
          : undefined
      // While the records were read, the client has replaced or removed a subscription of `walking`, so the lowest
      // position has to be determined again.
      if (walking.some((each) => this.#client.subscriptions.get(each.id) !== each)) return
      if (batch && walking.length === this.#client.subscriptions.size) {
        if (connection.isOpen) connection.write(batch.bytes)
        this.#client.cursorSentMs = performance.now()
      } else {
        const sent = this.#sendSome(events, loaded, walking)
        if (sent < wanted.length) {
          const cursor = cursorAfter(block, wanted[sent - 1]!.index + 1)
          for (const each of walking) each.place = cursor
          return
        }
      }
    }
    const cursor = cursorAfter(block, end === block.events.length ? null : end)
    for (const each of walking) each.place = cursor
  }

  /**
   * Returns the index of the event of `block` before which sending stops. Sending stops at the end of the block, or
   * earlier at the position of a subscription that is already within the block.
   */
  #endOf(block: FeedBlock, walking: readonly Subscription[], from: number): number {
    const within = this.#all.flatMap((each) => {
      const { sequence, index } = nextEvent(each.place!)
      const isAfter = !walking.includes(each) && sequence === BigInt(block.sequence) && index > from
      return isAfter ? index : []
    })
    return Math.min(block.events.length, ...within)
  }

  /**
   * Sends events to the client until PIECE_BYTES are buffered or STRETCH_MS have passed.
   * @returns the number of processed events, at least one.
   */
  #sendSome(
    events: BlockEvents,
    loaded: Awaited<ReturnType<BlockEvents['load']>>,
    walking: readonly Subscription[],
  ): number {
    const { connection } = this.#client
    const untilMs = performance.now() + STRETCH_MS
    let sent = 0
    for (const event of loaded) {
      if (sent > 0 && (connection.waitingBytes > PIECE_BYTES || performance.now() > untilMs)) break
      const receivers = receiversOf(events, event, walking, this.#client)
      if (receivers.length > 0) this.#client.sendTo(receivers, event.message)
      sent++
    }
    return sent
  }
}

function isGone({ connection, left }: LiveClient): boolean {
  return !connection.isOpen || left.aborted
}
