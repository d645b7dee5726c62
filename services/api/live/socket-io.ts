import { createServer } from 'node:http'
import type { IncomingMessage, Server as HttpServer, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { Server } from 'socket.io'
import type { Socket } from 'socket.io'
import { WebSocketServer } from 'ws'
import { onceClosed } from '../../core/http/listener/index.ts'
import { eventCatalogue } from '../../core/live/index.ts'
import type { Channel } from './channel.ts'
import type { ClientTurns } from './client-turns.ts'
import type { Doorkeeper } from './doorkeeper.ts'
import { Inbox } from './inbox.ts'
import type { LiveLimits } from './limits.ts'
import type { LiveObserver } from './observer.ts'
import { SocketAudience } from './socket-audience.ts'
import { SocketPeer } from './socket-peer.ts'
import type { EngineSocket } from './socket-peer.ts'

/** Path of socket.io requests. */
export const SOCKET_IO_PATH = '/socket.io/'

/** Heartbeat interval and time limit that existing clients expect, ms. */
const PING_INTERVAL_MS = 25_000
const PING_TIMEOUT_MS = 20_000

/** Dependencies of the socket.io server. */
export interface SocketIoOptions {
  readonly channels: readonly Channel[]
  readonly limits: LiveLimits
  readonly observer: LiveObserver
  readonly doorkeeper: Doorkeeper
  /** Turns in which the messages of clients are handled. */
  readonly turns: ClientTurns
  /**
   * Prefix of the ids of the socket.io sessions of this process. Other processes recognise by the prefix which process
   * owns a session.
   */
  readonly sessionPrefix: string
}

/**
 * Serves socket.io clients of versions 2, 3 and 4 over websockets and polling. The library handles handshakes,
 * namespaces and heartbeats. This class encodes events into packets, once for all clients.
 */
export class SocketIoServer {
  readonly #options: SocketIoOptions
  readonly #io: Server
  /**
   * HTTP server that never listens. Requests of the real server are emitted on it, so that the socket.io library
   * handles them.
   */
  readonly #inner: HttpServer = createServer()
  readonly #peers = new Map<EngineSocket, SocketPeer>()
  /** Functions that end the count of a connection, by the connection's handshake request. */
  readonly #leaves = new WeakMap<IncomingMessage, () => void>()

  constructor(options: SocketIoOptions) {
    this.#options = options
    const { limits, doorkeeper } = options
    this.#io = new Server({
      path: SOCKET_IO_PATH,
      allowEIO3: true,
      transports: ['polling', 'websocket'],
      perMessageDeflate: false,
      // Use the `ws` package. The server that socket.io bundles answers pings without limit, even if the client does
      // not read.
      wsEngine: WebSocketServer,
      httpCompression: { threshold: 1_024 },
      pingInterval: PING_INTERVAL_MS,
      pingTimeout: PING_TIMEOUT_MS,
      maxHttpBufferSize: limits.max_message_bytes,
      destroyUpgrade: false,
      cors: {
        // Clients of version 2 send credentials, so CORS requires the exact origin in place of `*`. The API has no
        // credentials to protect.
        origin: (origin, answer) =>
          answer(null, origin !== undefined && doorkeeper.allowsOrigin(origin) && origin),
        credentials: true,
        methods: ['GET', 'POST'],
      },
      allowRequest: (request, answer) => {
        const refusal = doorkeeper.refusal(request)
        // Count the connection at the handshake: before the connection opens, other handshakes may arrive.
        if (!refusal) this.#leaves.set(request, doorkeeper.admit(request))
        answer(refusal?.message, refusal === undefined)
      },
    })
    this.#io.attach(this.#inner)
    this.#nameSessions()
    this.#io.engine.on('connection', (conn: EngineSocket) => this.#serve(conn))
    this.#io.engine.on('connection_error', ({ req }: { req: IncomingMessage }) => this.#leaves.get(req)?.())
    for (const channel of options.channels) this.#open(channel)
  }

  /** Answers a request below `SOCKET_IO_PATH`. */
  handle(request: IncomingMessage, response: ServerResponse): void {
    // The library opens a file for each request of the client script, and closes the file when the response closes.
    onceClosed({ req: request, res: response }, () => undefined)
    // The library compresses the client script anew for each request: brotli takes more than a second. Only responses
    // of sessions, whose addresses have a query, are compressed.
    if (!request.url?.startsWith(`${SOCKET_IO_PATH}?`)) delete request.headers['accept-encoding']
    this.#inner.emit('request', request, response)
  }

  /** Accepts a websocket upgrade below `SOCKET_IO_PATH`. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    // A failed websocket handshake has no event of its own, so the count ends when the socket closes.
    socket.once('close', () => this.#leaves.get(request)?.())
    this.#inner.emit('upgrade', request, socket, head)
  }

  /** Announces to every client that the server stops, and closes the client's connection. */
  close(): void {
    for (const peer of this.#peers.values()) peer.cut('stopping')
  }

  /** Disconnects the remaining clients at once. */
  destroy(): void {
    this.#io.engine.close()
  }

  #nameSessions(): void {
    const { engine } = this.#io as unknown as { engine: { generateId: (request: IncomingMessage) => string } }
    const generate = engine.generateId.bind(engine)
    engine.generateId = (request) => this.#options.sessionPrefix + generate(request)
  }

  #serve(conn: EngineSocket): void {
    const { limits, observer } = this.#options
    const { request } = conn
    const peer = new SocketPeer(conn, limits, observer)
    let { transport } = peer
    this.#peers.set(conn, peer)
    this.#handleInTurns(conn, peer)
    observer.connected(transport)
    conn.on('upgrade', () => {
      observer.disconnected(transport)
      ;({ transport } = peer)
      observer.connected(transport)
    })
    conn.on('close', () => {
      this.#leaves.get(request)?.()
      this.#peers.delete(conn)
      observer.disconnected(transport)
    })
  }

  /** Replaces the listener with which the library decodes messages at once, so that messages are decoded in turns. */
  #handleInTurns(conn: EngineSocket, peer: SocketPeer): void {
    const { turns, doorkeeper } = this.#options
    const [decode] = conn.listeners('data')
    conn.removeAllListeners('data')
    const inbox = new Inbox<string | Buffer>({
      ...{ turns, address: doorkeeper.addressOf(conn.request), isRead: () => peer.isRead() },
      handle: (data) => {
        if (conn.readyState === 'open') (decode as (data: string | Buffer) => void)(data)
      },
    })
    conn.on('data', (data: string | Buffer) => {
      if (!inbox.put(data, data.length)) peer.cut('rate')
    })
  }

  /** Opens the socket namespaces of a REST namespace, on each path of the REST namespace. */
  #open(channel: Channel): void {
    const { mount } = channel
    const entries = eventCatalogue.filter(({ family }) => family === mount.family)
    const suffixes = new Set(entries.flatMap(({ socket }) => socket?.namespaces ?? []))
    for (const suffix of suffixes) {
      const rooms = entries.flatMap(({ socket }) =>
        socket?.room !== undefined && socket.namespaces.includes(suffix) ? [socket.room] : [],
      )
      for (const path of mount.paths) {
        const audience = new SocketAudience(path + suffix, suffix, mount)
        channel.listen(audience)
        this.#io.of(audience.name).on('connection', (socket) => this.#join(socket, audience, new Set(rooms)))
      }
    }
  }

  #join(socket: Socket, audience: SocketAudience, rooms: ReadonlySet<string>): void {
    const peer = this.#peers.get(socket.conn)
    if (!peer) return
    if (peer.namespaces.has(audience.name)) {
      // A second join of the same namespace would deliver every event twice, and a leave would end only one of the two
      // joins.
      socket.conn.close(true)
      return
    }
    // Nothing reads `auth`, which may take megabytes of memory for each namespace of each connection.
    socket.handshake.auth = {}
    const member = audience.add(peer)
    peer.namespaces.add(audience.name)
    socket.on('subscribe', (wanted: unknown) => {
      // Each `subscribe` replaces the set of rooms. Unknown room names are ignored.
      member.rooms = new Set([...rooms].filter((room) => isObject(wanted) && Boolean(wanted[room])))
    })
    socket.on('disconnect', () => {
      audience.remove(member)
      peer.namespaces.delete(audience.name)
    })
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}
