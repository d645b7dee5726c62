import type { FeedCursor } from '../../core/feed-reader/index.ts'
import type { Subscription } from './client.ts'

/** The event that comes after a place: the entry, and the index among its events. */
export interface NextEvent {
  readonly sequence: bigint
  readonly index: number
}

export function nextEvent({ sequence, seen }: FeedCursor): NextEvent {
  return seen === null ? { sequence: sequence + 1n, index: 0 } : { sequence, index: seen }
}

/** Negative when the first comes before the second. */
export function compareEvents(a: NextEvent, b: NextEvent): number {
  if (a.sequence !== b.sequence) return a.sequence < b.sequence ? -1 : 1
  return a.index - b.index
}

/** Whether two cursors are followed by the same event. */
export function samePlace(a: FeedCursor, b: FeedCursor): boolean {
  return a.epoch === b.epoch && compareEvents(nextEvent(a), nextEvent(b)) === 0
}

/** The place of the subscriptions that are furthest behind; one of another feed is. */
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
