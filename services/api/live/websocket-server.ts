import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { WebSocketServer } from 'ws'
import type { RawData, WebSocket } from 'ws'
import type { Channel } from './channel.ts'
import { LiveClient } from './client.ts'
import type { ClientTurns } from './client-turns.ts'
import { Inbox, MAX_WAITING_BYTES } from './inbox.ts'
import type { LiveLimits } from './limits.ts'
import { MessageRate } from './limits.ts'
import type { LiveObserver } from './observer.ts'
import { PlainSession } from './plain-session.ts'
import type { Subscribing } from './plain-session.ts'
import { isRead } from './slow-client.ts'
import { WebsocketConnection } from './websocket-connection.ts'

export interface WebsocketServerOptions {
  readonly limits: LiveLimits
  readonly observer: LiveObserver
  readonly subscribing: Subscribing
  /** Turns in which the messages of clients are handled. */
  readonly turns: ClientTurns
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
    const { limits, observer, subscribing, turns } = this.#options
    const client = new LiveClient(new WebsocketConnection(websocket, socket), address)
    const session = new PlainSession(client, channel, limits, subscribing)
    const rate = new MessageRate(limits.messages_per_second)
    this.#open.set(websocket, client)
    this.#answered.add(websocket)
    channel.add(client)
    observer.connected('websocket')
    const inbox = new Inbox<string | undefined>({
      ...{ turns, address, isRead: () => this.#isRead(client) },
      handle: (text) => this.#handle(client, session, text),
      onEmpty: () => websocket.resume(),
    })
    websocket.on('message', (data, isBinary) => {
      if (!client.connection.isOpen) return
      const text = isBinary ? undefined : textOf(data)
      const isTooFast = !rate.take()
      if (!isTooFast && inbox.put(text, text?.length ?? 0)) {
        websocket.pause()
        return
      }
      const most = isTooFast
        ? `${limits.messages_per_second} messages a second`
        : `${MAX_WAITING_BYTES} bytes of messages wait to be handled`
      observer.cut('websocket', 'rate')
      client.dismiss('RATE_LIMITED', `more than ${most}`)
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

  #handle(client: LiveClient, session: PlainSession, text: string | undefined): void {
    const { max_queue_bytes: most } = this.#options.limits
    if (!client.connection.isOpen) return
    // `max_queue_bytes` does not apply to a resuming client: the resumer limits the buffered bytes of missed events.
    if (client.state === 'resuming' || client.connection.waitingBytes <= most) session.receive(text)
    else this.#cutSlow(client, `more than ${most} bytes of messages wait until the client reads`)
  }

  /** Waits until a client has read its messages. Disconnects the client if it stops reading. */
  async #isRead(client: LiveClient): Promise<boolean> {
    const isDone = await isRead(client.connection)
    if (!isDone && client.connection.isOpen) this.#cutSlow(client, 'the client does not read its messages')
    return isDone
  }

  #cutSlow(client: LiveClient, text: string): void {
    this.#options.observer.cut('websocket', 'slow')
    client.dismiss('TOO_SLOW', text)
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
