import type { FatalError } from '../../../core/errors/index.ts'
import type { ReceivedBlock } from '../block.ts'
import { connectionLost, missedFork } from '../problems.ts'
import type { ReaderState } from '../reader-state.ts'
import type { ProtocolCodec, WirePosition } from '../types.ts'
import type { LinkTask, NodeLink } from './node-link.ts'
import { chooseSteal, planSize } from './range-plan.ts'
import { RangeTask } from './range-task.ts'

/**
 * Maximum number of bytes that are delivered in one turn of the event loop. Between two turns, the sockets are read.
 */
const TURN_BYTES = 2 * 2 ** 20
/** Memory that a buffered block takes in addition to the received bytes of the block, bytes. */
const BLOCK_OVERHEAD_BYTES = 1_500
/** Weight of a new range in the moving average of the block size. */
const SIZE_SHARE = 0.3
/** Limit of planned ranges (requested or buffered) per ready node. */
const RANGES_PER_NODE = 3
/** Time in ms without requests to a node after the node has sent a block that does not link to the delivered blocks. */
const UNLINKED_REST_MS = 30_000

/**
 * If no block is delivered for this time in ms, the range with the next block is requested from another node, even
 * without a fault of the node that reads the range.
 */
const NO_PROGRESS_MS = 8_000

/** Node connections and callbacks that a range reading gets from its session. */
export interface RangeHost<P extends ProtocolCodec> {
  readonly links: readonly NodeLink<P>[]
  /** Highest head that a usable node has reported. */
  highestHead(): WirePosition | null
  useProtocol(protocol: P): void
  failed(error: unknown): void
  /**
   * Called when the reading of ranges ends: all irreversible blocks are delivered, no node can send the next block, or
   * the last delivered block was undone.
   */
  ended(): void
}

/**
 * Reads irreversible blocks from all nodes in parallel: requests a range from each node, buffers the blocks and
 * delivers them in order. Blocks that a node fails to send are requested from another node.
 */
export class RangeReading<P extends ProtocolCodec> {
  readonly #reader: ReaderState<P>
  readonly #host: RangeHost<P>
  /** Ranges in block order, without a hole. Blocks of the first range are delivered as they arrive. */
  #segments: LinkTask<P>[] = []
  /** Ranges, in block order, with blocks that were delivered and that the pipeline has not released yet. */
  readonly #unreleased: { readonly task: LinkTask<P>; blocks: number }[] = []
  #planned = 0
  #blockBytes = 64 * 1024
  #largestBlocks = 4
  #active = false
  #delivering = false
  #turn: NodeJS.Immediate | undefined
  /**
   * Nodes whose block number `#unlinkedAt` does not link to the last delivered block. If all ready nodes are in the
   * set, the last delivered block is wrong. Otherwise the nodes in the set are wrong.
   */
  readonly #unlinked = new Set<NodeLink<P>>()
  #unlinkedAt = -1
  #refusals = 0
  #progress = { next: -1, at: 0 }

  constructor(reader: ReaderState<P>, host: RangeHost<P>) {
    this.#reader = reader
    this.#host = host
  }

  /** Whether ranges are being read. */
  get isActive(): boolean {
    return this.#active
  }

