import { deflatedTextFrame, textFrame } from './frames.ts'

/** Kinds of messages that clients of the websocket and of the event stream get. */
export type MessageKind =
  'subscribed' | 'unsubscribed' | 'event' | 'fork' | 'gap' | 'lag' | 'position' | 'waiting' | 'error'

/** How a client takes messages. */
export type Format = 'websocket' | 'deflated websocket' | 'event-stream'

/**
 * One message for any number of clients: its bytes are encoded once for each format, when the first client needs them.
 */
export class Outgoing {
  readonly kind: MessageKind
  /** Where a client that has got this message is; undefined when it says nothing about that. */
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

  /** The message as JSON. */
  get text(): string {
    return (this.#text ??= this.#encodeText())
  }

  /** The same message for some subscriptions of one client. It is not compressed: it is for nobody else. */
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

  /** The message as it is written to a connection. */
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

  /** Browsers take `error` for their own failure, so errors go by another name. */
  #streamBytes(): Buffer {
    const name = this.kind === 'error' ? 'failure' : this.kind
    const id = this.cursor === undefined ? '' : `id: ${this.cursor}\n`
    return Buffer.from(`${id}event: ${name}\ndata: ${this.text}\n\n`)
  }
}

/** A message of plain values. */
export function message(
  kind: MessageKind,
  members: Readonly<Record<string, unknown>>,
  cursor?: string,
): Outgoing {
  return new Outgoing(kind, cursor, () =>
    JSON.stringify({ type: kind, ...members, ...(cursor === undefined ? {} : { cursor }) }),
  )
}

/** Codes of error messages to clients, with their meaning. */
export const errorCodes = {
  INVALID_MESSAGE: 'The message is not JSON of the form that is documented.',
  INVALID_FILTER: 'A filter has a value that nothing can match, or too many values.',
  TOO_MANY_SUBSCRIPTIONS: 'The connection has as many subscriptions as are allowed.',
  SUBSCRIPTIONS_TOO_LARGE:
    'The filters of all subscriptions of the connection, of its address or of the server take as many bytes as are allowed; the message names the limit.',
  UNKNOWN_SUBSCRIPTION: 'There is no subscription of this id to end.',
  CURSOR_INVALID: 'The cursor is none of this namespace; the subscription begins now.',
  CURSOR_TOO_OLD:
    'What came after the cursor is no longer retained; `oldest_cursor` is the oldest position to resume from.',
  RATE_LIMITED: 'Too many messages in a short time; the connection ends.',
  TOO_SLOW: 'The client does not read what is sent to it; the connection ends.',
  STOPPING: 'The server stops; another connection can be made.',
  UNAVAILABLE: 'What came after the cursor cannot be read now; the connection ends, try again later.',
} as const satisfies Record<string, string>

/** Code of something that is wrong. */
export type LiveErrorCode = keyof typeof errorCodes

/** Says that something is wrong. */
export function errorMessage(
  code: LiveErrorCode,
  text: string,
  more: Readonly<Record<string, unknown>> = {},
  cursor?: string,
): Outgoing {
  return message('error', { code, message: text, ...more }, cursor)
}
