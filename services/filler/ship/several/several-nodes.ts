import { FatalError } from '../../../core/errors/index.ts'
import { pause } from '../../../core/retry/index.ts'
import { ReaderState } from '../reader-state.ts'
import type { ShipSettings } from '../settings.ts'
import type {
  ProtocolCodec,
  ShipConsumer,
  ShipNodeStatus,
  ShipSession,
  ShipStatus,
  WirePosition,
} from '../types.ts'
import { HeadReading } from './head-reading.ts'
import { NodeLink } from './node-link.ts'
import { RangeReading, refusalOfAll } from './range-reading.ts'
import { shareProtocols } from './share-protocols.ts'

/** Interval at which the session checks all nodes, ms. */
const TICK_MS = 100
/**
 * After one node has sent its status, the session waits at most this time in ms for the status of the other nodes: the
 * node that answers first is not always the best.
 */
const OTHERS_MS = 300
/**
 * Ranges are read in parallel only if at least this many irreversible blocks are left to read. Fewer blocks are left to
 * the head stream.
 */
const LEAST_RANGE = 64
/**
 * If at least this many irreversible blocks are left to read, the session stops the head stream and reads ranges again.
 */
const FAR_BEHIND = 1_000

/**
 * A session that reads from several nodes. Up to the last irreversible block, the session reads ranges from all nodes
 * in parallel. After that block, the session streams from one node and monitors the other nodes.
 */
export class SeveralNodes<P extends ProtocolCodec> implements ShipSession {
  readonly #reader: ReaderState<P>
  readonly #links: readonly NodeLink<P>[]
  readonly #ranges: RangeReading<P>
  readonly #heads: HeadReading<P>
  #protocol: P | null = null
  #failure: { readonly error: unknown } | null = null
  /** Ends the current wait of the session. Each wait sets a new function. */
  #wake: () => void = () => undefined
  #drained: (() => void) | null = null
  #timer: NodeJS.Timeout | undefined
  #isAtHead = false

