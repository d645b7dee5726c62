import { deflatedTextFrame, textFrame } from './frames.ts'

/** Types of messages to the clients of websockets and event streams. */
export type MessageKind =
  'subscribed' | 'unsubscribed' | 'event' | 'fork' | 'gap' | 'lag' | 'position' | 'waiting' | 'error'

/** Encoding of messages for a connection. */
export type Format = 'websocket' | 'deflated websocket' | 'event-stream'

/** A message for any number of clients. The bytes are encoded on first use, once for each format. */
export class Outgoing {
  readonly kind: MessageKind
  /** Cursor of a client that has received the message; undefined if the message does not move the cursor. */
  readonly cursor: string | undefined
  readonly #encodeText: () => string
  #text: string | undefined
  #isShared = true
  readonly #bytes = new Map<Format, Buffer>()

  constructor(kind: MessageKind, cursor: string | undefined, encodeText: () => string) {
    this.kind = kind
    this.cursor = cursor
    this.#encodeText = encodeText
  }

  /** The message as JSON text. */
  get text(): string {
    return (this.#text ??= this.#encodeText())
  }

  /**
   * Copies the message with the ids of the subscriptions that it is for. The copy is not compressed, because the
   * compressed bytes could be used for one client only.
   */
  to(ids: readonly string[]): Outgoing {
    const head = `{"type":"${this.kind}",`
    const labelled = new Outgoing(
      this.kind,
      this.cursor,
      () => `${head}"subscriptions":${JSON.stringify(ids)},${this.text.slice(head.length)}`,
    )
    labelled.#isShared = false
    return labelled
  }

  /** The message as bytes for connections of this format. */
  bytes(format: Format): Buffer {
    const known = this.#bytes.get(format)
    if (known) return known
    const made = this.#encode(format)
    this.#bytes.set(format, made)
    return made
  }

  #encode(format: Format): Buffer {
    switch (format) {
      case 'websocket':
        return textFrame(Buffer.from(this.text))
      case 'deflated websocket':
        return this.#isShared ? deflatedTextFrame(Buffer.from(this.text)) : textFrame(Buffer.from(this.text))
      case 'event-stream':
        return this.#streamBytes()
    }
  }

  /**
   * Encodes the message for event streams. An `error` message has the event name `failure`, because browsers dispatch
   * `error` for connection errors.
   */
  #streamBytes(): Buffer {
    const name = this.kind === 'error' ? 'failure' : this.kind
    const id = this.cursor === undefined ? '' : `id: ${this.cursor}\n`
    return Buffer.from(`${id}event: ${name}\ndata: ${this.text}\n\n`)
  }
}

/** Creates a message whose JSON object has the given members. */
export function message(
  kind: MessageKind,
  members: Readonly<Record<string, unknown>>,
  cursor?: string,
): Outgoing {
  return new Outgoing(kind, cursor, () =>
    JSON.stringify({ type: kind, ...members, ...(cursor === undefined ? {} : { cursor }) }),
  )
}

/** Error codes of messages to clients, with their descriptions. */
export const errorCodes = {
  INVALID_MESSAGE: 'The message is not JSON, or does not have the documented form.',
  INVALID_FILTER: 'A filter has a value that no event can match, or too many values.',
  TOO_MANY_SUBSCRIPTIONS: 'The connection already has the maximum number of subscriptions.',
  SUBSCRIPTIONS_TOO_LARGE:
    'The filters of all subscriptions of the connection, of its address or of the server exceed the limit of bytes; the message names the limit.',
  UNKNOWN_SUBSCRIPTION: 'The connection has no subscription with this id.',
  CURSOR_INVALID:
    'The cursor is malformed or belongs to another reader; the subscription begins with the next event.',
  CURSOR_TOO_OLD:
    'The events after the cursor are no longer stored; `oldest_cursor` is the oldest position to resume from.',
  RATE_LIMITED: 'Too many messages in a short time; the connection ends.',
  TOO_SLOW: 'The client does not read its messages; the connection ends.',
  STOPPING: 'The server stops; the client can connect again.',
  UNAVAILABLE: 'The events after the cursor cannot be read now; the connection ends, try again later.',
} as const satisfies Record<string, string>

/** Code of an error message to a client. */
export type LiveErrorCode = keyof typeof errorCodes

export function errorMessage(
  code: LiveErrorCode,
  text: string,
  more: Readonly<Record<string, unknown>> = {},
  cursor?: string,
): Outgoing {
  return message('error', { code, message: text, ...more }, cursor)
}
