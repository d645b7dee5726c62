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

/** Longest pause before a lost node is tried again: the others continue meanwhile, ms. */
const LONGEST_PAUSE_MS = 10_000
/** Pause before a node of another chain is looked at again. */
const REFUSED_PAUSE_MS = 60_000
/** Rest of a node that held the others up. */
const slowRest = { firstMs: 2_000, longestMs: 300_000 }
/** Age of a status reply up to which it says what the node is like now. */
const FRESH_MS = 1_500
/** Longest that a node which answered before may take to answer a status request, ms. */
const STATUS_TIMEOUT_MS = 15_000
/** Time for which blocks that a node lacked are not requested from it, ms. */
const LACK_MS = 60_000

/** A range that is requested from a link. */
export type LinkTask<P extends ProtocolCodec> = RangeTask<P, NodeLink<P>>

/** Who a link reports to. Nothing is called after `close`. */
export interface LinkOwner<P extends ProtocolCodec> {
  /** The node is ready, or its status has changed. */
  changed(): void
  /** A block of the range was added to it. */
  arrived(task: LinkTask<P>): void
  /** The node sends no more of the range; request the rest from another one. */
  abandoned(task: LinkTask<P>): void
  /** Something that is no fault of the node. */
  failed(error: unknown): void
}

/** Blocks that a node turned out not to have. */
interface Lack {
  readonly from: number
  readonly to: number
  readonly until: number
  readonly error: PronghornError
}

/** The connection to one of several nodes: it reads the chain id and the available blocks, polls the status, and reads one range of blocks at a time. It reconnects by itself.
 */
export class NodeLink<P extends ProtocolCodec> {
  readonly node: UsedNode
  readonly rate = new RateMeter()
  blocksReceived = 0
  bytesReceived = 0
  faults = 0
  lastFault: string | null = null
  /** Why the node cannot be used at all; null while it can, or while that is not known. */
  verdict: PronghornError | null = null
  /** Since when its head is none of our blocks; null while it is, or while that is not known. */
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
  /** The rest of a range that was left. */
  #left: { readonly from: number; readonly to: number } | null = null
  #libNum = 0
  #answeredAt: number | null = null
  #readyAt: number | null = null
  #retry: NodeJS.Timeout | undefined
  #restsUntil = 0
  #suspect = false
  /** Whether the verdict is about what precedes the first block: a status of our chain refutes it. */
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

  /** Connects. */
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

  /** Ends the connection for good. */
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

  /** Newest head that it reported. */
  get head(): WirePosition | null {
    return this.#head
  }

  /** Head as of the last status reply. */
  get statusHead(): BlockPosition | null {
    return this.#statusHead
  }

  get libNum(): number {
    return this.#libNum
  }

  /** Whether the chain and blocks of the node are known, and it is not paused. */
  get isReady(): boolean {
    return this.#readyAt !== null && performance.now() >= this.#restsUntil
  }

  /** Whether its last status is current. */
  get isFresh(): boolean {
    return this.isReady && this.#answeredAt !== null && performance.now() - this.#answeredAt < FRESH_MS
  }

