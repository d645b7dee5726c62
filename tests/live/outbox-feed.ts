import type { FeedQuery } from '../../services/core/feed-reader/index.ts'
import { LiveMode } from '../../services/filler/feed/live-mode.ts'
import { Outbox, wipeFeed } from '../../services/filler/feed/outbox.ts'
import { FeedRecorder } from '../../services/filler/feed/feed-recorder.ts'
import type { BlockEvents } from '../../services/filler/feed/capture.ts'
import type { SendMessage } from '../../services/filler/feed/feed-recorder.ts'
import type { UnitEvents } from '../../services/filler/feed/outbox.ts'

/**
 * Builds a block with `events` events; `branch` distinguishes the ids of blocks with the same number on different
 * forks.
 */
function eventsOf(num: number, branch: number, events: number, memo: string): BlockEvents {
  const id = (num * 1_000 + branch).toString(16).padStart(64, '0')
  const trace = {
    action_ordinal: 1,
    creator_action_ordinal: 0,
    global_sequence: String(num),
    account: 'atomicassets',
    name: 'logtransfer',
    authorization: [],
    data: { memo },
  }
  return {
    block: { num, id, time: num * 500, producer: 'eosio' },
    transactions: [{ id, cpu_usage_us: 1, net_usage_words: 1, traces: [trace] }],
    events: Array.from({ length: events }, (_, i) => ({
      contract: 'atomicassets',
      family: 'assets' as const,
      event: 'assets_transferred',
      id: `${num}.${branch}.${i}`,
      transaction: 0,
      trace: 0,
      keys: {},
    })),
  }
}

export interface OutboxFeedOptions {
  readonly retainedBlocks?: number | undefined
  /** Receives the messages for the bus; without this function the messages are lost. */
  readonly send?: SendMessage | undefined
}

/** A feed written by the filler's outbox, without a chain. */
export class OutboxFeed {
  head: number
  #branch = 0
  readonly #reader: string
  readonly #outbox: Outbox
  readonly #recorder: FeedRecorder
  readonly #statements

  private constructor(query: FeedQuery, reader: string, outbox: Outbox, send: SendMessage) {
    this.#reader = reader
    this.#outbox = outbox
    this.head = outbox.state?.toldTo ?? 0
    const mode = new LiveMode(true, 200)
    this.#recorder = new FeedRecorder({
      reader,
      outbox,
      mode,
      irreversibleOnly: false,
      send,
      onEntry: () => undefined,
    })
    this.#statements = {
      run: async (text: string, values: readonly unknown[]) => (await query(text, values)).length,
      select: query,
    }
  }

  /** Opens the feed of a reader, as a filler does at its start. */
  static async open(
    query: FeedQuery,
    reader: string,
    { retainedBlocks = 100_000, send = () => undefined }: OutboxFeedOptions = {},
  ): Promise<OutboxFeed> {
    return new OutboxFeed(query, reader, await Outbox.open(query, reader, retainedBlocks), send)
  }

  /** Commits a unit in which the reader reaches the head at `block`. The block is not published. */
  async arrive(block: number): Promise<void> {
    this.head = block
    await this.#unit({ isPublished: false, blocks: [], arrived: true })
  }

  /** Writes one block with `events` events; a block without events has no entry. */
  async block(events: number, memo = ''): Promise<void> {
    this.head++
    const blocks = events > 0 ? [eventsOf(this.head, this.#branch, events, memo)] : []
    await this.#unit({ isPublished: true, blocks, arrived: false })
  }

  async fork(from: number): Promise<void> {
    this.#branch++
    this.head = from - 1
    await this.#outbox.writeFork(this.#statements, from)
    this.#recorder.sendWritten()
  }

  /** Publishes the reader's progress. */
  beat(): void {
    this.#recorder.beat(this.head, 0)
    this.#recorder.beat(this.head, 0)
  }

  async wipe(): Promise<void> {
    await wipeFeed(this.#statements, this.#reader)
  }

  async #unit(unit: UnitEvents): Promise<void> {
    await this.#outbox.writeUnit(this.#statements, unit, this.head)
    this.#recorder.sendWritten()
  }
}
