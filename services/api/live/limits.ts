import type { KnownClient } from '../../core/http/limits/index.ts'

/** Limits of live connections, named like their keys below `live` in server.config.json. */
export interface LiveLimits {
  /** All connections of this process together. */
  readonly max_connections: number
  /** Connections of one client address, in this process. */
  readonly connections_per_address: number
  readonly subscriptions_per_connection: number
  /** Values of all filters of one subscription. */
  readonly values_per_subscription: number
  /** Longest message that a client may send, bytes. */
  readonly max_message_bytes: number
  /** Messages that a client may send in a second; it may save up ten seconds' worth. */
  readonly messages_per_second: number
  /** Unread bytes that are buffered for a client before it is disconnected. */
  readonly max_queue_bytes: number
}

/** Why a connection is not taken. */
export interface Refusal {
  readonly status: number
  readonly message: string
}

/** Counts connections by client address. */
export class ConnectionCounter {
  readonly #limits: Pick<LiveLimits, 'max_connections' | 'connections_per_address'>
  readonly #byAddress = new Map<string, number>()
  #total = 0

  constructor(limits: Pick<LiveLimits, 'max_connections' | 'connections_per_address'>) {
    this.#limits = limits
  }

  /** Connections that are open. */
  get total(): number {
    return this.#total
  }

  /** Why another connection of a client would be one too many; undefined when it would not. */
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

  /** Counts a connection; returns what counts it off, once. */
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

/** Seconds whose messages a quiet client may save up. */
const BURST_SECONDS = 10

/** Detects that a client sends more than it may. */
export class MessageRate {
  readonly #perSecond: number
  #left: number
  #atMs = performance.now()

  constructor(perSecond: number) {
    this.#perSecond = perSecond
    this.#left = perSecond * BURST_SECONDS
  }

  /** Notes a message; false when it is one too many. */
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
