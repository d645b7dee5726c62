import type { FeedBlock, FeedEntry } from '../../services/core/feed/index.ts'

/** Entry of the feed for live clients. */
export interface FeedRow {
  readonly sequence: bigint
  /** Block number of the entry. For a fork: the first undone block. For a gap: the last block of the gap. */
  readonly num: number
  readonly entry: FeedEntry
}

/**
 * Checks a feed after its reader has caught up. Sequence numbers must have no holes, and blocks must be in order.
 * After all forks, the feed must contain each block of the final chain with the same events as a run without faults,
 * or a gap in its place.
 *
 * @param straight feed of a run of the final chain without faults; it has no gaps.
 */
export function findFeedViolations(rows: readonly FeedRow[], straight: readonly FeedRow[]): string[] {
  const { violations, surviving, gaps } = replay(rows)
  const expected = new Map(
    straight.flatMap(({ num, entry }) => (entry.kind === 'block' ? [[num, entry]] : [])),
  )
  for (const [num, block] of surviving) {
    const own = expected.get(num)
    if (own === undefined)
      violations.push(
        `feed: block ${num} ${block.block.id} has an entry; a run without faults has none for this block number`,
      )
    else if (contentOf(own) !== contentOf(block))
      violations.push(
        `feed: block ${num} ${block.block.id} differs from the entry of the same block in a run without faults`,
      )
  }
  const first = rows[0]?.num ?? Infinity
  for (const num of expected.keys()) {
    const isInGap = gaps.some(({ from, to }) => from <= num && num <= to)
    if (num >= first && !surviving.has(num) && !isInGap) violations.push(`feed: block ${num} is missing`)
  }
  return violations
}

/** Range of blocks without published events, from `from` to `to`, both included. */
interface Gap {
  readonly from: number
  readonly to: number
}

interface Replayed {
  readonly violations: string[]
  /** Blocks that no fork has undone, by block number. */
  readonly surviving: ReadonlyMap<number, FeedBlock>
  readonly gaps: readonly Gap[]
}

function replay(rows: readonly FeedRow[]): Replayed {
  const violations: string[] = []
  let view = 0
  let before: bigint | null = null
  const surviving = new Map<number, FeedBlock>()
  const gaps: Gap[] = []
  for (const { sequence, num, entry } of rows) {
    if (before !== null && sequence !== before + 1n)
      violations.push(`feed: entry ${sequence} follows entry ${before}; sequence numbers must ascend by 1`)
    before = sequence
    if (entry.kind === 'fork') {
      // A fork may undo only blocks without events. Such blocks have no entry, so nothing is deleted.
      for (const undone of [...surviving.keys()].filter((each) => each >= num)) surviving.delete(undone)
      view = Math.min(view, num - 1)
      continue
    }
    if (num <= view) violations.push(`feed: ${entry.kind} ${num} comes after block ${view}`)
    view = num
    if (entry.kind === 'block') surviving.set(num, entry)
    else gaps.push({ from: entry.from_block ?? 0, to: entry.to_block })
  }
  return { violations, surviving, gaps }
}

/** The content of a block's entry without its sequence number. */
function contentOf({ block, transactions, events }: FeedBlock): string {
  return JSON.stringify([block, transactions, events])
}
