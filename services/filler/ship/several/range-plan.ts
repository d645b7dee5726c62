import type { ProtocolCodec } from '../types.ts'
import type { LinkTask, NodeLink } from './node-link.ts'

/**
 * Target duration of a range, seconds: long compared with a round trip, and short enough that a lost range costs
 * little.
 */
const RANGE_SECONDS = 0.4
/** Maximum number of blocks in a range. Even an empty block takes memory while the block is buffered. */
const MOST_BLOCKS = 8_192
/**
 * A new range has at most GROWTH times the blocks of the largest range so far. Ranges grow in steps, because the size
 * of later blocks is unknown.
 */
const GROWTH = 4
/**
 * Time in ms without bytes after which the first range is requested from another node. The time is short, because all
 * other ranges wait for the first range.
 */
const AWAITED_SILENCE_MS = 750
/**
 * Time in ms without bytes after which a range is requested from another node. For the first range, AWAITED_SILENCE_MS
 * applies.
 */
const SILENCE_MS = 5_000
/**
 * Minimum age of the first range before its rate is compared with the rates of other nodes, ms: short measurements are
 * inaccurate.
 */
const LATE_MS = 1_000
/**
 * `chooseSteal` compares the times that two nodes need for the remaining blocks of the first range: the node that reads
 * the range, and the fastest other node. The node loses the range if its time is longer than SLOWER times the time of
 * the other node plus SLOWER_MS.
 */
const SLOWER = 2
const SLOWER_MS = 500

export interface PlanFacts {
  /** Estimated size of a block, bytes. */
  readonly blockBytes: number
  /** Rate at which the node sends, bytes a second; null before the first measurement. */
  readonly bytesPerSecond: number | null
  /** Configured weight of the node divided by the greatest weight of all nodes, 0 to 1. */
  readonly share: number
  /** Maximum size of one range, bytes. */
  readonly budgetBytes: number
  /** Number of blocks in the largest range so far. */
  readonly largestBlocks: number
  readonly blocksLeft: number
  /** Number of nodes that are ready to send blocks. */
  readonly nodes: number
}

/**
 * Number of blocks for the next range of a node, at least one. The number is limited by the byte budget, the node's
 * measured rate, the growth limit, and an even share of the remaining blocks.
 */
export function planSize(facts: PlanFacts): number {
  const { blockBytes, bytesPerSecond, share, budgetBytes, largestBlocks, blocksLeft, nodes } = facts
  const bytes = Math.min(budgetBytes, (bytesPerSecond ?? Infinity) * RANGE_SECONDS) * share
  const blocks = Math.min(Math.floor(bytes / blockBytes), largestBlocks * GROWTH, MOST_BLOCKS)
  // The last ranges get equal sizes, so that all nodes finish together.
  const even = Math.ceil(blocksLeft / Math.max(1, nodes))
  return Math.max(1, Math.min(blocks, Math.max(even, largestBlocks >> 2)))
}

export interface StealFacts<P extends ProtocolCodec> {
  /** The first unfinished range. Blocks are delivered in order, so all other ranges wait for the first range. */
  readonly front: LinkTask<P> | null
  /** All nodes of the session. Nodes that read another range than `front` are included: they can read `front` next. */
  readonly links: readonly NodeLink<P>[]
  /** Estimated size of a block, bytes. */
  readonly blockBytes: number
  readonly now: number
}

/** Reason to request the node's current range from another node; null if the node is fast enough. */
export function chooseSteal<P extends ProtocolCodec>(
  link: NodeLink<P>,
  { front, links, blockBytes, now }: StealFacts<P>,
): string | null {
  const { task } = link
  if (task === null || !link.isExpected) return null
  const silent = link.rate.silentMs(now)
  if (silent >= SILENCE_MS) return describe(task, `no bytes for ${Math.round(silent / 1_000)} s`)
  if (task !== front) return null
  const others = links.filter(
    (other) => other !== link && other.isReady && other.endFrom(task.next, true) > task.next,
  )
  if (others.length === 0) return null
  if (silent >= AWAITED_SILENCE_MS) return describe(task, `no bytes for ${Math.round(silent)} ms`)
  const rate = link.rate.bytesPerSecond
  const best = Math.max(...others.map((other) => other.rate.bytesPerSecond ?? 0))
  // Compare the node with other nodes only if the range is older than LATE_MS: the rate of a younger range is
  // inaccurate.
  if (rate === null || best === 0 || link.rate.rangeMs(now) < LATE_MS) return null
  const bytes = (task.end - task.next) * blockBytes
  if ((bytes * 1_000) / Math.max(rate, 1) <= SLOWER * ((bytes * 1_000) / best) + SLOWER_MS) return null
  return describe(
    task,
    `${Math.round(rate / 1_000)} kB/s, and blocks that other nodes have sent wait for these blocks`,
  )
}

function describe(task: { readonly next: number; readonly end: number }, what: string): string {
  return `the node is too slow with blocks ${task.next} to ${task.end - 1}: ${what}`
}
