import type { ChannelMount } from './channel.ts'
import { SOCKET_IO_PATH, SocketIoServer } from './socket-io.ts'
import { STATUS_CODES } from 'node:http'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import type { DatabaseAddress } from '../../core/database/index.ts'
import { createPool } from '../../core/database/index.ts'
import { describeError } from '../../core/errors/index.ts'
import { createClients } from '../../core/http/limits/index.ts'
import { createCorsHeaders } from '../../core/http/headers/index.ts'
import { RequestError } from '../../core/http/index.ts'
import type { ClientSettings } from '../../core/http/limits/index.ts'
import type { KeyValueStore } from '../../core/kvstore/index.ts'
import { decodeCursor } from '../../core/feed-reader/index.ts'
import type { FeedQuery, SubscriberStatus } from '../../core/feed-reader/index.ts'
import type { Logger } from '../../core/log/index.ts'
import type { RequestDatabase } from '../database/index.ts'
import { invalidParameter } from '../request/index.ts'
import { Channel } from './channel.ts'
import { ClientTurns } from './client-turns.ts'
import { Doorkeeper } from './doorkeeper.ts'
import { answerPlainly, EventStreams } from './event-stream.ts'
import { ReaderHub } from './hub.ts'
import type { LiveLimits } from './limits.ts'
import type { LiveObserver } from './observer.ts'
import { Resumer } from './resuming.ts'
import { SessionRelay } from './session-relay.ts'
import type { SessionPeers } from './session-relay.ts'
import { SubscriptionBudget } from './subscription-budget.ts'
import { Subscriptions } from './subscriptions.ts'
import { PlainWebsockets } from './websocket-server.ts'

/** Destination of a request for live data: the socket.io server, or the websocket or event stream of a namespace. */
export type LivePlace =
  | { readonly kind: 'socket.io' }
  /** Websocket without the protocol of socket.io (`live`), or event stream (`events`), of a namespace. */
  | { readonly kind: 'live' | 'events'; readonly channel: Channel; readonly query: URLSearchParams }

/** Fast check before the exact lookup: the paths of all websockets and event streams match this pattern. */
const MAY_BE_LIVE = /^[^?]*\/v1\/(?:live|events)\/?(?:\?|$)/i

/** Paths of the websocket (without socket.io) and the event stream, relative to the path of a namespace. */
export const plainPaths = { live: '/v1/live', events: '/v1/events' } as const

/**
 * Finds the destination of a request for live data. Letter case and a trailing slash of the path do not matter, as for
 * all other routes.
 */
class LiveRoutes {
  readonly #places = new Map<string, { readonly kind: 'live' | 'events'; readonly channel: Channel }>()

  constructor(channels: readonly Channel[]) {
    for (const channel of channels) {
      for (const path of channel.mount.paths) {
        this.#places.set((path + plainPaths.live).toLowerCase(), { kind: 'live', channel })
        this.#places.set((path + plainPaths.events).toLowerCase(), { kind: 'events', channel })
      }
    }
  }

  /** @param address path and query of a request. */
  find(address = ''): LivePlace | undefined {
    if (address.startsWith(SOCKET_IO_PATH)) return { kind: 'socket.io' }
    if (!MAY_BE_LIVE.test(address)) return undefined
    const [path = '', ...query] = address.split('?')
    const place = this.#places.get(path.toLowerCase().replace(/\/$/, ''))
    return place && { ...place, query: new URLSearchParams(query.join('?')) }
  }
}

/** Maximum number of database connections for reading the feed and the missed events of resuming clients. */
const POOL_SIZE = 4
const QUERY_TIMEOUT_MS = 10_000
const PING_MS = 25_000
const HEARTBEAT_MS = 15_000
/** At shutdown, connections that are still open after this time are closed, ms. */
const FAREWELL_MS = 3_000
const CHECK_MS = 50

/** Dependencies of live data (websockets, event streams, socket.io). */
export interface LiveOptions {
  readonly mounts: readonly ChannelMount[]
  readonly settings: ClientSettings & { readonly cors: readonly string[]; readonly live: LiveLimits }
  /** Host, port and login of the primary database. */
  readonly address: DatabaseAddress
  readonly database: RequestDatabase
  readonly kvstore: KeyValueStore
  readonly logger: Logger
  readonly observer: LiveObserver
  /** Builds the JSON body of a failure from its message. */
  readonly failureBody: (message: string) => string
  /** Other processes that serve the same port; undefined if there are none. */
  readonly peers?: SessionPeers | undefined
}

