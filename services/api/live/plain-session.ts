import type { Channel } from './channel.ts'
import type { LiveClient } from './client.ts'
import { FilterError, filterNames, readFilter } from './filter.ts'
import type { LiveLimits } from './limits.ts'
import { errorMessage, message } from './outgoing.ts'
import type { LiveErrorCode } from './outgoing.ts'

/** Id of a subscription that names none. */
export const DEFAULT_SUBSCRIPTION = 'default'
const MAX_ID_LENGTH = 64
const MAX_CURSOR_LENGTH = 512

/** Lets clients in. */
export interface Subscribing {
  /** Cursor of the last published entry; undefined before the first state of the reader. */
  position(channel: Channel): string | undefined
  /**
   * Gives a client what came after a cursor, and then what happens. Sends an error when that is not possible.
   * @param begin called once, before anything else is sent, with where the client is: the cursor, or the current position
   * (see `position`) when the cursor is refused.
   */
  resume(
    channel: Channel,
    client: LiveClient,
    cursor: string,
    begin: (position: string | undefined) => void,
  ): void
}

/** Messages of clients of the websocket. */
type Fields = Readonly<Record<string, unknown>>

/** Reads the messages of one client of the websocket and answers them. */
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

  /** @param text undefined for a message that is no text. */
  receive(text: string | undefined): void {
    const fields = text === undefined ? undefined : parseObject(text)
    if (!fields) {
      this.#refuse('INVALID_MESSAGE', 'a message is a JSON object in a text frame')
      return
    }
    if (fields.type === 'subscribe') this.#subscribe(fields)
    else if (fields.type === 'unsubscribe') this.#unsubscribe(fields)
    else this.#refuse('INVALID_MESSAGE', 'type is "subscribe" or "unsubscribe"')
  }

  #subscribe(fields: Fields): void {
    const { id = DEFAULT_SUBSCRIPTION, cursor, type: _type, ...filters } = fields
    if (!isShortText(id, MAX_ID_LENGTH)) {
      this.#refuse('INVALID_MESSAGE', `id is a text of 1 to ${MAX_ID_LENGTH} characters`)
      return
    }
    const unknown = Object.keys(filters).find((name) => !filterNames.some((known) => known === name))
    if (unknown !== undefined) {
      const known = ['id', 'cursor', ...filterNames].join(', ')
      this.#refuse(
        'INVALID_MESSAGE',
        `there is no ${JSON.stringify(unknown)} in a subscription, only ${known}`,
        id,
      )
      return
    }
    const { subscriptions_per_connection: most, values_per_subscription } = this.#limits
    if (!this.#client.has(id) && this.#client.subscriptions >= most) {
      this.#refuse('TOO_MANY_SUBSCRIPTIONS', `a connection has at most ${most} subscriptions`, id)
      return
    }
    if (cursor !== undefined && !this.#mayResume(cursor, id)) return
    try {
      this.#client.subscribe(id, readFilter(this.#channel.mount.family, filters, values_per_subscription))
    } catch (error) {
      if (!(error instanceof FilterError)) throw error
      this.#refuse('INVALID_FILTER', error.message, id)
      return
    }
    this.#begin(id, cursor as string | undefined, filters)
  }

  #mayResume(cursor: unknown, id: string): boolean {
    if (!isShortText(cursor, MAX_CURSOR_LENGTH)) {
      this.#refuse('CURSOR_INVALID', 'cursor is a text that this server has sent', id)
      return false
    }
    if (this.#client.state === 'waiting') return true
    this.#refuse('CURSOR_INVALID', 'only the first subscription of a connection takes a cursor', id)
    return false
  }

  #begin(id: string, cursor: string | undefined, filters: Fields): void {
    const begin = (position: string | undefined): void => {
      this.#client.send(message('subscribed', { id, filters }, position))
    }
    if (cursor !== undefined) {
      this.#subscribing.resume(this.#channel, this.#client, cursor, begin)
      return
    }
    if (this.#client.state !== 'waiting') {
      // The client is where its last message has left it: what is being sent is not behind it yet.
      begin(undefined)
      return
    }
    begin(this.#subscribing.position(this.#channel))
    this.#client.state = 'live'
  }

  #unsubscribe({ id = DEFAULT_SUBSCRIPTION }: Fields): void {
    if (typeof id !== 'string' || !this.#client.unsubscribe(id)) {
      this.#refuse('UNKNOWN_SUBSCRIPTION', 'there is no subscription of this id')
      return
    }
    this.#client.send(message('unsubscribed', { id }))
  }

  #refuse(code: LiveErrorCode, text: string, id?: string): void {
    this.#client.send(errorMessage(code, text, id === undefined ? {} : { id }))
  }
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
