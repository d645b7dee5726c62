import type { Filter } from './filter.ts'
import { filterSignature, fitsAny } from './filter.ts'
import type { LiveEvent } from './live-event.ts'
import type { Transport } from './observer.ts'
import type { Format, LiveErrorCode, Outgoing } from './outgoing.ts'
import { errorMessage } from './outgoing.ts'

/** A connection that messages are written to. */
export interface Connection {
  readonly transport: Transport
  readonly format: Format
  readonly isOpen: boolean
  /** Bytes that wait to be taken by the client. */
  readonly waitingBytes: number
  write(bytes: Buffer): void
  /** Resolves when little is buffered, or the connection is closed. */
  drained(): Promise<void>
  /** Closes it after the written messages; a client that does not read is disconnected soon after. */
  end(code: LiveErrorCode, reason: string): void
}

/**
 * A client of the websocket or the event stream. `waiting`: it has not subscribed yet. `resuming`: it is given what it
 * missed. `live`: it is given what happens.
 */
export class LiveClient {
  readonly connection: Connection
  /** Address under which the client's connections are counted. */
  readonly address: string
  state: 'waiting' | 'resuming' | 'live' = 'waiting'
  /** Entry of the feed up to which it has been given everything, when that is further than others. */
  heardUpTo = 0n
  readonly #filters = new Map<string, Filter>()
  readonly #leaving = new AbortController()
  #signature: string | undefined

  constructor(connection: Connection, address: string) {
    this.connection = connection
    this.address = address
  }

  /** Aborted when the connection is closed. */
  get left(): AbortSignal {
    return this.#leaving.signal
  }

  /** The connection is closed. */
  leave(): void {
    this.#leaving.abort()
  }

  /** Number of subscriptions. */
  get subscriptions(): number {
    return this.#filters.size
  }

  has(id: string): boolean {
    return this.#filters.has(id)
  }

  /** Adds a subscription, or puts it in the place of the one with the same id. */
  subscribe(id: string, filter: Filter): void {
    this.#filters.set(id, filter)
    this.#signature = undefined
  }

  /** Ends a subscription; false when there is none of this id. */
  unsubscribe(id: string): boolean {
    this.#signature = undefined
    return this.#filters.delete(id)
  }

  /** The same for clients that are sent the same. */
  get signature(): string {
    return (this.#signature ??= filterSignature(this.filters))
  }

  /** The subscriptions that it has now. */
  get filters(): Filter[] {
    return [...this.#filters.values()]
  }

  /** Whether a subscription matches an event. An event is sent once, even if several match. */
  wants(event: LiveEvent): boolean {
    return fitsAny(this.#filters.values(), event)
  }

  /** Whether a subscription may match events of a name. */
  mayWant(name: string): boolean {
    for (const filter of this.#filters.values()) if (filter.events?.has(name) ?? true) return true
    return false
  }

  send(message: Outgoing): void {
    if (this.connection.isOpen) this.connection.write(message.bytes(this.connection.format))
  }

  /** Sends the reason to the client, and closes the connection. */
  dismiss(code: LiveErrorCode, reason: string): void {
    if (!this.connection.isOpen) return
    this.send(errorMessage(code, reason))
    this.connection.end(code, reason)
  }
}
