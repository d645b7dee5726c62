import { FatalError, PronghornError, describeError } from '../../../core/errors/index.ts'
import { Backoff } from '../../../core/retry/index.ts'
import { StreamAttempt } from '../attempt.ts'
import type { Outcome } from '../attempt.ts'
import { connectionLost } from '../problems.ts'
import type { Problem } from '../problems.ts'
import type { ReaderState } from '../reader-state.ts'
import { connectBackoff } from '../settings.ts'
import type { ProtocolCodec } from '../types.ts'
import { judgeBranches } from './branches.ts'
import { LagWatch } from './lag-watch.ts'
import type { NodeLink } from './node-link.ts'
import { refusalOfAll } from './range-reading.ts'

/**
 * For this time in ms after the stream has left a node, the stream returns to the node only if no other node is ready.
 */
const LEFT_REST_MS = 3_000
/**
 * Minimum time in ms between two switches away from a lagging node that still sends bytes, so that the stream does not
 * alternate between nodes.
 */
const STEADY_MS = 5_000
/**
 * Maximum number of doublings of the time-outs after which the stream leaves a node. The default time-out of 600 ms
 * grows to 77 s.
 */
const MOST_DOUBLINGS = 7
/**
 * Codes of errors that concern only one node. After such an error, a multi-node session tries another node, and a
 * single-node session stops.
 */
const faultsOfNode = new Set(['CHAIN_MISMATCH', 'FORK_BELOW_IRREVERSIBLE'])

/** Block and byte counts of the stream from one node. */
interface Streamed {
  blocks: number
  bytes: number
}

/** Counts of failures since the last received block. The next block resets the counts. */
interface Failures {
  /** Value of `blocksReceived` when the counts of failures were last reset. */
  readonly blocksReceived: number
  missedForks: number
  /** Number of times that the stream left a node, because the node lagged or was on another branch. */
  leaves: number
}

function noFailures(blocksReceived: number): Failures {
  return { blocksReceived, missedForks: 0, leaves: 0 }
}

/**
 * Streams the blocks at the head of the chain from one node. Switches to another node when the node stalls, lags or is
 * on another branch than the other nodes. The node connections poll the status of all nodes: a status contains the head
 * of a node, which shows whether the streaming node lags or is on another branch.
 */
export class HeadReading<P extends ProtocolCodec> {
  readonly #reader: ReaderState<P>
  readonly #links: readonly NodeLink<P>[]
  readonly #backoff: Backoff
  readonly #lag = new LagWatch()
  readonly #streamed = new Map<NodeLink<P>, Streamed>()
  readonly #left = new Map<NodeLink<P>, number>()
  /**
   * Faults of each node that may make the node unusable. `count` adds 1 for each fault of the kind `suspect` and 2 for
   * each fault of the kind `unusable`; `error` is the last error. `#strike` clears the map after a new block has been
   * received.
   */
  readonly #strikes = new Map<NodeLink<P>, { count: number; error: PronghornError }>()
  #strikesAt = -1
  /**
   * Failures since the last received block. Other methods call `#sinceBlock`, which resets the counts if a block has
   * been received since.
   */
  #failures: Failures = noFailures(0)
  #attempt: StreamAttempt<P> | null = null
  #followed: NodeLink<P> | null = null
  #counted: Streamed = { blocks: 0, bytes: 0 }
  #isFarBehind: () => boolean = () => false
  #leftLaggingAt = -Infinity
  #wake: () => void = () => undefined

  constructor(reader: ReaderState<P>, links: readonly NodeLink<P>[]) {
    this.#reader = reader
    this.#links = links
    this.#backoff = new Backoff(connectBackoff(reader.settings))
  }

  /** The node that streams at present; null between two streams. */
  get followed(): NodeLink<P> | null {
    return this.#followed
  }

  get isStreaming(): boolean {
    return this.#attempt !== null && this.#reader.state === 'streaming'
  }

  /** Number of blocks and bytes that the head stream received from the node. */
  streamed(link: NodeLink<P>): Streamed {
    return this.#streamed.get(link) ?? { blocks: 0, bytes: 0 }
  }

  /** Acknowledges received blocks to the streaming node; called after the pipeline has released blocks. */
  acknowledge(): void {
    this.#attempt?.acknowledge()
  }

  /** Ends the stream; `run` returns. */
  stop(): void {
    this.#attempt?.finish({ kind: 'aborted' })
    this.#wake()
  }

  /** Called when the status of a node has changed. Ends the wait in `#pause`. */
  changed(): void {
    this.#wake()
  }

