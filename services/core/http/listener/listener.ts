import { createServer, STATUS_CODES } from 'node:http'
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { FatalError } from '../../errors/index.ts'
import { bytesText, secondsText } from '../../limits/index.ts'
import type { Limit } from '../../limits/index.ts'
import { limitPipelining, MAX_IN_PROGRESS } from './pipelining.ts'
import type { Peer } from '../limits/index.ts'
import { limitConnections } from './connections.ts'
import { findPortHolder } from './port-holder.ts'

/** How long clients may take, in ms; tests shorten it. */
export interface ListenerTiming {
  /** A connection without a request stays open: longer than load balancers reuse one, or they send into a closing one. */
  readonly keepAliveMs: number
  /** From the first byte of a request to the end of its headers. */
  readonly headersMs: number
  /** From the first byte of a request to the end of its body. */
  readonly requestMs: number
  /** A client that takes nothing of its answer for this long is cut off. */
  readonly idleMs: number
  /** Requests still running when the server closes get this long to end. */
  readonly drainMs: number
}

const defaultTiming: ListenerTiming = {
  keepAliveMs: 65_000,
  headersMs: 20_000,
  requestMs: 60_000,
  idleMs: 120_000,
  drainMs: 10_000,
}

/** How often Node looks for requests that are late, as a part of the shortest limit. */
const CHECKS_PER_LIMIT = 4

/** Request line and headers together; longer queries go into a body. */
const MAX_HEADER_BYTES = 64 * 1024

/** Limits of the connections of every listener. */
export const listenerLimits: readonly Limit[] = [
  {
    counts: 'bytes of the request line and the headers',
    per: 'request',
    value: bytesText(MAX_HEADER_BYTES),
    beyond: '431',
  },
  {
    counts: 'time for the headers',
    per: 'request',
    value: secondsText(defaultTiming.headersMs),
    beyond: '408',
  },
  {
    counts: 'time for the headers and the body',
    per: 'request',
    value: secondsText(defaultTiming.requestMs),
    beyond: '408',
  },
  {
    counts: 'requests in progress',
    per: 'connection',
    value: String(MAX_IN_PROGRESS),
    beyond: 'the next ones are not read until an answer has been sent',
  },
  {
    counts: 'time in which a client reads nothing of its answer',
    per: 'connection',
    value: secondsText(defaultTiming.idleMs),
    beyond: 'the connection closes',
  },
  {
    counts: 'time without a request, longer than load balancers keep a connection',
    per: 'connection',
    value: secondsText(defaultTiming.keepAliveMs),
    beyond: 'the connection closes',
  },
]

/** Where and how to listen. */
export interface ListenerOptions {
  readonly address: string
  /** 0 for any free one. */
  readonly port: number
  readonly handler: RequestListener
  /** Takes over connections for other protocols, such as websockets; without it, requests to change it are ordinary. */
  readonly upgrade?: UpgradeHandler
  /** JSON text of an answer to what Node could not parse, which the handler never sees. */
  readonly failureBody: (status: number, message: string) => string
  readonly timing?: Partial<ListenerTiming>
  /** Further connections are closed as they come; without it there is no limit. */
  readonly maxConnections?: number
  /** The same for each address; without it there is no limit. */
  readonly maxConnectionsOfOne?: number
  /** Identifies the other end of a connection; without it, that end is no proxy. */
  readonly peerOf?: (socket: Socket) => Peer
}

/** Takes a connection out of the hands of the server: whoever takes it also ends it. */
export type UpgradeHandler = (request: IncomingMessage, socket: Duplex, head: Buffer) => void

/** A listening server. */
export interface Listener {
  readonly address: string
  readonly port: number
  readonly server: Server
  /** Accepts no more, lets running requests end for up to ten seconds, then cuts the rest off. */
  close(): Promise<void>
}

/**
 * Listens for requests.
 * @throws FatalError `PORT_UNAVAILABLE`.
 */
