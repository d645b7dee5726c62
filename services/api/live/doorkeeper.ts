import type { IncomingMessage } from 'node:http'
import type { KnownClient } from '../../core/http/limits/index.ts'
import type { Refusal } from './limits.ts'
import { ConnectionCounter } from './limits.ts'
import type { LiveLimits } from './limits.ts'
import type { LiveObserver } from './observer.ts'

/** Dependencies of the admission of clients. */
export interface DoorkeeperOptions {
  readonly clientOf: (of: { readonly req: IncomingMessage }) => KnownClient
  /** `cors` of the configuration. */
  readonly origins: readonly string[]
  readonly limits: LiveLimits
  readonly observer: LiveObserver
}

const MAX_ORIGIN_LENGTH = 300

/** Decides whose live connections are taken. Browsers do not apply CORS to websockets, so origins are looked at here. */
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

  /** Whether pages of an origin may call. */
  allowsOrigin(origin: string): boolean {
    if (this.#origins.length === 0) return true
    return origin.length <= MAX_ORIGIN_LENGTH && this.#origins.some((pattern) => pattern.test(origin))
  }

  /** Why a connection is not taken; undefined when it is. */
  refusal(request: IncomingMessage): Refusal | undefined {
    const { observer, clientOf } = this.#options
    if (this.#isClosed) {
      observer.refused('stopping')
      return { status: 503, message: 'The server stops' }
    }
    const { origin } = request.headers
    if (origin !== undefined && !isOwn(origin, request) && !this.allowsOrigin(origin)) {
      observer.refused('origin')
      return { status: 403, message: 'This origin may not connect' }
    }
    const refusal = this.#counter.refusal(clientOf({ req: request }))
    if (refusal) observer.refused(refusal.status === 429 ? 'address' : 'full')
    return refusal
  }

  /** Key under which the connections of the client of a request are counted. */
  addressOf(request: IncomingMessage): string {
    return this.#options.clientOf({ req: request }).key
  }

  /** Connections that are open, of every kind. */
  get open(): number {
    return this.#counter.total
  }

  /** Counts a connection that is taken; returns what counts it off. */
  admit(request: IncomingMessage): () => void {
    return this.#counter.add(this.#options.clientOf({ req: request }))
  }

  /** Accepts no more clients. */
  close(): void {
    this.#isClosed = true
  }
}

/** A page of this server. */
function isOwn(origin: string, { headers }: IncomingMessage): boolean {
  return URL.canParse(origin) && new URL(origin).host === headers.host
}
