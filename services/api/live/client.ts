import { encodeCursor } from '../../core/feed-reader/index.ts'
import type { FeedCursor } from '../../core/feed-reader/index.ts'
import type { SharedFilter } from './filter-index.ts'
import type { Transport } from './observer.ts'
import type { Format, LiveErrorCode, Outgoing } from './outgoing.ts'
import { errorMessage, message } from './outgoing.ts'

/** A connection that messages are written to. */
export interface Connection {
  readonly transport: Transport
  readonly format: Format
  readonly isOpen: boolean
  /** Bytes that wait to be taken by the client. */
  readonly waitingBytes: number
  write(bytes: Buffer): void
  /** Resolves when little is buffered, or the connection is closed. */
  drained(): Promise<void>
  /** Closes it after the written messages; a client that does not read is disconnected soon after. */
  end(code: LiveErrorCode, reason: string): void
}

/** One subscription of a client. */
export interface Subscription {
  readonly id: string
  readonly client: LiveClient
  readonly filter: SharedFilter<Subscription>
  /** Filters as the client named them. */
  readonly filters: Readonly<Record<string, unknown>>
  /** Bytes of the budgets that the subscription takes. */
  readonly bytes: number
  /** Where the subscription began; undefined when that is now, or is not known. */
  readonly start: FeedCursor | undefined
  /** The subscription began with the connection, without a cursor of its own: events that another one has got are not repeated. */
  readonly isJoined: boolean
  /** Position of the subscription while its client resumes. */
  place: FeedCursor | undefined
  /** While its client resumes: whether the cursor has been checked and `subscribed` has been sent. */
  isBegun: boolean
}

/**
 * A client of the websocket or the event stream. `waiting`: the client has not subscribed yet. `resuming`: the client
 * receives missed events, those of each subscription from its own position on. `live`: all subscriptions are at the position
 * of the feed.
 */
export class LiveClient {
  readonly connection: Connection
  /** Address under which the client's connections are counted. */
  readonly address: string
  state: 'waiting' | 'resuming' | 'live' = 'waiting'
  /** Start of the first subscription; undefined before the client subscribes. */
  opening: { readonly cursor: FeedCursor | undefined; readonly atMs: number } | undefined
  /** Time at which the client was sent its latest cursor, ms. */
  cursorSentMs = 0
  readonly #subscriptions = new Map<string, Subscription>()
  readonly #leaving = new AbortController()

  constructor(connection: Connection, address: string) {
    this.connection = connection
    this.address = address
  }

  /** Aborted when the connection is closed. */
  get left(): AbortSignal {
    return this.#leaving.signal
  }

  /** The connection is closed. */
  leave(): void {
    this.#leaving.abort()
  }

  get subscriptions(): ReadonlyMap<string, Subscription> {
    return this.#subscriptions
  }

  /** Adds a subscription, or puts it in the place of the one with the same id. */
  set(subscription: Subscription): void {
    this.#subscriptions.set(subscription.id, subscription)
  }

  delete(id: string): void {
    this.#subscriptions.delete(id)
  }

  /** Stands at a place with all subscriptions. */
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
   * Sends a message to some of its subscriptions, whose cursors it moves; it names them unless they are all.
   */
  sendTo(subscriptions: readonly Subscription[], message: Outgoing): void {
    const isForAll = subscriptions.length === this.#subscriptions.size
    this.send(isForAll ? message : message.to(subscriptions.map(({ id }) => id)))
  }

  /** Sends the reason to the client, and closes the connection. */
  dismiss(code: LiveErrorCode, reason: string): void {
    if (!this.connection.isOpen) return
    this.send(errorMessage(code, reason))
    this.connection.end(code, reason)
  }
}

/** The text of a cursor for messages; undefined while a reader has no feed. */
export function cursorText(cursor: FeedCursor | undefined): string | undefined {
  return cursor && encodeCursor(cursor)
}

/** Says where a subscription begins. */
export function sayBegun(subscription: Subscription): void {
  const { id, filters, client, place } = subscription
  subscription.isBegun = true
  client.send(message('subscribed', { id, filters }, cursorText(place)))
}
