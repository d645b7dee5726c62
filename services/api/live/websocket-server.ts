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

/** Dependencies of the server of plain websockets. */
export interface WebsocketServerOptions {
  readonly limits: LiveLimits
  readonly observer: LiveObserver
  readonly subscribing: Subscribing
  /** Interval of pings to clients, ms. */
  readonly pingMs: number
}

/** A request for a websocket. */
export interface UpgradeRequest {
  readonly request: IncomingMessage
  readonly socket: Duplex
  /** What came with the request. */
  readonly head: Buffer
  readonly channel: Channel
  /** Under which the client's connections are counted. */
  readonly address: string
  /** Called once when it is closed. */
  readonly onClose: () => void
}

/** The plain websockets of all namespaces. */
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
      // Frames are written to the socket directly and are shared by all clients: no message may depend on the one before
      // it. The websocket itself sends nothing that is worth compressing.
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

  /** Takes a connection that has been admitted. */
  accept({ request, socket, head, channel, address, onClose }: UpgradeRequest): void {
    socket.once('close', onClose)
    // A client with a smaller window gets uncompressed messages.
    const headers = request.headers
    if (headers['sec-websocket-extensions']?.includes('server_max_window_bits'))
      delete headers['sec-websocket-extensions']
    this.#server.handleUpgrade(request, socket, head, (websocket) => {
      this.#serve(websocket, socket, channel, address)
    })
  }

  /** Ends every connection. */
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
        // What is missed waits as well, within limits of its own.
        observer.cut('websocket', 'slow')
        client.dismiss('TOO_SLOW', `more than ${limits.max_queue_bytes} bytes wait to be read`)
      } else session.receive(isBinary ? undefined : textOf(data))
    })
    websocket.on('pong', () => this.#answered.add(websocket))
    // 'close' follows.
    websocket.on('error', () => undefined)
    websocket.on('close', () => {
      this.#open.delete(websocket)
      subscribing.leave(channel, client)
      observer.disconnected('websocket')
    })
  }

  /** A client that has not answered the last ping is gone, whatever the connection says. */
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
