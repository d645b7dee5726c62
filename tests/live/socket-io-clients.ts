import connect2 from 'socket.io-client-2'
import { io as connect3 } from 'socket.io-client-3'
import { io as connect4 } from 'socket.io-client'
import { until } from './clients.ts'

/** Major versions of the socket.io client library. */
export const generations = [2, 3, 4] as const

/** Common interface of all versions of the socket.io client library. */
interface AnyClient {
  on(event: string, listener: (...args: never[]) => void): unknown
  emit(event: string, ...args: unknown[]): unknown
  close(): unknown
  readonly connected: boolean
}

export interface SocketOptions {
  readonly generation: (typeof generations)[number]
  /** Transports; default: the library's own choice, polling first and then websocket. */
  readonly transports?: readonly ('websocket' | 'polling')[]
}

export interface SocketEvent {
  readonly name: string
  readonly payload: SocketPayload
}

/** Payload of a socket.io event, or of a fork message. */
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
  /** Error messages of failed connection attempts. */
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
    // Clients of generation 2 also emit an 'error' event with text if a namespace is refused.
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

  /**
   * Requests `/timestamp`. The server does not confirm messages; when it answers this request, it has had time to
   * handle the messages that were sent before.
   */
  async roundTrip(): Promise<void> {
    await fetch(`${this.#origin}/timestamp`)
  }

  /** Waits for at least `count` events, and returns all received events. */
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
