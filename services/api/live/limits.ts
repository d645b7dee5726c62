import type { KnownClient } from '../../core/http/limits/index.ts'

/** Limits of live connections. The members have the names of the keys below `live` in server.config.json. */
export interface LiveLimits {
  /** Maximum number of live connections of this process. */
  readonly max_connections: number
  /** Maximum number of live connections of one client address to this process. */
  readonly connections_per_address: number
  readonly subscriptions_per_connection: number
  /** Maximum number of values of all filters of one subscription together. */
  readonly values_per_subscription: number
  /** Maximum size of a message of a client, bytes. */
  readonly max_message_bytes: number
  /** Messages per second that a client may send on average. BURST_SECONDS limits the number of messages at once. */
  readonly messages_per_second: number
  /**
   * Bytes that may wait to be read by a client. A websocket or event stream client above the limit gets nothing more
   * until it has read.
   */
  readonly max_queue_bytes: number
}

/** HTTP status and message of a refused connection. */
export interface Refusal {
  readonly status: number
  readonly message: string
}

/** Counts open connections by client address. */
export class ConnectionCounter {
  readonly #limits: Pick<LiveLimits, 'max_connections' | 'connections_per_address'>
  readonly #byAddress = new Map<string, number>()
  #total = 0

  constructor(limits: Pick<LiveLimits, 'max_connections' | 'connections_per_address'>) {
    this.#limits = limits
  }

  /** Number of open live connections of this process. */
  get total(): number {
    return this.#total
  }

  /** Returns the reason for refusing another connection of the client; undefined if the connection is accepted. */
  refusal({ key, isExempt }: KnownClient): Refusal | undefined {
    if (this.#total >= this.#limits.max_connections) {
      return { status: 503, message: 'Too many live connections' }
    }
    const own = this.#byAddress.get(key) ?? 0
    if (!isExempt && own >= this.#limits.connections_per_address) {
      return { status: 429, message: `More than ${own} live connections of one address` }
    }
    return undefined
  }

  /**
   * Counts a connection.
   * @returns a function that ends the count. Further calls have no effect.
   */
  add({ key }: KnownClient): () => void {
    this.#total++
    this.#byAddress.set(key, (this.#byAddress.get(key) ?? 0) + 1)
    let isOpen = true
    return () => {
      if (!isOpen) return
      isOpen = false
      this.#total--
      const left = (this.#byAddress.get(key) ?? 1) - 1
      if (left === 0) this.#byAddress.delete(key)
      else this.#byAddress.set(key, left)
    }
  }
}

/**
 * Capacity of the token bucket, in seconds of the allowed rate. A client that was quiet may send this many seconds'
 * messages at once.
 */
const BURST_SECONDS = 10

/** Token bucket that detects clients which send too many messages. */
export class MessageRate {
  readonly #perSecond: number
  #left: number
  #atMs = performance.now()

  constructor(perSecond: number) {
    this.#perSecond = perSecond
    this.#left = perSecond * BURST_SECONDS
  }

  /** Takes a token for a message. Returns false if the client exceeds the rate. */
  take(): boolean {
    const nowMs = performance.now()
    const earned = ((nowMs - this.#atMs) / 1_000) * this.#perSecond
    this.#left = Math.min(this.#perSecond * BURST_SECONDS, this.#left + earned)
    this.#atMs = nowMs
    if (this.#left < 1) return false
    this.#left--
    return true
  }
}
