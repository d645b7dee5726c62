import type { BlockEvents } from './block-events.ts'
import type { LiveClient, Subscription } from './client.ts'
import type { PlacedEvent } from './live-event.ts'
import { compareEvents, nextEvent } from './places.ts'

/**
 * Selects the subscriptions of a resuming client that receive an event. If all subscriptions of the client are at the
 * same position, all of them are selected, because the event moves the cursors of all.
 */
export function receiversOf(
  events: BlockEvents,
  event: PlacedEvent,
  walking: readonly Subscription[],
  client: LiveClient,
): readonly Subscription[] {
  if (walking.length === client.subscriptions.size) return walking
  const isHit = ({ filter }: Subscription): boolean =>
    events.hits(filter).some(({ index }) => index === event.index)
  const place = { sequence: BigInt(events.block.sequence), index: event.index }
  const hadIt = (other: Subscription): boolean =>
    !walking.includes(other) &&
    other.start !== undefined &&
    compareEvents(nextEvent(other.start), place) <= 0 &&
    isHit(other)
  return walking.filter(
    (each) => isHit(each) && !(each.isJoined && [...client.subscriptions.values()].some(hadIt)),
  )
}
