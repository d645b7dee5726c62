import { describeError } from '../../../core/errors/index.ts'
import type { PronghornError } from '../../../core/errors/index.ts'
import { Backoff } from '../../../core/retry/index.ts'
import { ReceivedBlock, idToHex } from '../block.ts'
import { NodeConnection } from '../node-connection.ts'
import { blockFalse, missedFork, rangeMissing, rangeUnavailable } from '../problems.ts'
import type { Problem } from '../problems.ts'
import { checkRanges, isIncomplete, missingBlock, missingPayload } from '../ranges.ts'
import { ReadGate } from '../read-gate.ts'
import type { ReaderState } from '../reader-state.ts'
import { connectBackoff } from '../settings.ts'
import type { UsedNode } from '../settings.ts'
import type {
  BlockPosition,
  BlocksResult,
  ProtocolCodec,
  ShipNodeState,
  StatusResult,
  WirePosition,
} from '../types.ts'
import type { RangeTask } from './range-task.ts'
import { RateMeter } from './rate-meter.ts'

/**
 * Longest back-off before reconnecting to a lost node, ms. A long back-off is harmless, because the other nodes
 * continue meanwhile.
 */
const LONGEST_PAUSE_MS = 10_000
/** Pause before reconnecting to a node that serves another chain, ms. */
const REFUSED_PAUSE_MS = 60_000
/** Back-off in ms of a node that delayed the other nodes; doubles with each delay that the node causes. */
const slowRest = { firstMs: 2_000, longestMs: 300_000 }
/** Age up to which a status reply counts as current, ms. */
const FRESH_MS = 1_500
/** Time-out for a status reply of a node that has answered before, ms. */
const STATUS_TIMEOUT_MS = 15_000
/** Time in ms for which a block that the node lacked is not requested from the node again. */
const LACK_MS = 60_000

/** A range of blocks that is requested over one node connection. */
export type LinkTask<P extends ProtocolCodec> = RangeTask<P, NodeLink<P>>

/** Callbacks of a node connection to its session. None is called after `close`. */
export interface LinkOwner<P extends ProtocolCodec> {
  /** Called when the node becomes ready, and when its status has changed. */
  changed(): void
  /** Called when a block of the range has arrived and was added to the range. */
  arrived(task: LinkTask<P>): void
  /**
   * Called when the node will send no more blocks of the range. The missing blocks have to be requested from another
   * node.
   */
  abandoned(task: LinkTask<P>): void
  /** Called for an error that is not the node's fault, such as an error that the consumer throws. */
  failed(error: unknown): void
}

/**
 * Blocks that a node lacked when they were requested. Before the time `until`, the blocks are not requested from the
 * node again.
 */
interface Lack {
  readonly from: number
  readonly to: number
  readonly until: number
  readonly error: PronghornError
}

/**
 * The connection to one of several nodes. Checks the chain id, polls the status, reads one range of blocks at a time,
 * and reconnects by itself.
 */
export class NodeLink<P extends ProtocolCodec> {
  readonly node: UsedNode
  readonly rate = new RateMeter()
  blocksReceived = 0
  bytesReceived = 0
  faults = 0
  lastFault: string | null = null
  /** Error that makes the node unusable; null while the node is usable or not checked yet. */
  verdict: PronghornError | null = null
  /**
   * Time (of `performance.now()`) at which the node's head was first seen on another branch than the indexed chain.
   * Null if the head is on the indexed chain, or if its branch is unknown.
   */
  otherBranchSince: number | null = null
  readonly #reader: ReaderState<P>
  readonly #owner: LinkOwner<P>
  readonly #backoff: Backoff
  readonly #slowRest = new Backoff(slowRest)
  #connection: NodeConnection<P> | null = null
  #gate: ReadGate | null = null
  #status: StatusResult | null = null
  #task: LinkTask<P> | null = null
  #head: WirePosition | null = null
  #statusHead: BlockPosition | null = null
  /** Blocks (from `from`, below `to`) that the node may still send after `leaveRange` has abandoned their range. */
  #left: { readonly from: number; readonly to: number } | null = null
  #libNum = 0
  #answeredAt: number | null = null
  #readyAt: number | null = null
  #retry: NodeJS.Timeout | undefined
  #restsUntil = 0
  #suspect = false
  /**
   * Whether a status reply clears `verdict`, the error that makes the node unusable. True if the node became unusable
   * before its first status reply, or because the node served another chain.
   */
  #isRefutable = false
  #lacks: Lack[] = []
  #closed = false
  #isLeftOut = false

