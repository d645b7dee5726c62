import { encodeFeedMessage, feedChannel, MAX_BUS_CHARACTERS } from '../../core/feed/index.ts'
import type { FeedLag } from '../../core/feed/index.ts'
import type { ShipBlock } from '../ship/index.ts'
import type { FinalStatements } from '../store/index.ts'
import { BlockCapture } from './capture.ts'
import type { BlockEvents } from './capture.ts'
import type { LiveMode } from './live-mode.ts'
import type { Outbox, UnitEvents, WrittenEntry } from './outbox.ts'

/** Where messages to the other processes go. Sending never waits and never fails: a lost message is in the feed. */
export type SendMessage = (channel: string, text: string) => void

/** Dependencies of `FeedRecorder`. */
export interface FeedRecorderOptions {
  readonly reader: string
  readonly outbox: Outbox
  readonly mode: LiveMode
  /** True when only irreversible blocks are read: then these have their own head. */
  readonly irreversibleOnly: boolean
  readonly send: SendMessage
  /** Called for each entry after its commit. */
  readonly onEntry: (written: WrittenEntry) => void
}

/** Beats between two lag messages of a live reader, whose block messages show its position too. */
const LIVE_BEATS = 2

/** Publishing of one reading of the chain: which blocks and events, in which transaction, and the message. */
export class FeedRecorder {
  readonly #options: FeedRecorderOptions
  readonly #channel: string
  #beats = 0

  constructor(options: FeedRecorderOptions) {
    this.#options = options
    this.#channel = feedChannel(options.reader)
  }

  /** Whether the next block is published. */
  publishes(block: ShipBlock): boolean {
    return this.#options.mode.publishes(this.#behind(block))
  }

  /** Starts the events of a unit whose next block is this one. */
  open(block: ShipBlock): UnitEvents {
    return { isPublished: this.publishes(block), blocks: [], arrived: false }
  }

  /** Collects the events of a block; null in a unit without publishing. */
  capture(unit: UnitEvents): BlockCapture | null {
    return unit.isPublished ? new BlockCapture() : null
  }

  /** Adds the events of a block to the unit. */
  take(unit: UnitEvents, block: ShipBlock, events: BlockEvents | null): void {
    if (events) unit.blocks.push(events)
    if (this.#options.mode.hasArrived(this.#behind(block))) unit.arrived = true
  }

  /** Statements to run in the commit of a unit; undefined when it has no entries. */
  commitStatements(unit: UnitEvents, last: number): FinalStatements | undefined {
    if (!unit.isPublished && !unit.arrived) return undefined
    return (statements) => this.#options.outbox.writeUnit(statements, unit, last)
  }

  /** Statements to run in the rollback of every block from `from` on. */
  forkStatements(from: number): FinalStatements {
    return (statements) => this.#options.outbox.writeFork(statements, from)
  }

  /** After a commit: sends its entries. */
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

  /** Publishes the position of the reader; called once a second. */
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
