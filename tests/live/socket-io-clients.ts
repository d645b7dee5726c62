import connect2 from 'socket.io-client-2'
import { io as connect3 } from 'socket.io-client-3'
import { io as connect4 } from 'socket.io-client'
import { until } from './clients.ts'

/** Generations of the client library. */
export const generations = [2, 3, 4] as const

/** What the libraries have in common. */
interface AnyClient {
  on(event: string, listener: (...args: never[]) => void): unknown
  emit(event: string, ...args: unknown[]): unknown
  close(): unknown
  readonly connected: boolean
}

/** How a client connects. */
export interface SocketOptions {
  readonly generation: (typeof generations)[number]
  /** Default: what the library does by itself, polling and then a websocket. */
  readonly transports?: readonly ('websocket' | 'polling')[]
}

/** An event with its payload. */
export interface SocketEvent {
  readonly name: string
  readonly payload: SocketPayload
}

/** Payload of an event, or of a fork. */
export interface SocketPayload {
  readonly block_num?: number
  readonly transaction?: { readonly id: string; readonly traces: readonly unknown[] }
  readonly block?: { readonly block_id: string; readonly block_num: number; readonly timestamp: string }
  readonly trace?: {
    readonly global_sequence: string
    readonly act: { readonly name: string; readonly data: unknown }
  }
  readonly [member: string]: unknown
}

const eventNames = [
  ...['new_asset', 'burn', 'back', 'update', 'create', 'new_transfer', 'new_sale', 'purchased_sale'],
  ...['new_auction', 'new_bid', 'new_buyoffer', 'new_template_buyoffer', 'fork', 'notice'],
]

/** A socket.io client in one namespace. */
export class SocketClient {
  readonly events: SocketEvent[] = []
  /** Messages of failed attempts to connect. */
  readonly refusals: string[] = []
  /** Reasons of disconnections. */
  readonly disconnects: string[] = []
  readonly #client: AnyClient
  readonly #origin: string

  constructor(url: string, { generation, transports }: SocketOptions) {
    this.#origin = new URL(url).origin
    const options = {
      forceNew: true,
      reconnectionDelay: 100,
      ...(transports ? { transports: [...transports] } : {}),
    }
    this.#client = { 2: connect2, 3: connect3, 4: connect4 }[generation](url, options) as AnyClient
    for (const name of eventNames) {
      this.#client.on(name, (payload: SocketPayload) => this.events.push({ name, payload }))
    }
    this.#client.on('disconnect', (reason: string) => this.disconnects.push(reason))
    // Generation 2 reports a refused namespace by an error whose argument is the text.
    for (const name of generation === 2 ? ['connect_error', 'error'] : ['connect_error']) {
      this.#client.on(name, (error: Error | string) => {
        this.refusals.push(typeof error === 'string' ? error : error.message)
      })
    }
  }

  get isConnected(): boolean {
    return this.#client.connected
  }

  async untilConnected(): Promise<this> {
    await until(
      () => this.#client.connected,
      () => `not connected: ${this.refusals.join()}`,
    )
    return this
  }

  async untilRefused(): Promise<string> {
    await until(
      () => this.refusals.length > 0,
      () => 'not refused',
    )
    return this.refusals[0]!
  }

  subscribe(rooms: unknown): void {
    this.#client.emit('subscribe', rooms)
  }

  /** Resolves when the server has taken everything that was sent before, as far as that can be seen: it has had time. */
  async roundTrip(): Promise<void> {
    await fetch(`${this.#origin}/timestamp`)
  }

  /** The first events, as soon as there are so many. */
  async received(count: number): Promise<SocketEvent[]> {
    await until(
      () => this.events.length >= count,
      () => `${this.events.length} of ${count} events: ${JSON.stringify(this.events).slice(0, 2_000)}`,
    )
    return this.events
  }

  close(): void {
    this.#client.close()
  }
}