  constructor(settings: ShipSettings<P>, consumer: ShipConsumer<P>) {
    const reader = new ReaderState(
      { ...settings, compileProtocol: shareProtocols(settings.compileProtocol) },
      consumer,
    )
    this.#reader = reader
    const owner = {
      changed: () => this.#onChange(),
      arrived: (task: Parameters<RangeReading<P>['arrived']>[0]) => this.#ranges.arrived(task),
      abandoned: (task: Parameters<RangeReading<P>['abandoned']>[0]) => this.#ranges.abandoned(task),
      failed: (error: unknown) => this.#fail(error),
    }
    this.#links = settings.addresses.map((node) => new NodeLink(node, reader, owner))
    this.#ranges = new RangeReading(reader, {
      links: this.#links,
      highestHead: () => this.#highestHead(),
      useProtocol: (protocol) => {
        if (protocol === this.#protocol) return
        this.#protocol = protocol
        reader.consumer.onProtocol(protocol)
      },
      failed: (error) => this.#fail(error),
      ended: () => this.#wake(),
    })
    this.#heads = new HeadReading(reader, this.#links)
  }

  async run(signal: AbortSignal): Promise<void> {
    const reader = this.#reader
    if (reader.state !== 'idle') throw new FatalError('INTERNAL', 'a state-history session runs only once')
    const abort = (): void => this.#wake()
    signal.addEventListener('abort', abort)
    reader.state = 'connecting'
    for (const link of this.#links) link.open()
    this.#timer = setInterval(() => this.#tick(), TICK_MS)
    try {
      while (!signal.aborted && reader.nextStart() <= reader.settings.stopBlock) {
        if (!(await this.#awaitNode(signal))) continue
        const start = this.#start()
        if (this.#ranges.reach(start) - start >= LEAST_RANGE) await this.#readRanges(start, signal)
        else await this.#followHead(signal)
      }
      if (!signal.aborted) await this.#drain(signal)
    } finally {
      signal.removeEventListener('abort', abort)
      clearInterval(this.#timer)
      for (const link of this.#links) link.close()
      reader.state = 'ended'
    }
  }

  release(blocks: number, bytes: number): void {
    this.#reader.credits.release(blocks, bytes)
    this.#ranges.release(blocks, bytes)
    this.#heads.acknowledge()
    if (this.#reader.credits.heldBlocks === 0) this.#drained?.()
  }

  status(): ShipStatus {
    const status = this.#reader.status()
    const heldBytes = Math.max(status.heldBytes, this.#ranges.bufferedBytes)
    const highest = this.#highestHead()?.num ?? null
    return { ...status, heldBytes, nodes: this.#links.map((link) => this.#describe(link, highest)) }
  }

  #describe(link: NodeLink<P>, highest: number | null): ShipNodeStatus {
    const isFollowed = this.#heads.followed === link
    const streamed = this.#heads.streamed(link)
    const headNum = link.head?.num ?? null
    return {
      url: link.node.label,
      state: isFollowed && this.#heads.isStreaming ? 'followed' : link.state,
      headNum,
      lagBlocks: headNum === null || highest === null ? null : Math.max(0, highest - headNum),
      blocksReceived: link.blocksReceived + streamed.blocks,
      bytesReceived: link.bytesReceived + streamed.bytes,
      faults: link.faults,
      lastFault: link.lastFault,
    }
  }

  /**
   * Waits until a node is ready to send blocks. Returns false if no node is ready yet or if the signal aborts; the
   * caller then checks the signal and calls again. Throws if no node can send the next block.
   */
  async #awaitNode(signal: AbortSignal): Promise<boolean> {
    const reader = this.#reader
    this.#throwFailure()
    if (this.#links.some((link) => link.isReady)) {
      const missing = this.#links.some((link) => link.state === 'connecting' && link.faults === 0)
      if (missing) await Promise.race([pause(OTHERS_MS, signal), this.#changed(() => this.#allAnswered())])
      this.#throwFailure()
      return !signal.aborted
    }
    const start = reader.nextStart()
    const refusal = refusalOfAll(this.#links, start)
    if (refusal !== null) throw refusal
    for (const link of this.#links) link.wake()
    reader.state = this.#links.every((link) => link.state === 'failed') ? 'backing-off' : 'connecting'
    if (!this.#links.some((link) => link.isReady)) {
      await this.#changed(() => this.#links.some((link) => link.isReady || link.verdict !== null))
    }
    return false
  }

  #allAnswered(): boolean {
    return this.#links.every((link) => link.state !== 'connecting')
  }

  /**
   * Waits until `holds` returns true, the session fails, or one second has passed. `holds` is called after each change
   * of a node and at each tick.
   */
  async #changed(holds: () => boolean): Promise<void> {
    const until = performance.now() + 1_000
    while (this.#failure === null && performance.now() < until) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
      if (holds()) return
    }
  }

  #start(): number {
    const start = this.#reader.nextStart()
    const starts = this.#links.filter((link) => link.isReady).map((link) => link.beginFor(start))
    return Math.max(start, Math.min(...starts))
  }

  async #readRanges(start: number, signal: AbortSignal): Promise<void> {
    const reader = this.#reader
    reader.state = 'streaming'
    this.#isAtHead = false
    reader.settings.logger.info(
      { start, target: this.#ranges.reach(start) },
      'reading ranges of blocks from all nodes',
    )
    const ended = new Promise<void>((resolve) => {
      this.#wake = resolve
    })
    this.#ranges.start(start)
    if (!signal.aborted) await ended
    this.#ranges.stop()
    this.#throwFailure()
  }

  async #followHead(signal: AbortSignal): Promise<void> {
    this.#isAtHead = true
    // The consumer decodes blocks with the protocol (the ABI of the node's messages) that it received last. The head
    // stream passes a protocol to the consumer, so the next range has to pass its own protocol again.
    this.#protocol = null
    await this.#heads.run(
      signal,
      () => this.#ranges.reach(this.#reader.tail.next) - this.#reader.tail.next >= FAR_BEHIND,
    )
    this.#throwFailure()
  }

  #onChange(): void {
    this.#noteHighest()
    this.#ranges.assign()
    this.#heads.changed()
    if (!this.#ranges.isActive) this.#wake()
  }

  #noteHighest(): void {
    const highest = this.#highestHead()
    if (highest === null || this.#heads.isStreaming) return
    const lib = Math.max(...this.#links.map((link) => link.libNum))
    this.#reader.noteHead(highest, { num: lib, id: highest.id })
  }

  #tick(): void {
    // Let the event loop read the sockets before the nodes are judged: after a long synchronous computation, replies of
    // the nodes still wait in the sockets.
    setImmediate(() => {
      if (this.#reader.state === 'ended' || this.#failure !== null) return
      try {
        const now = performance.now()
        const { watchPollMs } = this.#reader.settings.timing
        const everyMs = this.#isAtHead ? watchPollMs : Math.max(watchPollMs, 1_000)
        for (const link of this.#links) link.tick(now, everyMs)
        this.#ranges.tick(now)
        this.#heads.tick(now)
        if (this.#ranges.isActive) this.#checkRanges()
        else this.#wake()
      } catch (error) {
        this.#fail(error)
      }
    })
  }

  /**
   * Called while ranges are read. Throws if no node can send the next block, which ends the session. If no node is
   * ready, ends the time in which nodes get no requests after a fault.
   */
  #checkRanges(): void {
    const { next } = this.#reader.tail
    if (this.#links.some((link) => link.isReady && link.endFrom(next, false) > next)) return
    const refusal = refusalOfAll(this.#links, next)
    if (refusal !== null) throw refusal
    if (!this.#links.some((link) => link.isReady)) for (const link of this.#links) link.wake()
  }

  #highestHead(): WirePosition | null {
    let highest: WirePosition | null = null
    for (const { head, verdict } of this.#links) {
      if (head !== null && verdict === null && (highest === null || head.num > highest.num)) highest = head
    }
    return highest
  }

  #fail(error: unknown): void {
    this.#failure ??= { error }
    this.#heads.stop()
    this.#wake()
  }

  #throwFailure(): void {
    if (this.#failure !== null) throw this.#failure.error
  }

  async #drain(signal: AbortSignal): Promise<void> {
    const { credits, consumer } = this.#reader
    consumer.onEnd?.()
    if (credits.heldBlocks === 0 || signal.aborted) return
    await new Promise<void>((resolve) => {
      this.#drained = resolve
      signal.addEventListener('abort', () => resolve(), { once: true })
    })
  }
}
