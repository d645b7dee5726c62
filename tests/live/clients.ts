import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { EventSource } from 'eventsource'
import { WebSocket } from 'ws'
import type { ClientOptions } from 'ws'
import { patient } from '../setup/patience.ts'

/** A message of the websocket or the event stream. */
export interface LiveMessage {
  readonly type: string
  readonly event?: string
  readonly cursor?: string
  readonly id?: string
  readonly block?: { readonly num: number; readonly id: string; readonly time: number }
  readonly block_num?: number
  readonly record?: unknown
  readonly code?: string
  readonly message?: string
  readonly [member: string]: unknown
}

const PATIENCE_MS = patient(60_000)

/**
 * Waits until a condition holds.
 * @throws Error with the text of `what` after a time limit.
 */
export async function until(holds: () => boolean, what: () => string): Promise<void> {
  const startedMs = performance.now()
  while (!holds()) {
    await sleep(5)
    if (performance.now() - startedMs > PATIENCE_MS) throw new Error(`timed out: ${what()}`)
  }
}

/** A client of the websocket that does not use the protocol of socket.io. */
export class WebsocketClient {
  readonly messages: LiveMessage[] = []
  readonly socket: WebSocket
  /** Close code and reason; undefined while the connection is open. */
  closed: { readonly code: number; readonly reason: string } | undefined

  private constructor(url: string, options: ClientOptions) {
    this.socket = new WebSocket(url.replace(/^http/, 'ws'), options)
    this.socket.on('message', (data: Buffer) => {
      this.messages.push(JSON.parse(data.toString('utf8')) as LiveMessage)
    })
    this.socket.on('close', (code, reason) => {
      this.closed = { code, reason: reason.toString('utf8') }
    })
    this.socket.on('error', () => undefined)
  }

  /**
   * Opens a connection.
   * @throws Error with the HTTP status if the server refuses.
   */
  static async open(url: string, options: ClientOptions = {}): Promise<WebsocketClient> {
    const client = new WebsocketClient(url, options)
    await Promise.race([
      once(client.socket, 'open'),
      once(client.socket, 'unexpected-response').then(([, response]) => {
        throw new Error(`status ${(response as { statusCode: number }).statusCode}`)
      }),
    ])
    return client
  }

  /** Sends a message; text is sent unchanged, other values as JSON. */
  send(message: unknown): void {
    this.socket.send(typeof message === 'string' ? message : JSON.stringify(message))
  }

  /** Subscribes and waits for the response. */
  async subscribe(more: Readonly<Record<string, unknown>> = {}): Promise<LiveMessage> {
    this.send({ type: 'subscribe', ...more })
    const before = this.messages.length
    await until(
      () => this.messages.length > before,
      () => 'no answer to a subscription',
    )
    return this.messages[before]!
  }

  /** Waits for `count` messages of a type, and returns all received messages of the type. */
  async received(type: string, count: number): Promise<LiveMessage[]> {
    const own = (): LiveMessage[] => this.messages.filter((message) => message.type === type)
    await until(
      () => own().length >= count,
      () => `${own().length} of ${count} ${type}: ${JSON.stringify(this.messages).slice(0, 2_000)}`,
    )
    return own()
  }

  async untilClosed(): Promise<{ readonly code: number; readonly reason: string }> {
    await until(
      () => this.closed !== undefined,
      () => 'the connection is still open',
    )
    return this.closed!
  }

  close(): void {
    this.socket.terminate()
  }
}

/** A client of the event stream. */
export class StreamClient {
  readonly messages: LiveMessage[] = []
  readonly source: EventSource

  constructor(url: string) {
    this.source = new EventSource(url)
    for (const name of ['subscribed', 'event', 'fork', 'gap', 'lag', 'failure']) {
      this.source.addEventListener(name, (event) => {
        const { data, lastEventId } = event as { data: string; lastEventId: string }
        const message = JSON.parse(data) as LiveMessage
        if (message.cursor !== undefined && message.cursor !== lastEventId) {
          throw new Error(`id ${lastEventId} is not the cursor ${message.cursor}`)
        }
        this.messages.push(message)
      })
    }
  }

  async received(type: string, count: number): Promise<LiveMessage[]> {
    const own = (): LiveMessage[] => this.messages.filter((message) => message.type === type)
    await until(
      () => own().length >= count,
      () => `${own().length} of ${count} ${type}: ${JSON.stringify(this.messages).slice(0, 2_000)}`,
    )
    return own()
  }

  close(): void {
    this.source.close()
  }
}
