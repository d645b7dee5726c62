import { decodeCursor } from '../../core/feed-reader/index.ts'
import type { FeedCursor } from '../../core/feed-reader/index.ts'
import type { Channel } from './channel.ts'
import { cursorText, sayBegun } from './client.ts'
import type { LiveClient, Subscription } from './client.ts'
import { errorMessage } from './outgoing.ts'
import { lowestOf, samePlace } from './places.ts'
import type { Subscribing, SubscriptionRequest } from './plain-session.ts'
import type { Resumer } from './resuming.ts'
import type { SubscriptionBudget } from './subscription-budget.ts'

/**
 * Subscriptions without a cursor that follow the first subscription within this time, ms, begin at the cursor of the
 * first. Some clients keep one cursor for all subscriptions of a connection and send it only with the first.
 */
const JOIN_MS = 10_000

/** Adds and removes the subscriptions of all clients. */
export class Subscriptions implements Subscribing {
  readonly #budget: SubscriptionBudget
  readonly #resumer: Resumer

  constructor(budget: SubscriptionBudget, resumer: Resumer) {
    this.#budget = budget
    this.#resumer = resumer
  }

  reserve(client: LiveClient, bytes: number): string | undefined {
    return this.#budget.take(client, bytes)
  }

  subscribe(channel: Channel, client: LiveClient, request: SubscriptionRequest): void {
    this.#remove(channel, client, request.id)
    const wasResuming = client.state === 'resuming'
    const standing = standingOf(channel, client)
    const cursor = request.cursor === undefined ? undefined : readCursor(request.cursor, channel)
    const joined = request.cursor === undefined ? joinedCursor(client) : undefined
    const start = cursor ?? joined ?? standing
    client.opening ??= { cursor, atMs: performance.now() }
    if (client.state === 'live') channel.hold(client)
    const subscription = channel.index.add(request.filter, (filter): Subscription => {
      const { id, filters, bytes } = request
      return { id, client, filter, filters, bytes, start, isJoined: !cursor, place: start, isBegun: false }
    })
    client.set(subscription)
    if (request.cursor !== undefined && !cursor) this.#refuseCursor(subscription)
    else if (cursor === undefined && !wasResuming && isAt(start, standing)) sayBegun(subscription)
    const isResuming = [...client.subscriptions.values()].some(
      ({ place, isBegun }) => !isBegun || !isAt(place, channel.position),
    )
    if (isResuming) {
      client.state = 'resuming'
      this.#resumer.resume(channel, client)
    } else {
      client.stand(undefined)
      client.state = 'live'
    }
  }

  unsubscribe(channel: Channel, client: LiveClient, id: string): boolean {
    const subscription = this.#remove(channel, client, id)
    if (subscription) this.#budget.take(client, -subscription.bytes)
    return subscription !== undefined
  }

  leave(channel: Channel, client: LiveClient): void {
    for (const { bytes } of client.subscriptions.values()) this.#budget.take(client, -bytes)
    channel.remove(client)
    client.leave()
  }

  #remove(channel: Channel, client: LiveClient, id: string): Subscription | undefined {
    const subscription = client.subscriptions.get(id)
    if (!subscription) return undefined
    channel.index.remove(subscription.filter, subscription)
    client.delete(id)
    return subscription
  }

  #refuseCursor(subscription: Subscription): void {
    sayBegun(subscription)
    const cursor = cursorText(subscription.place)
    const text = 'the value is not a cursor of this namespace; events continue from now'
    subscription.client.sendTo(
      [subscription],
      errorMessage('CURSOR_INVALID', text, { id: subscription.id }, cursor),
    )
  }
}

/**
 * Returns the position of a client in the feed. For a live client: the end of the last entry that the client was sent.
 * For a resuming client: the lowest position of its subscriptions. For a client without subscriptions: the published
 * position.
 */
function standingOf(channel: Channel, client: LiveClient): FeedCursor | undefined {
  if (client.state === 'live') return channel.placeOf(client)
  if (client.state === 'waiting') return channel.position
  return lowestOf([...client.subscriptions.values()]) ?? channel.position
}

function joinedCursor({ opening }: LiveClient): FeedCursor | undefined {
  return opening && performance.now() - opening.atMs < JOIN_MS ? opening.cursor : undefined
}

function isAt(place: FeedCursor | undefined, other: FeedCursor | undefined): boolean {
  return place === other || (place !== undefined && other !== undefined && samePlace(place, other))
}

function readCursor(text: string, { mount }: Channel): FeedCursor | undefined {
  try {
    const cursor = decodeCursor(text)
    return cursor.reader === mount.reader ? cursor : undefined
  } catch {
    return undefined
  }
}