  /**
   * Streams until block `stopBlock` has arrived, the signal aborts, or `isFarBehind` returns true (reading ranges from
   * all nodes is then faster).
   * @throws FatalError when no node can send the next block, and whatever the consumer throws.
   */
  async run(signal: AbortSignal, isFarBehind: () => boolean): Promise<void> {
    this.#isFarBehind = isFarBehind
    const reader = this.#reader
    while (!signal.aborted && reader.nextStart() <= reader.settings.stopBlock) {
      const link = this.#choose()
      if (link === null) {
        const refusal = refusalOfAll(this.#links, reader.nextStart())
        if (refusal !== null) throw refusal
        return this.#pause(signal)
      }
      const outcome = await this.#follow(link, signal)
      if (outcome.kind === 'aborted' || outcome.kind === 'stopped') return
      if (outcome.kind === 'error') {
        const { error } = outcome
        if (!(error instanceof PronghornError) || !faultsOfNode.has(error.code)) throw error
        await this.#recover(link, { kind: 'unusable', error }, signal)
      } else await this.#recover(link, outcome.problem, signal)
    }
  }

  /**
   * Makes the stream switch to another node if the streaming node lags behind another node or is on a branch of its
   * own. Ends the streaming if `isFarBehind` returns true: reading ranges from all nodes is then faster.
   */
  tick(now: number): void {
    const followed = this.#followed
    if (this.#attempt === null || followed === null) return
    this.#count()
    if (this.#isFarBehind()) return this.#attempt.finish({ kind: 'aborted' })
    const { tail, credits, consumer, settings } = this.#reader
    const others = this.#links.filter((link) => link !== followed && link.isFresh)
    const heads = others.flatMap((link) =>
      link.otherBranchSince === null ? [link.statusHead?.num ?? 0] : [],
    )
    const lag = this.#lag.sample(now, {
      last: tail.next - 1,
      otherHead: Math.max(0, ...heads),
      bytesRead: this.#reader.bytesRead(),
      isExpected: credits.credits > 0 && credits.heldBytes < settings.maxBytes / 2,
    })
    if (lag !== null && (lag.isSilent || now - this.#leftLaggingAt >= STEADY_MS)) {
      if (!lag.isSilent) this.#leftLaggingAt = now
      return this.#leave(
        `the node is behind: another node had block ${lag.block} ${Math.round(lag.ms)} ms ago`,
      )
    }
    const isAlone = judgeBranches(
      { links: this.#links, followed, lib: followed.libNum, last: tail.next - 1 },
      consumer.resumePosition().havePositions,
      settings.timing.otherBranchMs * this.#patience(),
      now,
    )
    if (isAlone) this.#leave('the node is on another branch of the chain than the other nodes')
  }

  /**
   * Factor for the time-outs after which the stream leaves a node. With N nodes, the factor doubles each time that the
   * stream has left nodes N times without receiving a block. With constant time-outs, a block that every node sends
   * slowly would never arrive.
   */
  #patience(): number {
    return 2 ** Math.min(Math.floor(this.#sinceBlock().leaves / this.#links.length), MOST_DOUBLINGS)
  }

  #sinceBlock(): Failures {
    const { blocksReceived } = this.#reader
    if (this.#failures.blocksReceived !== blocksReceived) this.#failures = noFailures(blocksReceived)
    return this.#failures
  }

  #leave(reason: string): void {
    this.#sinceBlock().leaves += 1
    this.#attempt?.finish({ kind: 'problem', problem: connectionLost(reason) })
  }

  /**
   * Picks the node to stream from; null if no node is ready. Criteria in this order:
   * - the stream has not left the node within LEFT_REST_MS;
   * - the fewest faults (`#strikes`);
   * - a fresh status;
   * - a head within one block of the highest head;
   * - the greatest weight.
   */
  #choose(): NodeLink<P> | null {
    const next = this.#reader.tail.next
    const now = performance.now()
    const ready = this.#links.filter((link) => link.isReady && link.refusalOf(next) === null)
    const best = Math.max(0, ...ready.map((link) => link.head?.num ?? 0))
    const rank = (link: NodeLink<P>): number[] => [
      now - (this.#left.get(link) ?? -Infinity) < LEFT_REST_MS ? 1 : 0,
      this.#strikes.get(link)?.count ?? 0,
      link.isFresh ? 0 : 1,
      (link.head?.num ?? 0) >= best - 1 ? 0 : 1,
      -link.node.weight,
    ]
    return ready.sort((a, b) => compareRanks(rank(a), rank(b)))[0] ?? null
  }

  async #follow(link: NodeLink<P>, signal: AbortSignal): Promise<Outcome> {
    const reader = this.#reader
    reader.state = 'connecting'
    reader.url = link.node.label
    reader.connections += 1
    this.#followed = link
    this.#counted = { blocks: reader.blocksReceived, bytes: reader.bytesReceived }
    this.#lag.begin(performance.now(), reader.settings.timing.takeoverMs * this.#patience())
    // Clear `otherBranchSince` of every node: the value says that the node was on another branch than the previous
    // stream. With such a value, `judgeBranches` would end the new stream before its first block, and this process
    // would never switch to the other branch.
    for (const each of this.#links) each.otherBranchSince = null
    let attempt: StreamAttempt<P> | null = null
    const abort = (): void => attempt?.finish({ kind: 'aborted' })
    const outcome = await new Promise<Outcome>((resolve) => {
      attempt = new StreamAttempt(reader, link.node, resolve)
      this.#attempt = attempt
      signal.addEventListener('abort', abort)
      if (signal.aborted) abort()
    })
    signal.removeEventListener('abort', abort)
    this.#count()
    this.#attempt = null
    this.#followed = null
    return outcome
  }

  /** Adds the blocks and bytes received since the last call to the counts of the streaming node. */
  #count(): void {
    const { blocksReceived, bytesReceived } = this.#reader
    const link = this.#followed
    if (link === null) return
    const streamed = this.streamed(link)
    this.#streamed.set(link, {
      blocks: streamed.blocks + blocksReceived - this.#counted.blocks,
      bytes: streamed.bytes + bytesReceived - this.#counted.bytes,
    })
    this.#counted = { blocks: blocksReceived, bytes: bytesReceived }
  }

  /**
   * Records the fault of the node that ended the stream. Pauses before the next stream only if no other node is
   * available.
   */
  async #recover(link: NodeLink<P>, problem: Problem, signal: AbortSignal): Promise<void> {
    const reader = this.#reader
    const reason = describeError(problem.error)
    reader.lastProblem = reason
    reader.state = 'backing-off'
    reader.settings.logger.warn({ url: reader.url, code: problem.error.code }, reason)
    link.blame(reason, 0)
    if (problem.kind === 'missed-fork' && this.#mayRewind(problem)) return
    if (problem.error.code === 'SHIP_BLOCK_INVALID') link.leaveOut(problem.error)
    this.#left.set(link, performance.now())
    if (problem.kind !== 'lost' && problem.kind !== 'missed-fork') this.#strike(link, problem)
    const now = performance.now()
    const hasOther = this.#links.some(
      (other) => other.isReady && now - (this.#left.get(other) ?? -Infinity) >= LEFT_REST_MS,
    )
    if (hasOther) return
    await this.#pause(signal)
  }

  /**
   * Waits until the back-off ends. The wait ends earlier if a node has a fresh status and the stream has not left this
   * node within LEFT_REST_MS.
   */
  async #pause(signal: AbortSignal): Promise<void> {
    const until = performance.now() + this.#backoff.nextDelayMs()
    while (!signal.aborted && performance.now() < until) {
      const now = performance.now()
      if (
        this.#links.some((link) => link.isFresh && now - (this.#left.get(link) ?? -Infinity) >= LEFT_REST_MS)
      )
        return
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, Math.min(50, until - now))
        this.#wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
  }

  /**
   * Handles a block that does not link to the last delivered block:
   * 1. Reconnect to the same node: the node may send the fork, because the new request names the reversible blocks.
   * 2. Try the other nodes.
   * 3. If all ready nodes have sent such a block, undo the last delivered block.
   * Returns false if the stream has to switch to another node.
   */
  #mayRewind(problem: Problem): boolean {
    const failures = this.#sinceBlock()
    failures.missedForks += 1
    if (failures.missedForks === 1) return true
    if (failures.missedForks <= this.#links.filter((link) => link.isReady).length) return false
    failures.missedForks = 0
    this.#reader.undoBefore(problem.num ?? this.#reader.tail.next, problem.error)
    return true
  }

  /**
   * Counts a fault of the node: a problem of the kind `suspect` counts 1, of the kind `unusable` 2. A node is unusable
   * if its count is at least 2, or if `verdict`, the error that makes the node unusable, is set. Throws the error if
   * every node is unusable.
   */
  #strike(link: NodeLink<P>, problem: Problem): void {
    const { blocksReceived } = this.#reader
    if (this.#strikesAt !== blocksReceived) this.#strikes.clear()
    this.#strikesAt = blocksReceived
    const count = (this.#strikes.get(link)?.count ?? 0) + (problem.kind === 'suspect' ? 1 : 2)
    const error =
      problem.error instanceof FatalError
        ? problem.error
        : new FatalError('SHIP_PROTOCOL', 'unusable', { cause: problem.error })
    this.#strikes.set(link, { count, error })
    const isHopeless = this.#links.every(
      (each) => each.verdict !== null || (this.#strikes.get(each)?.count ?? 0) >= 2,
    )
    if (isHopeless) throw error
  }
}

function compareRanks(a: readonly number[], b: readonly number[]): number {
  const place = a.findIndex((value, index) => value !== b[index])
  return place === -1 ? 0 : a[place]! - b[place]!
}
