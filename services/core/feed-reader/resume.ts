import type { FeedEntry, FeedFork } from '../feed/index.ts'
import type { FeedCursor } from './cursor.ts'

/** A fork in a feed: undoes all blocks from `block` on that were published before the fork. */
export interface ForkMark {
  readonly sequence: bigint
  readonly block: number
}

/**
 * Returns the fork that a client needs when it resumes from a cursor: the last fork that undoes blocks which the client
 * still has. Null if no fork affects the client. The fork also undoes every entry between the cursor and the fork. The
 * client therefore needs no other fork and none of these entries.
 *
 * @param forks forks after the cursor, in order.
 */
export function forkOfHolder(cursor: FeedCursor, forks: readonly ForkMark[]): FeedFork | null {
  let view = cursor.block
  let last: ForkMark | null = null
  for (const fork of forks) {
    if (fork.block > view) continue
    view = fork.block - 1
    last = fork
  }
  if (!last) return null
  return {
    kind: 'fork',
    reader: cursor.reader,
    epoch: cursor.epoch,
    sequence: String(last.sequence),
    block_num: last.block,
  }
}

/**
 * The part of an entry that no later fork undid; null if later forks undid the whole entry.
 * @param undoneFrom lowest block that later forks undid.
 */
export function survivor(entry: FeedEntry, undoneFrom: number): FeedEntry | null {
  if (entry.kind === 'fork') return null
  if (entry.kind === 'block') return entry.block.num < undoneFrom ? entry : null
  if (entry.to_block < undoneFrom) return entry
  const isUndone = entry.from_block !== null && entry.from_block >= undoneFrom
  return isUndone ? null : { ...entry, to_block: undoneFrom - 1 }
}

/** Forks of a feed after some position, in order. */
export class ForkList {
  readonly #forks: ForkMark[]
  /** For each fork: the lowest block that this fork or a later one undid. */
  #lowest: number[] | undefined

  constructor(forks: readonly ForkMark[] = []) {
    this.#forks = [...forks]
  }

  add(fork: ForkMark): void {
    this.#forks.push(fork)
    this.#lowest = undefined
  }

  /** Forks after the feed entry with a sequence number, in feed order. */
  after(sequence: bigint): readonly ForkMark[] {
    return this.#forks.slice(this.#firstAfter(sequence))
  }

  /** Lowest block that the forks after an entry undid; Infinity if there are none. */
  undoneFrom(sequence: bigint): number {
    const first = this.#firstAfter(sequence)
    if (first === this.#forks.length) return Infinity
    return (this.#lowest ??= lowestFrom(this.#forks))[first]!
  }

  #firstAfter(sequence: bigint): number {
    let [low, high] = [0, this.#forks.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.#forks[middle]!.sequence > sequence) high = middle
      else low = middle + 1
    }
    return low
  }
}

function lowestFrom(forks: readonly ForkMark[]): number[] {
  const lowest = forks.map(({ block }) => block)
  for (let at = forks.length - 2; at >= 0; at--) lowest[at] = Math.min(lowest[at]!, lowest[at + 1]!)
  return lowest
}