  /** State of the node, for ranges. */
  get state(): ShipNodeState {
    if (this.#readyAt === null) return this.#connection === null ? 'failed' : 'connecting'
    if (performance.now() < this.#restsUntil) return 'failed'
    return this.#task === null ? 'watched' : 'reading'
  }

  /** Bytes read on the present connection. */
  bytesRead(): number {
    return this.#connection?.bytesRead() ?? 0
  }

  /** Whether bytes of a range should be arriving. */
  get isExpected(): boolean {
    return this.#task !== null && this.#task.credits.credits > 0 && this.#gate?.isPaused !== true
  }

  /** Number after the last irreversible block that can be requested together with `num`; `num` if none. */
  endFrom(num: number, isStrict: boolean): number {
    const status = this.#status
    if (status === null || num < this.node.from || num > this.node.to || num > this.#libNum) return num
    const first = Math.max(status.traceBegin, status.stateBegin)
    // The first block of a log may lack a part that another node has.
    if (isStrict ? num <= first && first > 2 : checkRanges(status, num).kind !== 'ready') return num
    if (num < first && isStrict) return num
    const logEnd = Math.min(status.traceEnd, status.stateEnd)
    let end = Math.min(this.node.to + 1, this.#libNum + 1)
    // An incomplete log, not one that slightly trails the head.
    if (status.head.num >= logEnd + 2) end = Math.min(end, logEnd)
    const now = performance.now()
    this.#lacks = this.#lacks.filter(({ until }) => until > now)
    for (const { from, to } of this.#lacks) {
      if (num >= from && num <= to) return num
      if (from > num) end = Math.min(end, from)
    }
    return Math.max(num, end)
  }

  /** Why the node cannot send block `num`; null when it can, or when that is not known. */
  refusalOf(num: number): PronghornError | null {
    if (this.verdict !== null) return this.verdict
    const lack = this.#lacks.find(({ from, to }) => num >= from && num <= to)
    if (lack !== undefined) return lack.error
    const { from, to } = this.node
    if (num < from || num > to) {
      const limits = `it is used for blocks ${from} to ${to === Infinity ? 'the head' : to} only (chain.ship)`
      const message = `block ${num} is needed, ${limits}`
      return rangeUnavailable({ message, status: this.#status, num, start: from }).error
    }
    if (this.#status === null) return null
    const verdict = checkRanges(this.#status, num)
    return verdict.kind === 'problem' ? verdict.problem.error : null
  }

  /** Block to begin with instead of `num`: 2 where the logs begin there and block 1 is wanted. */
  beginFor(num: number): number {
    const verdict = this.#status === null ? null : checkRanges(this.#status, num)
    return verdict?.kind === 'ready' ? verdict.start : num
  }

  /** Asks for a range; `isReady`, without a task. */
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

  /** Leaves the current range as it is, so that another one can be requested; not a fault of the node. */
  leaveRange(): void {
    const task = this.#task
    if (task === null) return
    this.#left = { from: task.next, to: task.end }
    this.#task = null
    this.#gate = null
    this.#connection?.resume()
  }

  /** Blocks of the range were released: acknowledge if the window allows. */
  acknowledge(task: LinkTask<P>): void {
    if (task !== this.#task) return
    this.#connection?.acknowledge(task.credits.takeDue(false))
    this.#gate?.update()
  }

  /** Maintains the connection: requests the status when the last reply is older than `everyMs`. */
  tick(now: number, everyMs: number): void {
    if (this.#task !== null) this.rate.sample(now, this.bytesRead(), this.isExpected)
    if (this.#readyAt === null || this.#task !== null || this.#connection?.awaitsStatus !== false) return
    if (now - (this.#answeredAt ?? 0) < everyMs) return
    const { replyTimeoutMs } = this.#reader.settings.timing
    this.#connection.requestStatus(Math.min(replyTimeoutMs, STATUS_TIMEOUT_MS))
  }

  /** Records a fault; nothing is requested from the node for `restMs`. */
  blame(reason: string, restMs: number): void {
    this.faults += 1
    this.lastFault = reason
    this.#restsUntil = performance.now() + restMs
  }

  /** The node held the others up: it rests, each time for longer. */
  restAsSlow(): void {
    this.#restsUntil = performance.now() + this.#slowRest.nextDelayMs()
  }

  /** Ends a pause, when no other node is available. */
  wake(): void {
    this.#restsUntil = 0
  }

  /** Whether it would be ready if it did not rest. */
  get isResting(): boolean {
    return this.#readyAt !== null && performance.now() < this.#restsUntil
  }

  /** Leaves the node out for the rest of the session: it has sent something else than the chain. */
  leaveOut(error: PronghornError): void {
    this.#isLeftOut = true
    this.verdict = error
    clearTimeout(this.#retry)
    this.#disconnect()
  }

  /** Leaves the connection because of the node's fault, and connects again later. */
  fail(problem: Problem): void {
    if (this.#closed || this.#connection === null) return
    const { error, kind } = problem
    const reason = describeError(error)
    // A node that stays unavailable is not logged at every attempt.
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
    // Some node versions send new heads to a session after the end of its range.
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

  /** Whether a block was in flight when the range before was left. */
  #isLeft(num: number, task: LinkTask<P>): boolean {
    return task.next === task.start && this.#left !== null && num >= this.#left.from && num < this.#left.to
  }

  #take(task: LinkTask<P>, position: WirePosition, result: BlocksResult, bytes: number): void {
    const falsePart = this.#connection?.findFalsePart(position, result) ?? null
    if (falsePart !== null) return this.fail(blockFalse(this.node.label, position, falsePart))
    if (!task.continues(result.prev, result.block)) return this.fail(missedFork(position.num))
    const block = new ReceivedBlock(this.node.label, bytes, position, result)
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

  /** The node lacks these blocks: they are requested from others. */
  #lack(from: number, to: number, problem: Problem): void {
    this.#lacks.push({ from, to, until: performance.now() + LACK_MS, error: problem.error })
    this.fail({ kind: 'lost', error: problem.error })
  }
}
