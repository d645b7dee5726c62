import { encodeCursor } from '../../core/feed-reader/index.ts'
import type { FeedCursor } from '../../core/feed-reader/index.ts'
import type { SharedFilter } from './filter-index.ts'
import type { Transport } from './observer.ts'
import type { Format, LiveErrorCode, Outgoing } from './outgoing.ts'
import { errorMessage, message } from './outgoing.ts'

/** Connection of any transport to which messages are written. */
export interface Connection {
  readonly transport: Transport
  readonly format: Format
  readonly isOpen: boolean
  /** Bytes that are buffered because the client has not read them yet. */
  readonly waitingBytes: number
  write(bytes: Buffer): void
  /** Resolves when few bytes are buffered, or when the connection is closed. */
  drained(): Promise<void>
  /**
   * Sends the buffered messages, then closes the connection. A client that does not read these messages is disconnected
   * after a short time.
   */
  end(code: LiveErrorCode, reason: string): void
}

/** One subscription of a client. */
export interface Subscription {
  readonly id: string
  readonly client: LiveClient
  readonly filter: SharedFilter<Subscription>
  /** Filters as the client sent them, each value once. The message `subscribed` repeats them. */
  readonly filters: Readonly<Record<string, unknown>>
  /** Size of the subscription that the subscription budgets count, bytes. */
  readonly bytes: number
  /** Position at which the subscription began; undefined if the reader had no feed then. */
  readonly start: FeedCursor | undefined
  /**
   * Whether the client subscribed without a cursor. Events that another subscription of the client has already received
   * are then not repeated for this subscription.
   */
  readonly isJoined: boolean
  /** Position of the subscription in the feed while the client resumes. */
  place: FeedCursor | undefined
  /** Whether the cursor of the resuming subscription has been checked and `subscribed` has been sent. */
  isBegun: boolean
}

/**
 * A client of the websocket or the event stream. The state is `waiting` before the first subscription, `resuming` while
 * the client receives missed events, and `live` when all subscriptions are at the position of the feed. Each
 * subscription resumes from a position of its own.
 */
export class LiveClient {
  readonly connection: Connection
  /** IPv4 address or IPv6 network by which the connections of the client are counted. */
  readonly address: string
  state: 'waiting' | 'resuming' | 'live' = 'waiting'
  /** Cursor and time of the first subscription; undefined before the client subscribes. */
  opening: { readonly cursor: FeedCursor | undefined; readonly atMs: number } | undefined
  /** Time when the client was last sent a cursor, ms. */
  cursorSentMs = 0
  readonly #subscriptions = new Map<string, Subscription>()
  readonly #leaving = new AbortController()

  constructor(connection: Connection, address: string) {
    this.connection = connection
    this.address = address
  }

  /** Signal that aborts when the connection closes. */
  get left(): AbortSignal {
    return this.#leaving.signal
  }

  /** Marks the connection as closed. */
  leave(): void {
    this.#leaving.abort()
  }

  get subscriptions(): ReadonlyMap<string, Subscription> {
    return this.#subscriptions
  }

  /** Adds a subscription. The new subscription replaces a subscription with the same id. */
  set(subscription: Subscription): void {
    this.#subscriptions.set(subscription.id, subscription)
  }

  delete(id: string): void {
    this.#subscriptions.delete(id)
  }

  /** Sets the feed position of all subscriptions of the client. */
  stand(place: FeedCursor | undefined): void {
    for (const subscription of this.#subscriptions.values()) {
      subscription.place = place
      subscription.isBegun = true
    }
  }

  send(message: Outgoing): void {
    if (!this.connection.isOpen) return
    if (message.cursor !== undefined) this.cursorSentMs = performance.now()
    this.connection.write(message.bytes(this.connection.format))
  }

  /**
   * Sends a message for some of the client's subscriptions. The message lists the ids of these subscriptions, unless
   * they are all subscriptions of the client.
   */
  sendTo(subscriptions: readonly Subscription[], message: Outgoing): void {
    const isForAll = subscriptions.length === this.#subscriptions.size
    this.send(isForAll ? message : message.to(subscriptions.map(({ id }) => id)))
  }

  /** Sends the reason to the client and closes the connection. */
  dismiss(code: LiveErrorCode, reason: string): void {
    if (!this.connection.isOpen) return
    this.send(errorMessage(code, reason))
    this.connection.end(code, reason)
  }
}

/** Encodes a cursor for a message; undefined while the reader has no feed. */
export function cursorText(cursor: FeedCursor | undefined): string | undefined {
  return cursor && encodeCursor(cursor)
}

/** Sends `subscribed` with the position at which a subscription begins. */
export function sayBegun(subscription: Subscription): void {
  const { id, filters, client, place } = subscription
  subscription.isBegun = true
  client.send(message('subscribed', { id, filters }, cursorText(place)))
}
