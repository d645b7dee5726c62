import type { FeedCursor } from '../../core/feed-reader/index.ts'
import type { Subscription } from './client.ts'

/**
 * Position of the next event after a cursor: the sequence number of the entry, and the index of the event within the
 * entry.
 */
export interface NextEvent {
  readonly sequence: bigint
  readonly index: number
}

export function nextEvent({ sequence, seen }: FeedCursor): NextEvent {
  return seen === null ? { sequence: sequence + 1n, index: 0 } : { sequence, index: seen }
}

/** Compares two positions: negative if `a` comes before `b`. */
export function compareEvents(a: NextEvent, b: NextEvent): number {
  if (a.sequence !== b.sequence) return a.sequence < b.sequence ? -1 : 1
  return a.index - b.index
}

/** Whether the next event after cursor `a` is also the next event after cursor `b`. */
export function samePlace(a: FeedCursor, b: FeedCursor): boolean {
  return a.epoch === b.epoch && compareEvents(nextEvent(a), nextEvent(b)) === 0
}

/**
 * Returns the lowest feed position of a client's subscriptions. A cursor of an older feed (epoch) is lower than any
 * cursor of a newer feed.
 */
export function lowestOf(subscriptions: readonly Subscription[]): FeedCursor | undefined {
  let lowest: FeedCursor | undefined
  for (const { place } of subscriptions) {
    if (!place) continue
    const isLower =
      !lowest ||
      place.epoch < lowest.epoch ||
      (place.epoch === lowest.epoch && compareEvents(nextEvent(place), nextEvent(lowest)) < 0)
    if (isLower) lowest = place
  }
  return lowest
}
