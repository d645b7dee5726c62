import { setTimeout as sleep } from 'node:timers/promises'
import { cursorAfter, encodeCursor, readMissed } from '../../core/feed-reader/index.ts'
import type { FeedCursor, FeedQuery, MissedEntry } from '../../core/feed-reader/index.ts'
import { describeError, PronghornError } from '../../core/errors/index.ts'
import type { Logger } from '../../core/log/index.ts'
import type { RequestDatabase } from '../database/index.ts'
import type { Channel } from './channel.ts'
import type { LiveClient } from './client.ts'
import type { ReaderHub } from './hub.ts'
import { liveEventOf } from './hub.ts'
import type { LiveObserver } from './observer.ts'
import { errorMessage, message } from './outgoing.ts'
import { eventsOf, readRecords } from './records.ts'
import { ResumePlaces } from './resume-places.ts'

/** Bounds of what one client may take of what all share. */
export interface ResumeTiming {
  /** A client that has not taken what was sent after this long has to go, ms. */
  readonly progressMs: number
  /** Time limit for sending missed events, ms; a slower client reconnects and resumes from its last cursor. */
  readonly totalMs: number
}

const defaultTiming: ResumeTiming = { progressMs: 5_000, totalMs: 120_000 }

/** What resuming needs. */
export interface ResumerOptions {
  readonly database: RequestDatabase
  /** Reads from the primary. */
  readonly query: FeedQuery
  readonly logger: Logger
  readonly observer: LiveObserver
  /** For tests. */
  readonly timing?: ResumeTiming
}

/** Gives clients what they missed, at the speed at which they read it, and then subscribes them to new events. */
export class Resumer {
  readonly #options: ResumerOptions
  readonly #timing: ResumeTiming
  readonly #places = new ResumePlaces()

  constructor(options: ResumerOptions) {
    this.#options = options
    this.#timing = options.timing ?? defaultTiming
  }

  /** Never rejects. @param begin see `Subscribing.resume`. */
  async resume(
    hub: ReaderHub,
    channel: Channel,
    client: LiveClient,
    cursor: FeedCursor,
    begin: (position: string | undefined) => void,
  ): Promise<void> {
    client.state = 'resuming'
    let hasBegun = false
    const beginOnce = (position: string | undefined): void => {
      if (!hasBegun) begin(position)
      hasBegun = true
    }
    const leave = await this.#places.enter(client.address, client.left)
    if (!leave) return
    try {
      if (client.connection.isOpen) await this.#give(hub, channel, client, cursor, beginOnce)
    } catch (error) {
      this.#sendFailure(hub, client, error, beginOnce)
    } finally {
      leave()
    }
  }

  async #give(
    hub: ReaderHub,
    channel: Channel,
    client: LiveClient,
    from: FeedCursor,
    begin: (position: string) => void,
  ): Promise<void> {
    const { database, query } = this.#options
    await database.caughtUp()
    const endMs = performance.now() + this.#timing.totalMs
    for (let cursor = from; ;) {
      const missed = readMissed(query, cursor)
      let step = await missed.next()
      begin(encodeCursor(from))
      for (; !step.done; step = await missed.next()) {
        if (!client.connection.isOpen) return
        await this.#send(channel, client, step.value)
        if (!(await this.#isTaken(client, endMs))) return
      }
      cursor = step.value
      // From here on the client receives published entries, except those that it has been given already.
      const { position } = hub
      if (position && (position.epoch !== cursor.epoch || position.sequence > cursor.sequence)) continue
      client.heardUpTo = cursor.sequence
      client.state = 'live'
      return
    }
  }

  /** Waits until the client has taken what was sent; false when it does not, and has to go. */
  async #isTaken(client: LiveClient, endMs: number): Promise<boolean> {
    const { connection } = client
    const drained = connection.drained().then(() => true)
    for (let waitingBytes = Infinity; connection.waitingBytes < waitingBytes;) {
      ;({ waitingBytes } = connection)
      const leftMs = Math.min(this.#timing.progressMs, endMs - performance.now())
      if (leftMs <= 0) break
      const waiting = new AbortController()
      const late = sleep(leftMs, false, { signal: waiting.signal }).catch(() => false)
      const isDrained = await Promise.race([drained, late])
      waiting.abort()
      if (isDrained) return connection.isOpen
    }
    this.#options.observer.cut(connection.transport, 'slow')
    client.dismiss('TOO_SLOW', 'what was missed is not read fast enough')
    return false
  }

  async #send(channel: Channel, client: LiveClient, { entry, seen }: MissedEntry): Promise<void> {
    if (entry.kind === 'fork') {
      client.send(message('fork', { block_num: entry.block_num }, encodeCursor(cursorAfter(entry))))
    } else if (entry.kind === 'gap') {
      const { from_block, to_block } = entry
      client.send(message('gap', { from_block, to_block }, encodeCursor(cursorAfter(entry))))
    } else {
      const { family, contract, namespace } = channel.mount
      const placed = eventsOf(entry, family, contract).filter(
        (each) => each.index >= seen && client.mayWant(each.entry.event),
      )
      const found = await readRecords(this.#options.database, namespace, placed)
      for (const each of placed) {
        const event = liveEventOf(entry, each, found)
        if (client.wants(event)) client.send(event.message)
      }
    }
  }

  #sendFailure(
    hub: ReaderHub,
    client: LiveClient,
    error: unknown,
    begin: (position: string | undefined) => void,
  ): void {
    if (error instanceof PronghornError && error.code === 'CURSOR_TOO_OLD') {
      const { position } = hub
      const { oldest } = error.details as { oldest?: string | null }
      const current = position && encodeCursor(position)
      begin(current)
      client.send(
        errorMessage(
          'CURSOR_TOO_OLD',
          'the events after this cursor are no longer stored; events continue from now',
          { oldest_cursor: oldest ?? null },
          current,
        ),
      )
      if (position) client.heardUpTo = position.sequence
      client.state = 'live'
      return
    }
    this.#options.logger.warn({ err: describeError(error) }, 'a client cannot be given what it missed')
    client.dismiss('UNAVAILABLE', 'missed events cannot be read now')
  }
}
