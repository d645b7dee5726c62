import { idToHex } from './block.ts'
import { CreditWindow } from './credits.ts'
import { ChainTail } from './linkage.ts'
import { forkBelowIrreversible, neverLinked } from './problems.ts'
import { FatalError } from '../../core/errors/index.ts'
import type { PronghornError } from '../../core/errors/index.ts'
import type { ShipSettings } from './settings.ts'
import type { ProtocolCodec, ShipConsumer, ShipState, ShipStatus, WirePosition } from './types.ts'

/**
 * Maximum number of times that the previous block of one unlinked block is undone, while the node sends the same two
 * blocks again each time.
 */
const MOST_UNDOES = 3

/** State that outlives a connection: settings, consumer, flow control, the end of the chain, and counters. */
export class ReaderState<P extends ProtocolCodec> {
  readonly settings: ShipSettings<P>
  readonly consumer: ShipConsumer<P>
  readonly credits: CreditWindow
  readonly tail = new ChainTail()
  state: ShipState = 'idle'
  url = ''
  connections = 0
  blocksReceived = 0
  bytesReceived = 0
  forks = 0
  resentBlocks = 0
  lastProblem: string | null = null
  /** Warnings that were logged; each is logged once a session. */
  readonly #warned = { missingPayload: false, unknownChain: false }
  #headNum: number | null = null
  #libNum: number | null = null
  #lastMessageAt: number | null = null
  #lastBlockAt: number | null = null
  /**
   * Error message of the last block that did not link and for which the previous block was undone. An equal message
   * means that the node has sent the same block again.
   */
  #undoneFor = ''
  /** Number of times that the predecessor of the block in `#undoneFor` was undone. */
  #undoes = 0
  /** Reads the number of bytes received on the current connection. */
  #bytesRead: () => number = () => 0
  /** Number of bytes that the current connection had received when the last message was complete. */
  #bytesAtMessage = 0

  constructor(settings: ShipSettings<P>, consumer: ShipConsumer<P>) {
    this.settings = settings
    this.consumer = consumer
    this.credits = new CreditWindow(settings.window, settings.ackBatch, settings.maxBytes)
    this.url = settings.addresses[0]?.label ?? ''
  }

  /** Number of the first block to request, derived from the blocks that the pipeline holds. */
  nextStart(): number {
    const last = this.consumer.resumePosition().lastApplied
    return Math.max(this.settings.startBlock, last === null ? 1 : last.num + 1)
  }

  noteHead(head: WirePosition, lib: WirePosition): void {
    this.#headNum = head.num
    this.#libNum = lib.num
  }

  /** Counts bytes of a new connection from 0. */
  noteConnection(bytesRead: () => number): void {
    this.#bytesRead = bytesRead
    this.#bytesAtMessage = 0
  }

  /** Records that a complete message of any kind has arrived. */
  noteMessage(): void {
    this.#lastMessageAt = performance.now()
    this.#bytesAtMessage = this.#bytesRead()
  }

  /** Bytes read on the current connection. */
  bytesRead(): number {
    return this.#bytesRead()
  }

  /** Resets the byte counts, because the connection and its unfinished message are gone. */
  noteDisconnection(): void {
    this.noteConnection(() => 0)
  }

  noteBlock(bytes: number): void {
    this.blocksReceived += 1
    this.bytesReceived += bytes
    this.#lastBlockAt = performance.now()
  }

  /** Logs, once a session, that the first block of a log came without one of its payloads. */
  warnOfMissingPayload(num: number): void {
    if (this.#warned.missingPayload) return
    this.#warned.missingPayload = true
    const message = 'the first block of a state-history log lacks some payloads, which is normal'
    // Block 1 never has transactions. So its missing payloads are logged as info, not as a warning.
    this.settings.logger[num === 1 ? 'info' : 'warn']({ block_num: num }, message)
  }

  /** Logs once that a node does not send its chain id. */
  warnOfUnknownChain(label: string): void {
    if (this.#warned.unknownChain) return
    this.#warned.unknownChain = true
    this.settings.logger.warn({ url: label }, 'the node is too old to send its chain id over this protocol')
  }

  /**
   * Lets the pipeline undo block `from` and all later blocks.
   * @throws FatalError `FORK_BELOW_IRREVERSIBLE` if block `from` is irreversible.
   */
  undoFrom(from: number, unlinked?: PronghornError): void {
    const { irreversibleFloor } = this.consumer.resumePosition()
    if (from <= irreversibleFloor) throw forkBelowIrreversible(from, irreversibleFloor, unlinked)
    this.settings.logger.info({ from_block: from, last_block: this.tail.next - 1 }, 'the chain forked')
    this.consumer.onFork(from)
    const last = this.consumer.resumePosition().lastApplied
    if (last !== null && last.num >= from) {
      throw new FatalError(
        'INTERNAL',
        `block ${last.num} is still in the pipeline after the rollback of a fork at block ${from}`,
      )
    }
    this.tail.rewind(from)
    this.forks += 1
  }

  /**
   * Lets the pipeline undo the block before block `num`, which does not link.
   * @throws FatalError `SHIP_BLOCK_INVALID` if block `num` does not link after MOST_UNDOES such undos; else see
   * `undoFrom`.
   */
  undoBefore(num: number, unlinked: PronghornError): void {
    this.#undoes = this.#undoneFor === unlinked.message ? this.#undoes + 1 : 1
    this.#undoneFor = unlinked.message
    if (this.#undoes > MOST_UNDOES) throw neverLinked(num, unlinked)
    this.undoFrom(num - 1, unlinked)
  }

  /** Status of the session, without the list of nodes. */
  status(): Omit<ShipStatus, 'nodes'> {
    const last = this.tail.lastId
    return {
      state: this.state,
      url: this.url,
      connections: this.connections,
      lastBlock: last === null ? null : { num: this.tail.next - 1, id: idToHex(last) },
      headNum: this.#headNum,
      libNum: this.#libNum,
      credits: this.credits.credits,
      heldBlocks: this.credits.heldBlocks,
      heldBytes: this.credits.heldBytes,
      blocksReceived: this.blocksReceived,
      bytesReceived: this.bytesReceived,
      forks: this.forks,
      resentBlocks: this.resentBlocks,
      sinceLastMessageMs: elapsedSince(this.#lastMessageAt),
      sinceLastBlockMs: elapsedSince(this.#lastBlockAt),
      unfinishedBytes: Math.max(0, this.#bytesRead() - this.#bytesAtMessage),
      lastProblem: this.lastProblem,
    }
  }
}

function elapsedSince(startedAt: number | null): number | null {
  return startedAt === null ? null : performance.now() - startedAt
}