/** State of the live data of one reader. */
export interface LiveFeedState {
  readonly reader: string
  readonly feed: SubscriberStatus | undefined
  /** Bytes that the reader's clients of websockets and event streams have not read yet. */
  readonly waitingBytes: number
}

/** Live data of all namespaces: websockets, event streams and socket.io. */
export interface LiveService {
  /** Creates a handler that answers requests for live data, and passes other requests to `others`. */
  handlerBefore(others: RequestListener): RequestListener
  /** Accepts a websocket upgrade. Returns false if the path has no websocket. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): boolean
  states(): readonly LiveFeedState[]
  /**
   * Port on which other processes forward requests for sessions of this process; undefined if there are no other
   * processes.
   */
  readonly sessionPort: number | undefined
  /** Asks every client to disconnect, then closes the remaining connections and releases all resources. */
  close(): Promise<void>
}

/** Starts live data: subscribes to the feeds of the namespaces' readers, and accepts clients. */
export async function openLive(options: LiveOptions): Promise<LiveService> {
  const service = new Live(options)
  await service.start()
  return service
}

class Live implements LiveService {
  readonly #options: LiveOptions
  readonly #pool
  readonly #hubs = new Map<string, ReaderHub>()
  readonly #resumer: Resumer
  readonly #doorkeeper: Doorkeeper
  readonly #corsHeaders
  readonly #routes: LiveRoutes
  readonly #websockets: PlainWebsockets
  readonly #streams: EventStreams
  readonly #socketIo: SocketIoServer
  readonly #relay: SessionRelay | undefined
  sessionPort: number | undefined
  #closing: Promise<void> | undefined

