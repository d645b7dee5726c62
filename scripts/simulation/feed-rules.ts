/** An entry of the feed of live clients, without its message. */
export interface FeedRow {
  readonly sequence: bigint
  readonly kind: 'block' | 'fork' | 'gap'
  readonly num: number
  /** Hexadecimal; null for forks and gaps. */
  readonly id: string | null
}

/**
 * What is wrong with a feed once its reader has caught up: entries follow each other without a hole, nothing is published
 * out of turn, and what forks leave of it is of the final chain.
 *
 * @param idOf id of a block of the final chain, hexadecimal
 */
export function findFeedViolations(
  rows: readonly FeedRow[],
  idOf: (num: number) => string | undefined,
): string[] {
  const violations: string[] = []
  let view = 0
  let before: bigint | null = null
  let surviving: FeedRow[] = []
  for (const row of rows) {
    if (before !== null && row.sequence !== before + 1n)
      violations.push(`feed: entry ${row.sequence} follows entry ${before}`)
    before = row.sequence
    if (row.kind === 'fork') {
      // Blocks without events have no entry: a fork may follow that undoes only such blocks.
      surviving = surviving.filter(({ num }) => num < row.num)
      view = Math.min(view, row.num - 1)
    } else {
      if (row.num <= view) violations.push(`feed: ${row.kind} ${row.num} comes after block ${view}`)
      view = row.num
      if (row.kind === 'block') surviving.push(row)
    }
  }
  for (const { num, id } of surviving)
    if (id !== idOf(num)) violations.push(`feed: block ${num} ${String(id)} is not of the final chain`)
  return violations
}