export async function listen(options: ListenerOptions): Promise<Listener> {
  const { address, port } = options
  const timing = { ...defaultTiming, ...options.timing }
  const server = createServer(
    {
      keepAliveTimeout: timing.keepAliveMs,
      headersTimeout: timing.headersMs,
      requestTimeout: timing.requestMs,
      connectionsCheckingInterval: Math.ceil(timing.headersMs / CHECKS_PER_LIMIT),
      maxHeaderSize: MAX_HEADER_BYTES,
      noDelay: true,
    },
    options.handler,
  )
  server.setTimeout(timing.idleMs)
  if (options.maxConnections !== undefined) server.maxConnections = options.maxConnections
  const { peerOf, maxConnectionsOfOne } = options
  if (peerOf && maxConnectionsOfOne !== undefined) limitConnections(server, peerOf, maxConnectionsOfOne)
  const pipelining = limitPipelining(server, (socket) => peerOf?.(socket).isProxy === true)
  const { upgrade } = options
  if (upgrade) {
    server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      pipelining.release(socket)
      upgrade(request, socket, head)
    })
  }
  const responses = new WeakMap<Duplex, ServerResponse>()
  server.on('request', (request, response) => responses.set(request.socket, response))
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const response = responses.get(socket)
    // What is written now would become a part of the answer that is being sent.
    if (response?.headersSent && !response.writableFinished) socket.destroy()
    else answerClientError(error, socket, options.failureBody)
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) => {
      void portFailure(address, port, cause).then(reject)
    })
    server.listen(port, address, resolve)
  })
  const silent = trackSilent(server)
  const bound = server.address() as AddressInfo
  return {
    address: bound.address,
    port: bound.port,
    server,
    close: () => drain(server, silent, timing.drainMs),
  }
}

async function portFailure(address: string, port: number, cause: NodeJS.ErrnoException): Promise<FatalError> {
  const message = `cannot listen on ${address}:${port}`
  if (cause.code !== 'EADDRINUSE') return new FatalError('PORT_UNAVAILABLE', message, { cause })
  const holder = (await findPortHolder(port)) ?? 'another process'
  return new FatalError('PORT_UNAVAILABLE', `${message}: the port is in use by ${holder}`)
}

/** Connections on which nothing has been asked yet: browsers open some in advance. Node does not count them as idle. */
function trackSilent(server: Server): ReadonlySet<Socket> {
  const silent = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    silent.add(socket)
    socket.once('close', () => silent.delete(socket))
  })
  server.on('request', ({ socket }: { socket: Socket }) => silent.delete(socket))
  return silent
}

/** What Node could not parse never reaches the application, so the answer is written by hand. */
function answerClientError(
  error: NodeJS.ErrnoException,
  socket: Duplex,
  failureBody: ListenerOptions['failureBody'],
): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy()
    return
  }
  const [status, message] = clientFailure(error.code)
  const body = failureBody(status, message)
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\nConnection: close\r\n` +
      'Access-Control-Allow-Origin: *\r\nContent-Type: application/json; charset=utf-8\r\n' +
      `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  )
}

function clientFailure(code: string | undefined): [number, string] {
  if (code === 'HPE_HEADER_OVERFLOW') return [431, 'Address and headers are longer than 64 KB; use a body']
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return [408, 'The request did not arrive in time']
  return [400, 'Malformed request']
}

async function drain(server: Server, silent: ReadonlySet<Socket>, drainMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => {
    server.close(() => {
      resolve()
    })
  })
  // A connection that is busy now closes with its next answer, or soon after this one.
  server.prependListener('request', (_request, response: ServerResponse) => {
    response.shouldKeepAlive = false
  })
  server.keepAliveTimeout = 1
  server.closeIdleConnections()
  for (const socket of silent) socket.destroy()
  const cut = setTimeout(() => {
    server.closeAllConnections()
  }, drainMs)
  await closed
  clearTimeout(cut)
}
