import type { ProtocolCodec } from '../types.ts'
import type { LinkTask, NodeLink } from './node-link.ts'

/** Target time of a range: long compared to a round trip, short compared to the cost of a lost range, ms. */
const RANGE_SECONDS = 0.4
/** Most blocks of a range: each costs objects, however small it is. */
const MOST_BLOCKS = 8_192
/** How much larger than any before a range may be: the size of blocks is not known before. */
const GROWTH = 4
/** Silence after which a range that blocks the others is requested from another node, ms. */
const AWAITED_SILENCE_MS = 750
/** Silence after which any range is. */
const SILENCE_MS = 5_000
/** Time that a range that the others wait for may take, however slow its node was measured to be. */
const LATE_MS = 1_000
/** How much slower than another a node must be to be left, and by how much time. */
const SLOWER = 2
const SLOWER_MS = 500

/** Input for the size of a range. */
export interface PlanFacts {
  /** Size expected of a block. */
  readonly blockBytes: number
  /** How fast the node sends; null before it was measured. */
  readonly bytesPerSecond: number | null
  /** Weight of the node relative to the heaviest, 0 to 1. */
  readonly share: number
  /** Bytes that a range may have. */
  readonly budgetBytes: number
  /** Most blocks of a range so far. */
  readonly largestBlocks: number
  readonly blocksLeft: number
  /** Available nodes. */
  readonly nodes: number
}

/** Number of blocks to request from a node, at least one. */
export function planSize(facts: PlanFacts): number {
  const { blockBytes, bytesPerSecond, share, budgetBytes, largestBlocks, blocksLeft, nodes } = facts
  const bytes = Math.min(budgetBytes, (bytesPerSecond ?? Infinity) * RANGE_SECONDS) * share
  const blocks = Math.min(Math.floor(bytes / blockBytes), largestBlocks * GROWTH, MOST_BLOCKS)
  // The last ranges are of one size, so that the nodes end together.
  const even = Math.ceil(blocksLeft / Math.max(1, nodes))
  return Math.max(1, Math.min(blocks, Math.max(even, largestBlocks >> 2)))
}

/** The reading that a slow node would hold up. */
export interface StealFacts<P extends ProtocolCodec> {
  /** The range that is being delivered: all others wait for it. */
  readonly front: LinkTask<P> | null
  /** All nodes: a busy one takes the range as soon as it has finished its own. */
  readonly links: readonly NodeLink<P>[]
  /** Size expected of a block. */
  readonly blockBytes: number
  readonly now: number
}

/** Reason to request the range of a node from another one; null without one. */
export function chooseSteal<P extends ProtocolCodec>(
  link: NodeLink<P>,
  { front, links, blockBytes, now }: StealFacts<P>,
): string | null {
  const { task } = link
  if (task === null || !link.isExpected) return null
  const silent = link.rate.silentMs(now)
  if (silent >= SILENCE_MS) return describe(task, `nothing for ${Math.round(silent / 1_000)} s`)
  if (task !== front) return null
  const others = links.filter(
    (other) => other !== link && other.isReady && other.endFrom(task.next, true) > task.next,
  )
  if (others.length === 0) return null
  if (silent >= AWAITED_SILENCE_MS) return describe(task, `nothing for ${Math.round(silent)} ms`)
  const rate = link.rate.bytesPerSecond
  const best = Math.max(...others.map((other) => other.rate.bytesPerSecond ?? 0))
  // A rate is an estimate, and so is the size of what is missing: within its time a range is left alone.
  if (rate === null || best === 0 || link.rate.rangeMs(now) < LATE_MS) return null
  const bytes = (task.end - task.next) * blockBytes
  if ((bytes * 1_000) / Math.max(rate, 1) <= SLOWER * ((bytes * 1_000) / best) + SLOWER_MS) return null
  return describe(task, `${Math.round(rate / 1_000)} kB/s while others wait for it`)
}

function describe(task: { readonly next: number; readonly end: number }, what: string): string {
  return `the node is too slow with blocks ${task.next} to ${task.end - 1}: ${what}`
}