  constructor(options: LiveOptions) {
    this.#options = options
    const { settings, observer, logger } = options
    const { live: limits } = settings
    this.#pool = createPool(options.address, {
      applicationName: 'pronghorn-api-live',
      statementTimeoutMs: QUERY_TIMEOUT_MS,
      max: POOL_SIZE,
    })
    const channels = options.mounts.map(
      (mount) =>
        new Channel({
          ...{ mount, maxQueueBytes: limits.max_queue_bytes, observer },
          resume: (channel, client) => this.#resumer.resume(channel, client),
        }),
    )
    this.#routes = new LiveRoutes(channels)
    const hubOf = ({ mount }: Channel): ReaderHub | undefined => this.#hubs.get(mount.reader ?? '')
    this.#resumer = new Resumer({ logger, observer, hubOf })
    const subscribing = new Subscriptions(new SubscriptionBudget(), this.#resumer)
    this.#corsHeaders = createCorsHeaders(settings.cors)
    const clientOf = createClients(settings)
    this.#doorkeeper = new Doorkeeper({ clientOf, origins: settings.cors, limits, observer })
    const parts = { limits, observer, subscribing }
    const turns = new ClientTurns()
    this.#websockets = new PlainWebsockets({ ...parts, turns, pingMs: PING_MS })
    this.#streams = new EventStreams({ ...parts, heartbeatMs: HEARTBEAT_MS })
    this.#socketIo = new SocketIoServer({
      ...{ channels, limits, observer, doorkeeper: this.#doorkeeper, turns },
      sessionPrefix: options.peers ? SessionRelay.prefix(options.peers) : '',
    })
    this.#relay = options.peers && new SessionRelay(options.peers, this.#socketIo)
    for (const reader of new Set(channels.flatMap(({ mount }) => mount.reader ?? []))) {
      this.#hubs.set(reader, this.#createHub(reader, channels))
    }
  }

  async start(): Promise<void> {
    this.sessionPort = await this.#relay?.listen()
    await Promise.all([...this.#hubs.values()].map((hub) => hub.start()))
  }

  handlerBefore(others: RequestListener): RequestListener {
    return (request, response) => {
      const place = this.#routes.find(request.url)
      if (!place) others(request, response)
      else if (place.kind === 'socket.io') (this.#relay ?? this.#socketIo).handle(request, response)
      else this.#serve(place, request, response)
    }
  }

  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): boolean {
    const place = this.#routes.find(request.url)
    if (!place || place.kind === 'events') return false
    if (place.kind === 'socket.io') {
      ;(this.#relay ?? this.#socketIo).upgrade(request, socket, head)
      return true
    }
    const refusal = place.channel.mount.reader === undefined ? noReader : this.#doorkeeper.refusal(request)
    if (refusal) {
      endWith(socket, refusal.status, this.#options.failureBody(refusal.message))
      return true
    }
    const leave = this.#doorkeeper.admit(request)
    const address = this.#doorkeeper.addressOf(request)
    this.#websockets.accept({ request, socket, head, channel: place.channel, address, onClose: leave })
    return true
  }

  states(): LiveFeedState[] {
    return [...this.#hubs.values()].map((hub) => ({
      reader: hub.reader,
      feed: hub.status(),
      waitingBytes: hub.waitingBytes,
    }))
  }

  close(): Promise<void> {
    return (this.#closing ??= this.#close())
  }

  async #close(): Promise<void> {
    const reason = 'the server stops'
    this.#doorkeeper.close()
    this.#websockets.close(reason)
    this.#streams.close(reason)
    this.#socketIo.close()
    this.#resumer.close()
    for (let waitedMs = 0; this.#doorkeeper.open > 0 && waitedMs < FAREWELL_MS; waitedMs += CHECK_MS)
      await sleep(CHECK_MS)
    this.#socketIo.destroy()
    this.#relay?.close()
    await Promise.all([...this.#hubs.values()].map((hub) => hub.close()))
    await this.#pool.end()
  }

  readonly #query: FeedQuery = async (text, values) => {
    const { rows } = await this.#pool.query({ text, values: [...values] })
    return rows as never
  }

  #createHub(reader: string, channels: readonly Channel[]): ReaderHub {
    const { database, kvstore, observer, logger } = this.#options
    return new ReaderHub({
      ...{ reader, database, kvstore, observer, logger },
      channels: channels.filter(({ mount }) => mount.reader === reader),
      query: this.#query,
    })
  }

  #serve(place: LivePlace, request: IncomingMessage, response: ServerResponse): void {
    const { failureBody, logger } = this.#options
    const headers = this.#corsHeaders(request.headers.origin)
    try {
      this.#serveEvents(place, request, response, headers)
    } catch (error) {
      const known = error instanceof RequestError
      if (!known) logger.error({ err: error }, `request failed: ${describeError(error)}`)
      const status = known ? error.status : 500
      const text = known ? error.message : 'Internal Server Error'
      answerPlainly(response, status, failureBody(text), known ? { ...headers, ...error.headers } : headers)
    }
  }

  #serveEvents(
    place: LivePlace,
    request: IncomingMessage,
    response: ServerResponse,
    headers: Readonly<Record<string, string>>,
  ): void {
    if (request.method === 'OPTIONS') {
      response.writeHead(204, { ...headers, 'Access-Control-Allow-Methods': 'GET' }).end()
      return
    }
    if (place.kind === 'socket.io') return
    if (place.channel.mount.reader === undefined) throw new RequestError(noReader.status, noReader.message)
    if (place.kind === 'live') {
      throw new RequestError(426, 'This is a websocket: connect with ws:// or wss://', {
        Upgrade: 'websocket',
        Connection: 'Upgrade',
      })
    }
    if (request.method !== 'GET')
      throw new RequestError(405, 'Request an event stream with GET', { Allow: 'GET' })
    const refusal = this.#doorkeeper.refusal(request)
    if (refusal) throw new RequestError(refusal.status, refusal.message, { 'Retry-After': '5' })
    const cursor = place.query.get('cursor')
    if (cursor !== null && !isCursor(cursor))
      throw invalidParameter(
        'cursor',
        undefined,
        'cursor must be a cursor that the server has sent; send no cursor to begin with the next event',
      )
    const leave = this.#doorkeeper.admit(request)
    try {
      const address = this.#doorkeeper.addressOf(request)
      const { query, channel } = place
      this.#streams.accept({ request, response, query, headers, channel, address, onClose: leave })
    } catch (error) {
      leave()
      throw error
    }
  }
}

const noReader = {
  status: 404,
  message: 'This path has no live data: the namespace has no connected_reader',
}

function isCursor(text: string): boolean {
  try {
    decodeCursor(text)
    return true
  } catch {
    return false
  }
}

/** Answers a refused upgrade request and closes the socket. */
function endWith(socket: Duplex, status: number, body: string): void {
  socket.on('error', () => undefined)
  // `end` alone would leave the connection open, because nothing reads the bytes that the client sends.
  socket.once('finish', () => socket.destroy())
  if (socket instanceof Socket) socket.once('timeout', () => socket.destroy())
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n` +
      `Connection: close\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  )
}
