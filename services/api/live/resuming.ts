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
import type { PlacedEvent } from './live-event.ts'
import type { LiveObserver } from './observer.ts'
import { errorMessage, message } from './outgoing.ts'
import { compareEvents, lowestOf, nextEvent, samePlace } from './places.ts'
import { ResumeTurns } from './resume-turns.ts'
import { isRead } from './slow-client.ts'

/** Times of resuming. */
export interface ResumeTiming {
  /** Longest turn of a client, ms. */
  readonly turnMs: number
  /** Pause after the first `subscribed`, in which further subscriptions begin at the same place, ms. */
  readonly gatherMs: number
  /** Interval of the `waiting` notices of a client that waits for its turn, ms. */
  readonly noticeMs: number
  /** Longest wait for a turn, ms. */
  readonly waitMs: number
}

/** The times that are used unless a test has others. */
export const resumeTiming: ResumeTiming = { turnMs: 20, gatherMs: 100, noticeMs: 2_000, waitMs: 30_000 }

/** How long sending may delay requests before it yields to them, ms. */
const STRETCH_MS = 10
/** A client is not sent more at once before it has read, bytes. */
const PIECE_BYTES = 256 * 1024

/** What resuming needs. */
export interface ResumerOptions {
  readonly logger: Logger
  readonly observer: LiveObserver
  readonly hubOf: (channel: Channel) => ReaderHub | undefined
  /** For tests. */
  readonly timing?: Partial<ResumeTiming> | undefined
}

/** A client that resumes. */
interface Resume {
  readonly client: LiveClient
  readonly channel: Channel
  readonly hub: ReaderHub
  /** Since when it has been waiting for its turn; undefined during a turn, and while it reads. */
  waitingSinceMs: number | undefined
}

/** What comes after a turn: another one at once, or after the client has read, or after a pause; or nothing. */
type Next = 'again' | 'read' | 'gather' | 'ahead' | 'done'

/** Gives clients what they missed, at the speed at which they read it, until they stand where the feed does. */
export class Resumer {
  readonly #options: ResumerOptions
  readonly #timing: ResumeTiming
  readonly #turns = new ResumeTurns()
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

  /** Gives a client everything after the places of its subscriptions; it may be resuming already. */
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

  /** Tells those who wait so; one that has waited for too long goes. */
  #notify(): void {
    const nowMs = performance.now()
    for (const resume of this.#resumes.values()) {
      if (resume.waitingSinceMs === undefined) continue
      const waitedMs = nowMs - resume.waitingSinceMs
      if (waitedMs > this.#timing.waitMs) {
        resume.client.dismiss('UNAVAILABLE', `no turn to resume within ${this.#timing.waitMs / 1_000} s`)
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
      this.#options.logger.warn({ err: describeError(error) }, 'a client cannot be given what it missed')
      client.dismiss('UNAVAILABLE', 'missed events cannot be read now')
    }
  }

  /** Waits for what the client needs before its next turn. */
  async #continue(resume: Resume, next: Exclude<Next, 'done'>): Promise<void> {
    const { client } = resume
    if (next === 'gather' || next === 'ahead') await pause(this.#timing.gatherMs, client.left)
    else if (next === 'read' && !(await isRead(client.connection))) {
      this.#resumes.delete(client)
      this.#options.observer.cut(client.connection.transport, 'slow')
      client.dismiss('TOO_SLOW', 'what is sent is not read')
      return
    }
    this.#ask(resume)
  }
}

/** One turn of a client. */
class ResumeTurn {
  readonly #client: LiveClient
  readonly #channel: Channel
  readonly #hub: ReaderHub
  readonly #endMs: number
  readonly #onJoin: () => void

  /** @param onJoin called when the client has got everything. */
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

  /** Checks the cursors of new subscriptions and says that they begin. @returns whether there were any. */
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

  /** Why a cursor cannot be resumed from. */
  async #check(cursor: FeedCursor): Promise<PronghornError | undefined> {
    try {
      await this.#hub.history.check(cursor)
      return undefined
    } catch (error) {
      if (error instanceof PronghornError && error.code === 'CURSOR_TOO_OLD') return error
      throw error
    }
  }

  /** A subscription whose cursor is too old begins where the feed is. */
  #refuse(subscription: Subscription, { details }: PronghornError): void {
    const { position } = this.#hub
    const { oldest } = details as { oldest?: string | null }
    subscription.place = position
    if (!subscription.isBegun) sayBegun(subscription)
    const text = 'the events after this cursor are no longer stored; events continue from now'
    const members = { id: subscription.id, oldest_cursor: oldest ?? null }
    this.#client.sendTo([subscription], errorMessage('CURSOR_TOO_OLD', text, members, cursorText(position)))
  }

  /** Moves the subscriptions that are furthest behind; undefined when the turn continues. */
  async #step(): Promise<Next | undefined> {
    const { position, history } = this.#hub
    const all = this.#all
    if (all.some(({ isBegun }) => !isBegun)) return (await this.#begin()) ? 'gather' : undefined
    const place = lowestOf(all)
    if (!place || !position) return this.#join(position)
    if (samePlace(place, position)) {
      // The rest may stand where this process is not yet.
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
    // Another process has published more than this one has read.
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

  /** The client stands where the feed does: from here on it is given what is published. */
  #join(position: FeedCursor | undefined): Next {
    this.#client.stand(undefined)
    this.#client.state = 'live'
    this.#onJoin()
    this.#client.send(message('position', {}, cursorText(position)))
    return 'done'
  }

  /** Rolls back what the client has seen of undone blocks. @returns whether anything was. */
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
      // Subscriptions that were added meanwhile may be further behind, or replace one of these.
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

  /** Another subscription may stand within the block. */
  #endOf(block: FeedBlock, walking: readonly Subscription[], from: number): number {
    const within = this.#all.flatMap((each) => {
      const { sequence, index } = nextEvent(each.place!)
      const isAfter = !walking.includes(each) && sequence === BigInt(block.sequence) && index > from
      return isAfter ? index : []
    })
    return Math.min(block.events.length, ...within)
  }

  /** Sends events until a piece is full, or until requests should have their turn. @returns how many, at least one. */
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

/**
 * The subscriptions that an event is for. When the client stands with all of them at the same place, the message moves all.
 */
function receiversOf(
  events: BlockEvents,
  event: PlacedEvent,
  walking: readonly Subscription[],
  client: LiveClient,
): readonly Subscription[] {
  if (walking.length === client.subscriptions.size) return walking
  const isHit = ({ filter }: Subscription): boolean =>
    events.hits(filter).some(({ index }) => index === event.index)
  const place = { sequence: BigInt(events.block.sequence), index: event.index }
  const hadIt = (other: Subscription): boolean =>
    !walking.includes(other) &&
    other.start !== undefined &&
    compareEvents(nextEvent(other.start), place) <= 0 &&
    isHit(other)
  return walking.filter(
    (each) => isHit(each) && !(each.isJoined && [...client.subscriptions.values()].some(hadIt)),
  )
}

function isGone({ connection, left }: LiveClient): boolean {
  return !connection.isOpen || left.aborted
}