  /** Size of the blocks that the unfinished ranges hold, bytes. */
  get bufferedBytes(): number {
    let bytes = 0
    for (const task of this.#segments) bytes += task.credits.heldBytes
    return bytes
  }

  /**
   * Returns the number of the last irreversible block that the ready nodes together can send without a gap from block
   * `from` on, at most `stopBlock`. Returns `from - 1` if no ready node can send block `from`.
   */
  reach(from: number): number {
    const ready = this.#host.links.filter((link) => link.isReady)
    const furthest = (num: number): number => Math.max(num, ...ready.map((link) => link.endFrom(num, false)))
    let end = from
    for (let next = furthest(end); next > end; next = furthest(end)) end = next
    return Math.min(end - 1, this.#reader.settings.stopBlock)
  }

  /** Starts reading at block `start`. */
  start(start: number): void {
    this.#reader.tail.reset(this.#reader.consumer.resumePosition(), start)
    this.#planned = start
    this.#segments = []
    this.#active = true
    this.assign()
  }

  /** Stops reading ranges and drops the buffered blocks. */
  stop(): void {
    this.#active = false
    clearImmediate(this.#turn)
    this.#segments = []
  }

  /**
   * Called when the pipeline no longer needs the oldest `blocks` delivered blocks. Frees the memory of these blocks in
   * the byte budgets of their ranges, so that the nodes may send more.
   */
  release(blocks: number, bytes: number): void {
    for (let left = blocks, entry = this.#unreleased[0]; entry && left > 0; entry = this.#unreleased[0]) {
      const count = Math.min(left, entry.blocks)
      left -= count
      entry.blocks -= count
      if (entry.blocks === 0) this.#unreleased.shift()
      const { task } = entry
      task.credits.release(count, count === blocks ? bytes : Math.floor((bytes * count) / blocks))
      task.link?.acknowledge(task)
    }
    if (this.#active) this.#deliver()
  }

  /**
   * Delivers the blocks of the first range as they arrive. When the last block of a range has arrived, plans the next
   * ranges.
   */
  arrived(task: LinkTask<P>): void {
    if (!this.#active) return
    // Read `isComplete` before `#deliver` runs. If a block does not link, `#deliver` shortens the range to the
    // delivered blocks. Afterwards `isComplete` would be true although blocks are missing.
    const { isComplete } = task
    if (isComplete) this.#noteSize(task)
    if (task === this.#segments[0]) this.#deliver()
    if (isComplete) this.assign()
  }

  #noteSize(task: LinkTask<P>): void {
    const blocks = task.end - task.start
    const size = task.bytes / blocks + BLOCK_OVERHEAD_BYTES
    this.#blockBytes += (size - this.#blockBytes) * SIZE_SHARE
    this.#largestBlocks = Math.max(this.#largestBlocks, blocks)
  }

  /** Turns the missing blocks of the range into an unassigned range, because the node of the range stopped sending. */
  abandoned(task: LinkTask<P>): void {
    const place = this.#segments.indexOf(task)
    if (place === -1 || task.isComplete) return
    const { end } = task
    task.cutAtNext()
    this.#replaceRest(place, task, end)
    this.assign()
  }

  /** Assigns ranges to idle nodes and takes ranges away from nodes that are too slow. */
  tick(now: number): void {
    if (!this.#active) return
    this.assign()
    this.#watchProgress(now)
    const { links } = this.#host
    for (const link of links) {
      const front = this.#segments[0] ?? null
      const steal = chooseSteal(link, { front, links, blockBytes: this.#blockBytes, now })
      if (steal === null) continue
      link.fail(connectionLost(steal))
      link.restAsSlow()
    }
  }

  /**
   * Requests the first range from another node if no block was delivered for NO_PROGRESS_MS although the pipeline is
   * empty. Ends the reading of ranges if no node can send the first range.
   */
  #watchProgress(now: number): void {
    const { tail, credits } = this.#reader
    if (this.#progress.next !== tail.next || credits.heldBytes > 0)
      this.#progress = { next: tail.next, at: now }
    if (now - this.#progress.at < NO_PROGRESS_MS) return
    this.#progress = { next: tail.next, at: now }
    for (const link of this.#host.links) link.wake()
    this.#segments[0]?.link?.fail(
      connectionLost(`no part of block ${tail.next} arrived for ${NO_PROGRESS_MS / 1_000} s`),
    )
    // If no node can send the first range, stop reading ranges: the head stream can also read blocks that no node
    // reports as irreversible.
    if (this.#segments[0]?.link === null) this.#end()
    else this.#deliver()
  }

  /**
   * Requests a range from each idle node: the first unassigned range that the node can send, otherwise a new range
   * after the last one.
   */
  assign(): void {
    if (!this.#active) return
    this.#segments = this.#segments.filter((task) => !task.isTaken)
    for (const link of this.#idle()) {
      const place = this.#segments.findIndex(
        (task) => task.link === null && this.#endFrom(link, task.start) > task.start,
      )
      if (place !== -1) this.#fill(place, link)
      else this.#extend(link)
    }
    this.#fillFront()
    this.#endIfDone()
  }

  #idle(): NodeLink<P>[] {
    const idle = this.#host.links.filter((link) => link.isReady && link.task === null)
    const rate = (link: NodeLink<P>) => link.rate.bytesPerSecond ?? Infinity
    return idle.sort((a, b) => b.node.weight - a.node.weight || rate(b) - rate(a))
  }

  /**
   * Returns the end (exclusive) of the blocks that the node can send from block `num` on, or `num` if the node cannot
   * send block `num`. A block that may lack traces or deltas is accepted only if no other ready node has the whole
   * block.
   */
  #endFrom(link: NodeLink<P>, num: number): number {
    const end = link.endFrom(num, true)
    if (end > num) return end
    const hasOther = this.#host.links.some((other) => other.isReady && other.endFrom(num, true) > num)
    return hasOther ? num : link.endFrom(num, false)
  }

  #size(link: NodeLink<P>, left: number): number {
    const { links } = this.#host
    return planSize({
      blockBytes: this.#blockBytes,
      bytesPerSecond: link.rate.bytesPerSecond,
      share: link.node.weight / Math.max(...links.map(({ node }) => node.weight)),
      budgetBytes: this.#budgetBytes(),
      largestBlocks: this.#largestBlocks,
      blocksLeft: left,
      nodes: links.filter((each) => each.isReady).length,
    })
  }

  /**
   * Byte limit for the size of a new range. If every node has RANGES_PER_NODE such ranges, all ranges together have at
   * most twice the byte budget of a single-node session (`maxBytes`).
   */
  #budgetBytes(): number {
    const { maxBytes } = this.#reader.settings
    return Math.min(maxBytes / 8, (2 * maxBytes) / (RANGES_PER_NODE * this.#host.links.length))
  }

  #fill(place: number, link: NodeLink<P>): void {
    const hole = this.#segments[place]!
    const end = Math.min(this.#endFrom(link, hole.start), hole.end)
    const size = this.#size(link, hole.end - hole.start)
    const task = this.#task(hole.start, Math.min(end, hole.start + size), link)
    const rest = task.end < hole.end ? [this.#task(task.end, hole.end, null)] : []
    this.#segments.splice(place, 1, task, ...rest)
    link.read(task, task.end)
  }

  #extend(link: NodeLink<P>): void {
    const usable = this.#host.links.filter((each) => each.isReady).length
    if (this.#segments.length >= RANGES_PER_NODE * usable) return
    const last = this.reach(this.#planned)
    const end = Math.min(this.#endFrom(link, this.#planned), last + 1)
    if (end <= this.#planned) return
    const size = this.#size(link, last + 1 - this.#planned)
    const task = this.#task(this.#planned, Math.min(end, this.#planned + size), link)
    this.#planned = task.end
    this.#segments.push(task)
    link.read(task, task.end)
  }

  /**
   * Resolves a deadlock. No node reads the first range, and nodes that could send it wait, because the buffers of their
   * own ranges are full. Blocks are delivered in order, so these buffers stay full until the first range is read. The
   * waiting node with the highest block numbers gives up its range and reads the first range.
   */
  #fillFront(): void {
    const front = this.#segments[0]
    if (front === undefined || front.link !== null) return
    const stuck = this.#host.links.filter(
      (link) =>
        link.isReady &&
        link.task !== null &&
        !link.isExpected &&
        this.#endFrom(link, front.start) > front.start,
    )
    const [link] = stuck.sort((a, b) => b.task!.start - a.task!.start)
    if (link === undefined) return
    const task = link.task!
    const { end } = task
    link.leaveRange()
    task.cutAtNext()
    this.#replaceRest(this.#segments.indexOf(task), task, end)
    this.#fill(0, link)
  }

  #task(start: number, end: number, link: NodeLink<P> | null): LinkTask<P> {
    return new RangeTask({
      start,
      end,
      link,
      protocol: link?.protocol ?? null,
      budgetBytes: 2 * this.#budgetBytes(),
      blockBytes: this.#blockBytes,
    })
  }

  #replaceRest(place: number, task: LinkTask<P>, end: number): void {
    const rest = task.end < end ? [this.#task(task.end, end, null)] : []
    const retained = task.start < task.end && !task.isTaken ? [task] : []
    this.#segments.splice(place, 1, ...retained, ...rest)
  }

  #deliver(): void {
    if (this.#delivering || !this.#active) return
    this.#delivering = true
    try {
      this.#deliverTurn()
    } catch (error) {
      this.#active = false
      this.#host.failed(error)
    } finally {
      this.#delivering = false
    }
  }

  #deliverTurn(): void {
    const { credits, settings } = this.#reader
    let bytes = 0
    let hasRoom = false
    for (let task = this.#segments[0]; task !== undefined && this.#active; task = this.#segments[0]) {
      if (task.isTaken) {
        this.#segments.shift()
        hasRoom = true
        continue
      }
      const block = task.peek()
      // The next block has not arrived, or the delivered blocks in the pipeline fill half of `maxBytes`. `arrived` or
      // `release` resumes the delivery.
      if (block === null || credits.heldBytes >= settings.maxBytes / 2) break
      if (bytes >= TURN_BYTES) {
        this.#continueLater()
        break
      }
      bytes += block.bytes
      hasRoom = !this.#handOver(task, block) || hasRoom
    }
    if (hasRoom) this.assign()
  }

  #continueLater(): void {
    clearImmediate(this.#turn)
    this.#turn = setImmediate(() => this.#deliver())
  }

  /** Delivers a block. Returns false if the block does not link to the last delivered block. */
  #handOver(task: LinkTask<P>, block: ReceivedBlock): boolean {
    const reader = this.#reader
    const position = { num: block.num, id: block.idBytes }
    const parent = block.prevIdBytes === null ? null : { num: block.num - 1, id: block.prevIdBytes }
    if (reader.tail.classify(position, parent, block.header) !== 'next') {
      this.#refuse(task, block)
      return false
    }
    const head = this.#host.highestHead()
    if (head !== null && head.num > block.head.num) block.head = head
    if (task.protocol !== null) this.#host.useProtocol(task.protocol)
    task.take()
    const latest = this.#unreleased.at(-1)
    if (latest?.task === task) latest.blocks += 1
    else this.#unreleased.push({ task, blocks: 1 })
    reader.tail.append(block.num, block.idBytes, block.lib.num)
    reader.credits.hold(block.bytes)
    reader.consumer.onBlock(block)
    return true
  }

  /**
   * Handles a block that does not link to the last delivered block. If no ready node has a next block that links, the
   * last delivered block is wrong and is undone. Otherwise another node has to send the range.
   */
  #refuse(task: LinkTask<P>, block: ReceivedBlock): void {
    const { tail } = this.#reader
    const { next } = tail
    const problem = missedFork(block.node, block, tail.lastId)
    if (this.#unlinkedAt !== next) {
      this.#unlinked.clear()
      this.#refusals = 0
    }
    this.#unlinkedAt = next
    this.#refusals += 1
    const link = task.link!
    this.#unlinked.add(link)
    const { end } = task
    task.cutAtTaken()
    this.#replaceRest(0, task, end)
    const ready = this.#host.links.filter((each) => each.isReady)
    if (this.#refusals > 1 && ready.every((each) => this.#unlinked.has(each))) {
      // `undoBefore` throws if the last delivered block is irreversible.
      this.#reader.undoBefore(next, problem.error)
      this.#end()
      return
    }
    link.fail(problem)
    link.blame(`${link.lastFault ?? ''} (the node is not on the indexed chain)`, UNLINKED_REST_MS)
    this.#dropFrom(link)
  }

  /**
   * Makes the ranges of a faulty node unassigned, except the first range, so that other nodes read these ranges. The
   * buffered blocks of these ranges are dropped.
   */
  #dropFrom(link: NodeLink<P>): void {
    for (let place = this.#segments.length - 1; place > 0; place--) {
      const task = this.#segments[place]!
      if (task.link !== link) continue
      this.#segments[place] = this.#task(task.start, task.end, null)
    }
  }

  #endIfDone(): void {
    if (this.#segments.some((task) => !task.isTaken) || this.reach(this.#planned) >= this.#planned) return
    if (!this.#host.links.some((link) => link.isReady)) return
    this.#end()
  }

  #end(): void {
    this.stop()
    this.#host.ended()
  }
}

/** Error if no node can send block `num`; null if at least one node may have the block. */
export function refusalOfAll<P extends ProtocolCodec>(
  links: readonly NodeLink<P>[],
  num: number,
): FatalError | null {
  const refusals = links.map((link) => link.refusalOf(num))
  return refusals.every((refusal) => refusal !== null)
    ? ((refusals[0] as FatalError | undefined) ?? null)
    : null
}
