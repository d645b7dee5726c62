import { encodeFeedMessage, feedChannel, MAX_BUS_CHARACTERS } from '../../core/live/index.ts'
import type { FeedLag } from '../../core/live/index.ts'
import type { ShipBlock } from '../ship/index.ts'
import type { Besides } from '../store/index.ts'
import { BlockCapture } from './capture.ts'
import type { BlockNews } from './capture.ts'
import type { LiveMode } from './live-mode.ts'
import type { Outbox, UnitNews, WrittenEntry } from './outbox.ts'

/** Where messages to the other processes go. Sending never waits and never fails: a lost message is in the feed. */
export type SendMessage = (channel: string, text: string) => void

/** What `Teller` needs. */
export interface TellerOptions {
  readonly reader: string
  readonly outbox: Outbox
  readonly mode: LiveMode
  /** True when only irreversible blocks are read: then these have a head of their own. */
  readonly irreversibleOnly: boolean
  readonly send: SendMessage
  /** Told of each entry after its commit. */
  readonly onEntry: (written: WrittenEntry) => void
}

/** Beats between two messages of a reader that is live, whose blocks speak for it too. */
const LIVE_BEATS = 2

/** What one reading of the chain publishes: which blocks, what of them, in which transaction, and the message. */
export class Teller {
  private readonly options: TellerOptions
  private readonly channel: string
  private beats = 0

  constructor(options: TellerOptions) {
    this.options = options
    this.channel = feedChannel(options.reader)
  }

  /** Whether the next block is published. */
  tells(block: ShipBlock): boolean {
    return this.options.mode.tells(this.behind(block))
  }

  /** What a unit means to the feed whose next block is this one. */
  open(block: ShipBlock): UnitNews {
    return { isTold: this.tells(block), blocks: [], arrived: false }
  }

  /** Collects what is published of a block; null in a unit that is not. */
  capture(unit: UnitNews): BlockCapture | null {
    return unit.isTold ? new BlockCapture() : null
  }

  /** Takes what is published of a block of the unit. */
  take(unit: UnitNews, block: ShipBlock, news: BlockNews | null): void {
    if (news) unit.blocks.push(news)
    if (this.options.mode.hasArrived(this.behind(block))) unit.arrived = true
  }

  /** What is written with a unit; undefined when it means nothing to the feed. */
  besidesCommit(unit: UnitNews, last: number): Besides | undefined {
    if (!unit.isTold && !unit.arrived) return undefined
    return (statements) => this.options.outbox.writeUnit(statements, unit, last)
  }

  /** What is written when every block from `from` on is undone. */
  besidesFork(from: number): Besides {
    return (statements) => this.options.outbox.writeFork(statements, from)
  }

  /** After a commit: sends what it wrote. */
  sendWritten(): void {
    for (const written of this.options.outbox.settle()) {
      const { entry, text } = written
      const { reader, epoch, sequence } = entry
      const isShort = text.length <= MAX_BUS_CHARACTERS
      this.options.send(
        this.channel,
        isShort ? text : encodeFeedMessage({ kind: 'stored', reader, epoch, sequence }),
      )
      this.options.onEntry(written)
    }
  }

  /** Says how far the reader is; called once a second. */
  beat(block: number, blocksBehind: number): void {
    const { mode, outbox, reader, send } = this.options
    if (mode.isLive && this.beats++ % LIVE_BEATS > 0) return
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
    send(this.channel, encodeFeedMessage(lag))
  }

  private behind(block: ShipBlock): number {
    const target = this.options.irreversibleOnly ? block.lib.num : block.head.num
    return Math.max(0, target - block.num)
  }
}
