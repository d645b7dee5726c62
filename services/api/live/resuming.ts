import { cursorAfter, encodeCursor, readMissed } from '../../core/live/index.ts'
import type { FeedCursor, FeedQuery, MissedEntry } from '../../core/live/index.ts'
import { describeError, PronghornError } from '../../core/errors/index.ts'
import type { Logger } from '../../core/log/index.ts'
import type { RequestDatabase } from '../database/index.ts'
import type { Channel } from './channel.ts'
import type { LiveClient } from './client.ts'
import type { ReaderHub } from './hub.ts'
import { liveEventOf } from './hub.ts'
import { errorMessage, message } from './outgoing.ts'
import { eventsOf, readRecords } from './records.ts'

/** Clients that are given what they missed at the same time, in one process. */
const MAX_AT_ONCE = 4

/** What resuming needs. */
export interface ResumerOptions {
  readonly database: RequestDatabase
  /** Reads from the primary. */
  readonly query: FeedQuery
  readonly logger: Logger
}

/** Gives clients what they missed, at the speed at which they take it, and then lets them hear what happens. */
export class Resumer {
  readonly #options: ResumerOptions
  readonly #queue: (() => void)[] = []
  #running = 0

  constructor(options: ResumerOptions) {
    this.#options = options
  }

  /** Never rejects. */
  async resume(hub: ReaderHub, channel: Channel, client: LiveClient, cursor: FeedCursor): Promise<void> {
    client.state = 'resuming'
    await this.#turn()
    try {
      await this.#give(hub, channel, client, cursor)
    } catch (error) {
      this.#tellFailure(hub, client, error)
    } finally {
      this.#running--
      this.#queue.shift()?.()
    }
  }

  async #turn(): Promise<void> {
    while (this.#running >= MAX_AT_ONCE) await new Promise<void>((resolve) => this.#queue.push(resolve))
    this.#running++
  }

  async #give(hub: ReaderHub, channel: Channel, client: LiveClient, from: FeedCursor): Promise<void> {
    const { database, query } = this.#options
    await database.caughtUp()
    for (let cursor = from; ;) {
      const missed = readMissed(query, cursor)
      let step = await missed.next()
      for (; !step.done; step = await missed.next()) {
        if (!client.connection.isOpen) return
        await this.#send(channel, client, step.value)
        await client.connection.drained()
      }
      cursor = step.value
      // What is told from here on is told to this client as well, unless it has been given it already.
      const { position } = hub
      if (position && (position.epoch !== cursor.epoch || position.sequence > cursor.sequence)) continue
      client.heardUpTo = cursor.sequence
      client.state = 'live'
      return
    }
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

  #tellFailure(hub: ReaderHub, client: LiveClient, error: unknown): void {
    if (error instanceof PronghornError && error.code === 'CURSOR_TOO_OLD') {
      const { position } = hub
      const { oldest } = error.details as { oldest?: string | null }
      client.send(
        errorMessage(
          'CURSOR_TOO_OLD',
          'what followed this cursor is no longer kept; events go on from now',
          { oldest_cursor: oldest ?? null },
          position && encodeCursor(position),
        ),
      )
      if (position) client.heardUpTo = position.sequence
      client.state = 'live'
      return
    }
    this.#options.logger.warn({ err: describeError(error) }, 'a client cannot be given what it missed')
    client.dismiss('UNAVAILABLE', 'what was missed cannot be read at the moment')
  }
}
