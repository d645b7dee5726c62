import { encodeFeedMessage, feedChannel, MAX_BUS_CHARACTERS } from '../../core/feed/index.ts'
import type { FeedLag } from '../../core/feed/index.ts'
import type { ShipBlock } from '../ship/index.ts'
import type { FinalStatements } from '../store/index.ts'
import { BlockCapture } from './capture.ts'
import type { BlockEvents } from './capture.ts'
import type { LiveMode } from './live-mode.ts'
import type { Outbox, UnitEvents, WrittenEntry } from './outbox.ts'

/**
 * Sends a message to the other processes. Never waits and never fails: subscribers find a lost message in the stored
 * feed.
 */
export type SendMessage = (channel: string, text: string) => void

export interface FeedRecorderOptions {
  readonly reader: string
  readonly outbox: Outbox
  readonly mode: LiveMode
  /** Whether only irreversible blocks are read. The last irreversible block then counts as the head. */
  readonly irreversibleOnly: boolean
  readonly send: SendMessage
  /** Called for each feed entry after its commit. */
  readonly onEntry: (written: WrittenEntry) => void
}

/**
 * A live reader sends a lag message only on every second heartbeat, because the block messages of a live reader also
 * contain the position.
 */
const LIVE_BEATS = 2

/**
 * Publishes the events of one reading of the chain: decides which blocks are published, writes feed entries in the
 * transaction of their block, and sends messages after the commit.
 */
export class FeedRecorder {
  readonly #options: FeedRecorderOptions
  readonly #channel: string
  #beats = 0

  constructor(options: FeedRecorderOptions) {
    this.#options = options
    this.#channel = feedChannel(options.reader)
  }

  /** Whether the events of the next block are published. */
  publishes(block: ShipBlock): boolean {
    return this.#options.mode.publishes(this.#behind(block))
  }

  /** Starts collecting the events of a commit unit whose first block is `block`. */
  open(block: ShipBlock): UnitEvents {
    return { isPublished: this.publishes(block), blocks: [], arrived: false }
  }

  /** Creates the collector for the events of a block; null if the unit is not published. */
  capture(unit: UnitEvents): BlockCapture | null {
    return unit.isPublished ? new BlockCapture() : null
  }

  /** Adds the events of a block to the unit, and records whether the reader reached the head. */
  take(unit: UnitEvents, block: ShipBlock, events: BlockEvents | null): void {
    if (events) unit.blocks.push(events)
    if (this.#options.mode.hasArrived(this.#behind(block))) unit.arrived = true
  }

  /** Statements to run within the commit of a unit; undefined if the unit has no entries. */
  commitStatements(unit: UnitEvents, last: number): FinalStatements | undefined {
    if (!unit.isPublished && !unit.arrived) return undefined
    return (statements) => this.#options.outbox.writeUnit(statements, unit, last)
  }

  /** Statements to run within the rollback of all blocks from `from` on. */
  forkStatements(from: number): FinalStatements {
    return (statements) => this.#options.outbox.writeFork(statements, from)
  }

  /** Sends the feed entries of the last commit or rollback. */
  sendWritten(): void {
    for (const written of this.#options.outbox.settle()) {
      const { entry, text } = written
      const { reader, epoch, sequence } = entry
      const isShort = text.length <= MAX_BUS_CHARACTERS
      this.#options.send(
        this.#channel,
        isShort ? text : encodeFeedMessage({ kind: 'stored', reader, epoch, sequence }),
      )
      this.#options.onEntry(written)
    }
  }

  /** Publishes the position and the lag of the reader; called once a second. */
  beat(block: number, blocksBehind: number): void {
    const { mode, outbox, reader, send } = this.#options
    if (mode.isLive && this.#beats++ % LIVE_BEATS > 0) return
    const lag: FeedLag = {
      kind: 'lag',
      reader,
      epoch: outbox.state?.epoch ?? 0,
      sequence: String(outbox.state?.sequence ?? 0),
      block_num: block,
      head_block: block + blocksBehind,
      behind: blocksBehind,
      live: mode.isLive,
    }
    send(this.#channel, encodeFeedMessage(lag))
  }

  #behind(block: ShipBlock): number {
    const target = this.#options.irreversibleOnly ? block.lib.num : block.head.num
    return Math.max(0, target - block.num)
  }
}
