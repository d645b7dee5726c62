import { setTimeout as sleep } from 'node:timers/promises'
import type { Socket } from 'socket.io'
import { textFrame } from './frames.ts'
import { MessageRate } from './limits.ts'
import type { LiveLimits } from './limits.ts'
import type { CutReason, LiveObserver, Transport } from './observer.ts'
import type { LiveErrorCode } from './outgoing.ts'
import { mayBeReading } from './slow-client.ts'

/** Transport connection that all sockets of one client share. */
export type EngineSocket = Socket['conn']

/** Packet type digits: `4` is a message of the transport (engine.io), `2` is an event of socket.io. */
const MESSAGE = '4'
const EVENT = '2'

/** Approximate memory of a buffered packet without its content, bytes. */
const PACKET_BYTES = 256
/**
 * Factor of the limit `max_queue_bytes` for a client that keeps reading its buffered bytes. A client that does not read
 * is limited to `max_queue_bytes`.
 */
const QUEUES = 4
/** A client's messages wait while more than this number of bytes are unread. */
const SMALL_BACKLOG_BYTES = 256 * 1024
/** Interval of the checks whether a client has read its packets, ms. */
const READ_CHECK_MS = 100
/** A client that was sent an error or a notice of the shutdown is disconnected after this time, ms. */
const LAST_WORDS_MS = 3_000

/** Members of an engine.io connection that the types of the library omit: the buffered packets, and the websocket. */
interface EngineInside {
  readonly writeBuffer: readonly { readonly data?: { readonly length: number } }[]
  readonly transport: {
    readonly socket?: { readonly bufferedAmount: number; terminate(): void }
  }
}

/** Encoded packets for any number of clients of one socket namespace. */
export class PacketBatch {
  /** Packets without the type digit of the transport. */
  readonly texts: readonly string[]
  readonly #characters: number
  #frames: Buffer | undefined

  /** @param events pairs of event name and JSON payload. */
  constructor(namespace: string, events: readonly (readonly [name: string, payload: string])[]) {
    this.texts = events.map(([name, payload]) => `${EVENT}${namespace},["${name}",${payload}]`)
    this.#characters = this.texts.reduce((sum, text) => sum + text.length, 0)
  }

  /** All packets as websocket frames, concatenated. */
  get frames(): Buffer {
    return (this.#frames ??= Buffer.concat(this.texts.map((text) => textFrame(Buffer.from(MESSAGE + text)))))
  }

  /** Approximate size of the packets on the wire, bytes. */
  get bytes(): number {
    return this.#frames?.length ?? this.#characters
  }
}

/** One connection of a socket.io client. The client may have joined several socket namespaces. */
export class SocketPeer {
  /** Socket namespaces that the client has joined. */
  readonly namespaces = new Set<string>()
  readonly #conn: EngineSocket
  readonly #limits: LiveLimits
  readonly #observer: LiveObserver
  #waitingBytes = 0
  /** Time when the client last read bytes, or when a packet was sent to it while nothing was buffered. */
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
    // Count every packet for the limit of messages, also a ping of a client of version 2. The server answers such a
    // ping, and unread answers take memory.
    conn.on('packet', count)
    // engine.io does not report the probe packets of a transport upgrade as packets of the connection, so count them
    // here.
    conn.on('upgrading', count)
  }

  /** Approximate bytes that are buffered in engine.io and in the websocket. */
  #queuedBytes(): number {
    const { writeBuffer, transport } = this.#conn as unknown as EngineInside
    const inLibrary = writeBuffer.reduce((sum, { data }) => sum + PACKET_BYTES + (data?.length ?? 0), 0)
    return inLibrary + (transport.socket?.bufferedAmount ?? 0)
  }

  /** Waits until the client has read most of its packets. Returns false if the connection closes. */
  async isRead(): Promise<boolean> {
    while (this.#conn.readyState === 'open' && this.#queuedBytes() > SMALL_BACKLOG_BYTES)
      await sleep(READ_CHECK_MS, undefined, { ref: false })
    return this.#conn.readyState === 'open'
  }

  get transport(): Transport {
    return this.#conn.transport.name === 'websocket' ? 'socket.io websocket' : 'socket.io polling'
  }

  /** Writes packets to the client. Disconnects a client that does not read. */
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
      // The websocket transport of engine.io writes `wsPreEncodedFrame` unchanged, so the text is framed once for all
      // clients.
      const options = { compress: false, wsPreEncodedFrame: [batch.frames] }
      this.#conn.write(texts[0]!, options, taken)
    } else {
      texts.forEach((text, index) => {
        this.#conn.write(text, { compress: false }, index === texts.length - 1 ? taken : undefined)
      })
    }
    this.#observer.sent(this.transport, texts.length, bytes)
  }

  /** Whether the client does not read. A client that still reads one large message is not slow. */
  #isSlow(): boolean {
    const { max_queue_bytes: most } = this.#limits
    if (this.#waitingBytes <= most) return false
    return this.#waitingBytes > QUEUES * most || !mayBeReading(this.#takenMs, this.#waitingBytes)
  }

  /** Closes the connection after a notice with the reason. The client may reconnect. */
  cut(reason: CutReason): void {
    if (this.#conn.readyState !== 'open') return
    this.#observer.cut(this.transport, reason)
    this.notify(...noticesBy[reason])
    this.#conn.close(reason === 'slow')
    // The `close` of engine.io waits until the buffered bytes are written. A client that does not read would keep the
    // connection open.
    const { transport } = this.#conn as unknown as EngineInside
    setTimeout(() => {
      if (this.#conn.readyState !== 'closed') this.#conn.close(true)
      transport.socket?.terminate()
    }, LAST_WORDS_MS).unref()
  }

  /** Sends a `notice` event. Clients that do not know the event ignore it. */
  notify(code: LiveErrorCode, text: string): void {
    for (const name of this.namespaces) {
      this.#conn.write(`${EVENT}${name},["notice",${JSON.stringify({ code, message: text })}]`)
    }
  }
}

const noticesBy: Readonly<Record<CutReason, readonly [LiveErrorCode, string]>> = {
  slow: ['TOO_SLOW', 'the client does not read its messages'],
  rate: ['RATE_LIMITED', 'too many messages a second'],
  stopping: ['STOPPING', 'the server stops'],
  silent: ['TOO_SLOW', 'the client does not answer'],
}
