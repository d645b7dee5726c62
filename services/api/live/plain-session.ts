import type { Channel } from './channel.ts'
import type { LiveClient } from './client.ts'
import { FilterError, filterNames, readFilter } from './filter.ts'
import type { Filter } from './filter.ts'
import { FilterIndex } from './filter-index.ts'
import type { LiveLimits } from './limits.ts'
import { errorMessage, message } from './outgoing.ts'
import type { LiveErrorCode } from './outgoing.ts'

/** Id of a subscription if the client sends no id. */
export const DEFAULT_SUBSCRIPTION = 'default'
const MAX_ID_LENGTH = 64
const MAX_CURSOR_LENGTH = 512

/** A parsed `subscribe` message. */
export interface SubscriptionRequest {
  readonly id: string
  readonly filter: Filter
  /** Filters as the client sent them, each value once. */
  readonly filters: Readonly<Record<string, unknown>>
  /** Size of the subscription, as reserved in the subscription budgets, bytes. */
  readonly bytes: number
  readonly cursor: string | undefined
}

/** Adds and removes subscriptions of clients. */
export interface Subscribing {
  /**
   * Reserves bytes in the subscription budgets, or releases bytes if `bytes` is negative.
   * @returns a message about the exceeded limit; undefined if no limit is exceeded.
   */
  reserve(client: LiveClient, bytes: number): string | undefined
  /**
   * Adds a subscription, or replaces the subscription with the same id. Sends the client the position at which the
   * subscription begins, then the missed events, then live events.
   */
  subscribe(channel: Channel, client: LiveClient, request: SubscriptionRequest): void
  /** Removes a subscription. Returns false if the client has no subscription with this id. */
  unsubscribe(channel: Channel, client: LiveClient, id: string): boolean
  /** Removes all subscriptions of a client that has disconnected. */
  leave(channel: Channel, client: LiveClient): void
}

/** A parsed message of a websocket client. */
type Fields = Readonly<Record<string, unknown>>

/** Handles the messages of one websocket client. */
export class PlainSession {
  readonly #client: LiveClient
  readonly #channel: Channel
  readonly #limits: LiveLimits
  readonly #subscribing: Subscribing

  constructor(client: LiveClient, channel: Channel, limits: LiveLimits, subscribing: Subscribing) {
    this.#client = client
    this.#channel = channel
    this.#limits = limits
    this.#subscribing = subscribing
  }

  /** @param text undefined if the message is not text. */
  receive(text: string | undefined): void {
    const fields = text === undefined ? undefined : parseObject(text)
    if (!fields) {
      this.#refuse('INVALID_MESSAGE', 'a message must be a JSON object in a text frame')
      return
    }
    if (fields.type === 'subscribe') this.#subscribe(fields)
    else if (fields.type === 'unsubscribe') this.#unsubscribe(fields)
    else this.#refuse('INVALID_MESSAGE', 'type must be "subscribe" or "unsubscribe"')
  }

  #subscribe(fields: Fields): void {
    const { id = DEFAULT_SUBSCRIPTION, cursor, type: _type, ...filters } = fields
    if (!isShortText(id, MAX_ID_LENGTH)) {
      this.#refuse('INVALID_MESSAGE', `id must be a text of 1 to ${MAX_ID_LENGTH} characters`)
      return
    }
    const unknown = Object.keys(filters).find((name) => !filterNames.some((known) => known === name))
    if (unknown !== undefined) {
      const known = ['id', 'cursor', ...filterNames].join(', ')
      this.#refuse(
        'INVALID_MESSAGE',
        `a subscription has no member ${JSON.stringify(unknown)}; its members are ${known}`,
        id,
      )
      return
    }
    const { subscriptions } = this.#client
    const { subscriptions_per_connection: most } = this.#limits
    if (!subscriptions.has(id) && subscriptions.size >= most) {
      this.#refuse('TOO_MANY_SUBSCRIPTIONS', `a connection has at most ${most} subscriptions`, id)
      return
    }
    if (cursor !== undefined && !isShortText(cursor, MAX_CURSOR_LENGTH)) {
      this.#refuse('CURSOR_INVALID', 'cursor must be a text that this server has sent', id)
      return
    }
    this.#begin(id, cursor, filters)
  }

  #begin(id: string, cursor: string | undefined, filters: Fields): void {
    let filter: Filter
    try {
      filter = readFilter(this.#channel.mount.family, filters, this.#limits.values_per_subscription)
    } catch (error) {
      if (!(error instanceof FilterError)) throw error
      this.#refuse('INVALID_FILTER', error.message, id)
      return
    }
    const bytes = FilterIndex.bytesOf(filter)
    const replaced = this.#client.subscriptions.get(id)?.bytes ?? 0
    const refusal = this.#subscribing.reserve(this.#client, bytes - replaced)
    if (refusal !== undefined) this.#refuse('SUBSCRIPTIONS_TOO_LARGE', refusal, id)
    else {
      const request = { id, filter, filters: withoutRepeats(filters), bytes, cursor }
      this.#subscribing.subscribe(this.#channel, this.#client, request)
    }
  }

  #unsubscribe({ id = DEFAULT_SUBSCRIPTION }: Fields): void {
    if (typeof id !== 'string' || !this.#subscribing.unsubscribe(this.#channel, this.#client, id)) {
      this.#refuse('UNKNOWN_SUBSCRIPTION', 'there is no subscription with this id')
      return
    }
    this.#client.send(message('unsubscribed', { id }))
  }

  #refuse(code: LiveErrorCode, text: string, id?: string): void {
    this.#client.send(errorMessage(code, text, id === undefined ? {} : { id }))
  }
}

/** Removes repeated values of filters: the subscription budgets count each value once. */
function withoutRepeats(filters: Fields): Fields {
  const entries = Object.entries(filters)
  return Object.fromEntries(
    entries.map(([name, value]) => [name, Array.isArray(value) ? [...new Set(value)] : value]),
  )
}

function parseObject(text: string): Fields | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Fields)
      : undefined
  } catch {
    return undefined
  }
}

function isShortText(value: unknown, most: number): value is string {
  return typeof value === 'string' && value.length > 0 && value.length <= most
}
