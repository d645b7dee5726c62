import type { IncomingMessage } from 'node:http'
import type { KnownClient } from '../../core/http/limits/index.ts'
import type { Refusal } from './limits.ts'
import { ConnectionCounter } from './limits.ts'
import type { LiveLimits } from './limits.ts'
import type { LiveObserver } from './observer.ts'

export interface DoorkeeperOptions {
  readonly clientOf: (of: { readonly req: IncomingMessage }) => KnownClient
  /** `cors` of the configuration: patterns of allowed origins. */
  readonly origins: readonly string[]
  readonly limits: LiveLimits
  readonly observer: LiveObserver
}

const MAX_ORIGIN_LENGTH = 300

/**
 * Decides which live connections are accepted. Browsers do not apply CORS to websockets, so the server checks the
 * origin.
 */
export class Doorkeeper {
  readonly #options: DoorkeeperOptions
  readonly #origins: readonly RegExp[]
  readonly #counter: ConnectionCounter
  #isClosed = false

  constructor(options: DoorkeeperOptions) {
    this.#options = options
    this.#origins = options.origins.map((pattern) => new RegExp(pattern))
    this.#counter = new ConnectionCounter(options.limits)
  }

  /** Whether web pages of this origin may connect. */
  allowsOrigin(origin: string): boolean {
    if (this.#origins.length === 0) return true
    return origin.length <= MAX_ORIGIN_LENGTH && this.#origins.some((pattern) => pattern.test(origin))
  }

  /** Returns the reason for refusing a live connection; undefined if the connection is accepted. */
  refusal(request: IncomingMessage): Refusal | undefined {
    const { observer, clientOf } = this.#options
    if (this.#isClosed) {
      observer.refused('stopping')
      return { status: 503, message: 'The server stops' }
    }
    const { origin } = request.headers
    if (origin !== undefined && !isOwn(origin, request) && !this.allowsOrigin(origin)) {
      observer.refused('origin')
      return { status: 403, message: 'Web pages of this origin may not connect' }
    }
    const refusal = this.#counter.refusal(clientOf({ req: request }))
    if (refusal) observer.refused(refusal.status === 429 ? 'address' : 'full')
    return refusal
  }

  /** IPv4 address or IPv6 network by which the connections of a client are counted. */
  addressOf(request: IncomingMessage): string {
    return this.#options.clientOf({ req: request }).key
  }

  /** Number of open live connections of all transports. */
  get open(): number {
    return this.#counter.total
  }

  /**
   * Counts an accepted live connection.
   * @returns a function that ends the count.
   */
  admit(request: IncomingMessage): () => void {
    return this.#counter.add(this.#options.clientOf({ req: request }))
  }

  /** Refuses all further live connections. */
  close(): void {
    this.#isClosed = true
  }
}

/** Whether the origin is this server. */
function isOwn(origin: string, { headers }: IncomingMessage): boolean {
  return URL.canParse(origin) && new URL(origin).host === headers.host
}