  constructor(node: UsedNode, reader: ReaderState<P>, owner: LinkOwner<P>) {
    this.node = node
    this.#reader = reader
    this.#owner = owner
    this.#backoff = new Backoff(connectBackoff(reader.settings, LONGEST_PAUSE_MS))
    const reason = reader.settings.leftOut.get(node.label)
    if (reason !== undefined) this.leaveOut(reason)
  }

  /** Connects to the node, unless `leaveOut` or `close` was called. */
  open(): void {
    if (this.#closed || this.#isLeftOut) return
    this.#reader.connections++
    this.#connection = new NodeConnection(this.#reader, this.node, {
      greeted: () => undefined,
      status: (status) => this.#onStatus(status),
      blocks: (result, bytes) => this.#onBlocks(result, bytes),
      lost: (problem) => this.fail(problem),
      refused: (error) => this.fail({ kind: 'unusable', error }),
      failed: (error) => this.#owner.failed(error),
      expected: () => this.#task?.next ?? null,
    })
  }

  /** Closes the connection permanently. */
  close(): void {
    this.#closed = true
    clearTimeout(this.#retry)
    this.#disconnect()
  }

  get protocol(): P | null {
    return this.#connection?.protocol ?? null
  }

  get task(): LinkTask<P> | null {
    return this.#task
  }

  /** Newest head block that the node has named, in a status reply or in a message with a block. */
  get head(): WirePosition | null {
    return this.#head
  }

  /** Head block of the node in its last status reply. */
  get statusHead(): BlockPosition | null {
    return this.#statusHead
  }

  get libNum(): number {
    return this.#libNum
  }

  /** Whether the status of the node is known and the node does not rest (see `isResting`). */
  get isReady(): boolean {
    return this.#readyAt !== null && performance.now() >= this.#restsUntil
  }

  /** Whether the last status reply is recent enough to compare the node with others. */
  get isFresh(): boolean {
    return this.isReady && this.#answeredAt !== null && performance.now() - this.#answeredAt < FRESH_MS
  }

  /**
   * State of the node for the status report. While the node streams, the session reports `followed` instead of this
   * state.
   */
  get state(): ShipNodeState {
    if (this.#readyAt === null) return this.#connection === null ? 'failed' : 'connecting'
    if (performance.now() < this.#restsUntil) return 'failed'
    return this.#task === null ? 'watched' : 'reading'
  }

  /** Number of bytes read on the current connection. */
  bytesRead(): number {
    return this.#connection?.bytesRead() ?? 0
  }

  /**
   * Whether the node should be sending: a range is requested, the node may send messages before the next
   * acknowledgement, and this process has not paused reading.
   */
  get isExpected(): boolean {
    return this.#task !== null && this.#task.credits.credits > 0 && this.#gate?.isPaused !== true
  }

  /**
   * Returns the end (exclusive) of the irreversible blocks that the node can send from block `num` on without a gap.
   * Returns `num` if the node cannot send block `num`. With `isStrict`, the node counts as unable to send the first
   * block of its logs, because this block may lack traces or deltas.
   */
  endFrom(num: number, isStrict: boolean): number {
    const status = this.#status
    if (status === null || num < this.node.from || num > this.node.to || num > this.#libNum) return num
    const first = Math.max(status.traceBegin, status.stateBegin)
    // The first block in a log of the node may lack traces or deltas that another node has.
    if (isStrict ? num <= first && first > 2 : checkRanges(status, num).kind !== 'ready') return num
    if (num < first && isStrict) return num
    const logEnd = Math.min(status.traceEnd, status.stateEnd)
    let end = Math.min(this.node.to + 1, this.#libNum + 1)
    // A complete log of a node ends at most one block before the head. A log of this node ends earlier, so the node
    // cannot send blocks after the end of that log.
    if (status.head.num >= logEnd + 2) end = Math.min(end, logEnd)
    const now = performance.now()
    this.#lacks = this.#lacks.filter(({ until }) => until > now)
    for (const { from, to } of this.#lacks) {
      if (num >= from && num <= to) return num
      if (from > num) end = Math.min(end, from)
    }
    return Math.max(num, end)
  }

  /**
   * Reason why the node cannot send block `num`; null if the node can send the block, or if the status of the node is
   * unknown.
   */
  refusalOf(num: number): PronghornError | null {
    if (this.verdict !== null) return this.verdict
    const lack = this.#lacks.find(({ from, to }) => num >= from && num <= to)
    if (lack !== undefined) return lack.error
    const { from, to } = this.node
    if (num < from || num > to) {
      const limits = `the node is used only for blocks ${from} to ${to === Infinity ? 'the head' : to} (chain.ship)`
      const message = `block ${num} is needed, but ${limits}`
      return rangeUnavailable({ message, status: this.#status, num, start: from }).error
    }
    if (this.#status === null) return null
    const verdict = checkRanges(this.#status, num)
    return verdict.kind === 'problem' ? verdict.problem.error : null
  }

  /**
   * Returns the block with which a request for block `num` has to begin. Block 2 if `num` is 1 and the logs of the node
   * begin at block 2; otherwise `num`.
   */
  beginFor(num: number): number {
    const verdict = this.#status === null ? null : checkRanges(this.#status, num)
    return verdict?.kind === 'ready' ? verdict.start : num
  }

  /** Requests a range. Call only if `isReady` and no range is being read. */
  read(task: LinkTask<P>, irreversibleEnd: number): void {
    if (this.#connection === null) return
    this.#task = task
    this.#gate = new ReadGate(this.#connection, task.credits, this.#reader.settings.maxBytes / 4)
    this.rate.begin(this.bytesRead())
    this.#connection.requestBlocks({
      start: task.start,
      end: irreversibleEnd,
      maxInFlight: task.credits.open(),
      havePositions: [],
      irreversibleOnly: true,
    })
  }

  /**
   * Gives up the current range, so that another range can be requested on the same connection. No fault is recorded.
   */
  leaveRange(): void {
    const task = this.#task
    if (task === null) return
    this.#left = { from: task.next, to: task.end }
    this.#task = null
    this.#gate = null
    this.#connection?.resume()
  }

  /**
   * Acknowledges messages of the range to the node if an acknowledgement is due (`CreditWindow.takeDue`), so that the
   * node may send more messages.
   */
  acknowledge(task: LinkTask<P>): void {
    if (task !== this.#task) return
    this.#connection?.acknowledge(task.credits.takeDue(false))
    this.#gate?.update()
  }

  /**
   * While a range is read, samples the rate at which the node sends. While no range is read, requests the node's status
   * if the last status reply is older than `everyMs`.
   */
  tick(now: number, everyMs: number): void {
    if (this.#task !== null) this.rate.sample(now, this.bytesRead(), this.isExpected)
    if (this.#readyAt === null || this.#task !== null || this.#connection?.awaitsStatus !== false) return
    if (now - (this.#answeredAt ?? 0) < everyMs) return
    const { replyTimeoutMs } = this.#reader.settings.timing
    this.#connection.requestStatus(Math.min(replyTimeoutMs, STATUS_TIMEOUT_MS))
  }

  /** Records a fault of the node. The node gets no requests for `restMs`. */
  blame(reason: string, restMs: number): void {
    this.faults += 1
    this.lastFault = reason
    this.#restsUntil = performance.now() + restMs
  }

  /**
   * Pauses the requests to a node that has delayed the other nodes. Each pause is longer than the previous pause of the
   * node.
   */
  restAsSlow(): void {
    this.#restsUntil = performance.now() + this.#slowRest.nextDelayMs()
  }

  /** Ends the time in which the node gets no requests; called when no other node is available. */
  wake(): void {
    this.#restsUntil = 0
  }

  /** Whether the node is connected but rests: after a fault a node gets no requests for a time. */
  get isResting(): boolean {
    return this.#readyAt !== null && performance.now() < this.#restsUntil
  }

  /** Leaves the node out for the rest of the session, because the node sent blocks that do not belong to the chain. */
  leaveOut(error: PronghornError): void {
    this.#isLeftOut = true
    this.verdict = error
    clearTimeout(this.#retry)
    this.#disconnect()
  }

  /** Closes the connection because of a fault of the node, and reconnects after the back-off. */
  fail(problem: Problem): void {
    if (this.#closed || this.#connection === null) return
    const { error, kind } = problem
    const reason = describeError(error)
    // Log a repeated fault at level debug: an unavailable node would otherwise log a warning at every attempt to
    // connect.
    const level = reason === this.lastFault ? 'debug' : 'warn'
    this.#reader.settings.logger[level]({ url: this.node.label, code: error.code }, reason)
    this.#reader.lastProblem = reason
    if (
      this.#readyAt !== null &&
      performance.now() - this.#readyAt >= this.#reader.settings.timing.goodServiceMs
    ) {
      this.#backoff.reset()
    }
    const isRefused = error.code === 'CHAIN_MISMATCH'
    if (kind === 'unusable' || (kind === 'suspect' && this.#suspect)) {
      this.verdict = error
      this.#isRefutable = isRefused || this.#readyAt === null
    }
    this.#suspect = kind === 'suspect'
    this.blame(reason, 0)
    const task = this.#task
    if (error.code === 'SHIP_BLOCK_INVALID') this.leaveOut(error)
    else this.#reconnect(isRefused)
    try {
      if (task !== null) this.#owner.abandoned(task)
      this.#owner.changed()
    } catch (thrown) {
      this.#owner.failed(thrown)
    }
  }

  #reconnect(isRefused: boolean): void {
    this.#disconnect()
    const refusedMs = Math.min(REFUSED_PAUSE_MS, this.#reader.settings.timing.backoffMaxMs)
    this.#retry = setTimeout(() => this.open(), isRefused ? refusedMs : this.#backoff.nextDelayMs())
  }

  #disconnect(): void {
    this.#connection?.close()
    this.#connection = null
    this.#gate = null
    this.#task = null
    this.#left = null
    this.#readyAt = null
    this.#answeredAt = null
  }

  #onStatus(status: StatusResult): void {
    this.#answeredAt = performance.now()
    this.#readyAt ??= this.#answeredAt
    if (this.#isRefutable) this.verdict = null
    this.#status = status
    this.#note(status.head, status.lastIrreversible)
    this.#statusHead = { num: status.head.num, id: idToHex(status.head.id) }
    this.#owner.changed()
  }

  #note(head: WirePosition, lib: WirePosition): void {
    this.#head = head
    this.#libNum = lib.num
  }

  #onBlocks(result: BlocksResult, bytes: number): void {
    const task = this.#task
    // Ignore messages after the end of the requested range: some node versions still announce new heads.
    if (task === null) return
    task.credits.spend(bytes)
    this.#note(result.head, result.lib)
    const position = result.this
    if (position === null) {
      const limits = { irreversibleOnly: true, stopBlock: task.end - 1 }
      const problem = missingBlock(result, task.next, limits, this.#status)
      if (problem !== null) this.#lack(task.next, task.next, problem)
    } else if (position.num > task.next && this.#isLeft(position.num, task)) {
      return
    } else if (position.num > task.next) {
      this.#lack(task.next, position.num - 1, rangeMissing(task.next, position.num - 1, this.#status))
    } else if (position.num === task.next) this.#take(task, position, result, bytes)
    this.acknowledge(task)
  }

  /** Whether the block belongs to the previous range, which was abandoned while the block was still in flight. */
  #isLeft(num: number, task: LinkTask<P>): boolean {
    return task.next === task.start && this.#left !== null && num >= this.#left.from && num < this.#left.to
  }

  #take(task: LinkTask<P>, position: WirePosition, result: BlocksResult, bytes: number): void {
    const falsePart = this.#connection?.findFalsePart(position, result) ?? null
    if (falsePart !== null) return this.fail(blockFalse(this.node.label, position, falsePart))
    const block = new ReceivedBlock(this.node.label, bytes, position, result)
    if (!task.continues(result.prev, result.block))
      return this.fail(missedFork(this.node.label, block, task.lastId))
    if (isIncomplete(block)) {
      const problem = missingPayload(block, this.#status)
      if (problem !== null) return this.#lack(block.num, block.num, problem)
      this.#reader.warnOfMissingPayload(block.num)
    }
    this.#suspect = false
    this.verdict = null
    this.blocksReceived += 1
    this.bytesReceived += bytes
    this.#reader.noteBlock(bytes)
    task.push(block)
    if (task.isComplete) {
      this.#task = null
      this.#gate = null
      this.#connection?.resume()
      this.#answeredAt = performance.now()
      this.rate.end(this.bytesRead())
    }
    this.#owner.arrived(task)
  }

  /**
   * Records that the node lacks the blocks `from` to `to`, so that other nodes get the requests for these blocks, and
   * reconnects.
   */
  #lack(from: number, to: number, problem: Problem): void {
    this.#lacks.push({ from, to, until: performance.now() + LACK_MS, error: problem.error })
    this.fail({ kind: 'lost', error: problem.error })
  }
}
