import type { Socket } from 'socket.io'
import { textFrame } from './frames.ts'
import { MessageRate } from './limits.ts'
import type { LiveLimits } from './limits.ts'
import type { CutReason, LiveObserver, Transport } from './observer.ts'
import type { LiveErrorCode } from './outgoing.ts'
import { mayBeReading } from './slow-client.ts'

/** Connection below the sockets of one client. */
export type EngineSocket = Socket['conn']

/** Type digits: message of the transport, event of the protocol. */
const MESSAGE = '4'
const EVENT = '2'

/** Bytes of a waiting packet without its content, about. */
const PACKET_BYTES = 256
/** A client that reads may have this many times the bytes waiting that one that does not may have. */
const QUEUES = 4
/** How long a dismissed client has to read the reason, ms. */
const LAST_WORDS_MS = 3_000

/** Members without types in the library: buffered packets, and the websocket below a transport. */
interface EngineInside {
  readonly writeBuffer: readonly { readonly data?: { readonly length: number } }[]
  readonly transport: {
    readonly socket?: { readonly bufferedAmount: number; terminate(): void }
  }
}

/** Packets for any number of clients of one socket namespace. */
export class PacketBatch {
  /** Without the transport's type digit. */
  readonly texts: readonly string[]
  readonly #characters: number
  #frames: Buffer | undefined

  /** @param events names and JSON payloads. */
  constructor(namespace: string, events: readonly (readonly [name: string, payload: string])[]) {
    this.texts = events.map(([name, payload]) => `${EVENT}${namespace},["${name}",${payload}]`)
    this.#characters = this.texts.reduce((sum, text) => sum + text.length, 0)
  }

  /** Every packet as a websocket message, one after the other. */
  get frames(): Buffer {
    return (this.#frames ??= Buffer.concat(this.texts.map((text) => textFrame(Buffer.from(MESSAGE + text)))))
  }

  /** Approximate size of the batch on the wire, bytes. */
  get bytes(): number {
    return this.#frames?.length ?? this.#characters
  }
}

/** One connection of a socket.io client, which may be in several namespaces. */
export class SocketPeer {
  /** Socket namespaces that the client has joined. */
  readonly namespaces = new Set<string>()
  readonly #conn: EngineSocket
  readonly #limits: LiveLimits
  readonly #observer: LiveObserver
  #waitingBytes = 0
  /** When the client took something last, or was sent something while nothing waited. */
  #takenMs = 0

  constructor(conn: EngineSocket, limits: LiveLimits, observer: LiveObserver) {
    this.#conn = conn
    this.#limits = limits
    this.#observer = observer
    const rate = new MessageRate(limits.messages_per_second)
    const count = (): void => {
      if (!rate.take()) this.cut('rate')
      else if (this.#queuedBytes() > limits.max_queue_bytes) this.cut('slow')
    }
    // For any packet: pings of version 2 are answered too, and unread answers take memory.
    conn.on('packet', count)
    // Probes of a transport that the client would like to change to are no packets of the connection.
    conn.on('upgrading', count)
  }

  /** Bytes that wait in the library and below it, about. */
  #queuedBytes(): number {
    const { writeBuffer, transport } = this.#conn as unknown as EngineInside
    const inLibrary = writeBuffer.reduce((sum, { data }) => sum + PACKET_BYTES + (data?.length ?? 0), 0)
    return inLibrary + (transport.socket?.bufferedAmount ?? 0)
  }

  get transport(): Transport {
    return this.#conn.transport.name === 'websocket' ? 'socket.io websocket' : 'socket.io polling'
  }

  /** Hands packets over; a client that has not taken what came before has to go. */
  write(batch: PacketBatch): void {
    if (this.#conn.readyState !== 'open') return
    if (this.#isSlow()) {
      this.cut('slow')
      return
    }
    const { bytes, texts } = batch
    if (this.#waitingBytes === 0) this.#takenMs = performance.now()
    this.#waitingBytes += bytes
    const taken = (): void => {
      this.#waitingBytes -= bytes
      this.#takenMs = performance.now()
    }
    if (this.#conn.transport.name === 'websocket') {
      // The transport writes these bytes instead of framing the text for each client again.
      const options = { compress: false, wsPreEncodedFrame: [batch.frames] }
      this.#conn.write(texts[0]!, options, taken)
    } else {
      texts.forEach((text, index) => {
        this.#conn.write(text, { compress: false }, index === texts.length - 1 ? taken : undefined)
      })
    }
    this.#observer.sent(this.transport, texts.length, bytes)
  }

  /** A large message alone makes no client slow: it takes its time to be read. */
  #isSlow(): boolean {
    const { max_queue_bytes: most } = this.#limits
    if (this.#waitingBytes <= most) return false
    return this.#waitingBytes > QUEUES * most || !mayBeReading(this.#takenMs, this.#waitingBytes)
  }

  /** Closes the connection; the client may reconnect. */
  cut(reason: CutReason): void {
    if (this.#conn.readyState !== 'open') return
    this.#observer.cut(this.transport, reason)
    this.notify(...noticesBy[reason])
    this.#conn.close(reason === 'slow')
    // Unread data is never written, and would hold the connection forever.
    const { transport } = this.#conn as unknown as EngineInside
    setTimeout(() => {
      if (this.#conn.readyState !== 'closed') this.#conn.close(true)
      transport.socket?.terminate()
    }, LAST_WORDS_MS).unref()
  }

  /** Says something that is not an event of the chain; clients that do not know it ignore it. */
  notify(code: LiveErrorCode, text: string): void {
    for (const name of this.namespaces) {
      this.#conn.write(`${EVENT}${name},["notice",${JSON.stringify({ code, message: text })}]`)
    }
  }
}

const noticesBy: Readonly<Record<CutReason, readonly [LiveErrorCode, string]>> = {
  slow: ['TOO_SLOW', 'what is sent is not read'],
  rate: ['RATE_LIMITED', 'too many messages a second'],
  stopping: ['STOPPING', 'the server stops'],
  silent: ['TOO_SLOW', 'the client does not answer'],
}
