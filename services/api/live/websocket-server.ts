import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { WebSocketServer } from 'ws'
import type { RawData, WebSocket } from 'ws'
import type { Channel } from './channel.ts'
import { LiveClient } from './client.ts'
import type { LiveLimits } from './limits.ts'
import { MessageRate } from './limits.ts'
import type { LiveObserver } from './observer.ts'
import { PlainSession } from './plain-session.ts'
import type { Subscribing } from './plain-session.ts'
import { WebsocketConnection } from './websocket-connection.ts'

export interface WebsocketServerOptions {
  readonly limits: LiveLimits
  readonly observer: LiveObserver
  readonly subscribing: Subscribing
  /** Interval of pings to clients, ms. */
  readonly pingMs: number
}

/** A websocket upgrade that `Doorkeeper` has admitted: origin and number of connections are allowed. */
export interface UpgradeRequest {
  readonly request: IncomingMessage
  readonly socket: Duplex
  /** First bytes that follow the headers of the request. */
  readonly head: Buffer
  readonly channel: Channel
  /** IPv4 address or IPv6 network by which the connections of the client are counted. */
  readonly address: string
  /** Called once when the connection is closed. */
  readonly onClose: () => void
}

/** Serves the websockets of all namespaces that do not use the protocol of socket.io. */
export class PlainWebsockets {
  readonly #options: WebsocketServerOptions
  readonly #server: WebSocketServer
  readonly #open = new Map<WebSocket, LiveClient>()
  readonly #answered = new WeakSet<WebSocket>()
  readonly #pulse: NodeJS.Timeout

  constructor(options: WebsocketServerOptions) {
    this.#options = options
    this.#server = new WebSocketServer({
      noServer: true,
      clientTracking: false,
      // No context takeover: all clients share the frames, so no message may depend on an earlier one. The high
      // threshold prevents the websocket object from compressing messages.
      perMessageDeflate: {
        serverNoContextTakeover: true,
        clientNoContextTakeover: true,
        threshold: Number.MAX_SAFE_INTEGER,
      },
      maxPayload: options.limits.max_message_bytes,
    })
    this.#pulse = setInterval(() => this.#ping(), options.pingMs)
    this.#pulse.unref()
  }

  /** Completes the handshake of an admitted websocket upgrade. */
  accept({ request, socket, head, channel, address, onClose }: UpgradeRequest): void {
    socket.once('close', onClose)
    // Clients that request a smaller compression window get uncompressed messages.
    const headers = request.headers
    if (headers['sec-websocket-extensions']?.includes('server_max_window_bits'))
      delete headers['sec-websocket-extensions']
    this.#server.handleUpgrade(request, socket, head, (websocket) => {
      this.#serve(websocket, socket, channel, address)
    })
  }

  /** Closes every connection with a reason. */
  close(reason: string): void {
    clearInterval(this.#pulse)
    for (const client of this.#open.values()) client.dismiss('STOPPING', reason)
    this.#server.close()
  }

  #serve(websocket: WebSocket, socket: Duplex, channel: Channel, address: string): void {
    const { limits, observer, subscribing } = this.#options
    const client = new LiveClient(new WebsocketConnection(websocket, socket), address)
    const session = new PlainSession(client, channel, limits, subscribing)
    const rate = new MessageRate(limits.messages_per_second)
    this.#open.set(websocket, client)
    this.#answered.add(websocket)
    channel.add(client)
    observer.connected('websocket')
    websocket.on('message', (data, isBinary) => {
      if (!client.connection.isOpen) return
      if (!rate.take()) {
        observer.cut('websocket', 'rate')
        client.dismiss('RATE_LIMITED', `more than ${limits.messages_per_second} messages a second`)
      } else if (client.state !== 'resuming' && client.connection.waitingBytes > limits.max_queue_bytes) {
        // `max_queue_bytes` does not apply to a resuming client: the resumer limits the buffered bytes of missed
        // events.
        observer.cut('websocket', 'slow')
        client.dismiss(
          'TOO_SLOW',
          `more than ${limits.max_queue_bytes} bytes of messages wait until the client reads`,
        )
      } else session.receive(isBinary ? undefined : textOf(data))
    })
    websocket.on('pong', () => this.#answered.add(websocket))
    // No action on 'error': a websocket always emits 'close' after 'error'.
    websocket.on('error', () => undefined)
    websocket.on('close', () => {
      this.#open.delete(websocket)
      subscribing.leave(channel, client)
      observer.disconnected('websocket')
    })
  }

  /** Terminates clients that have not answered the last ping, and sends a ping to all others. */
  #ping(): void {
    for (const [websocket] of this.#open) {
      if (this.#answered.delete(websocket)) websocket.ping()
      else {
        this.#options.observer.cut('websocket', 'silent')
        websocket.terminate()
      }
    }
  }
}

function textOf(data: RawData): string {
  if (Array.isArray(data)) return Buffer.concat(data).toString('utf8')
  return Buffer.from(data as Buffer).toString('utf8')
}
