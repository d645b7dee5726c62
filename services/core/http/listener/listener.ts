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

/** Timeouts for clients, in ms; tests shorten them. */
export interface ListenerTiming {
  /**
   * Keep-alive timeout. Must exceed the time for which load balancers reuse a connection. Otherwise a load balancer
   * sends requests into a connection that is being closed.
   */
  readonly keepAliveMs: number
  /** Maximum time from the first byte of a request to the end of its headers. */
  readonly headersMs: number
  /** Maximum time from the first byte of a request to the end of its body. */
  readonly requestMs: number
  /** Maximum time without progress while a client receives its response; then the connection is closed. */
  readonly idleMs: number
  /** Time for running requests to finish when the server closes. */
  readonly drainMs: number
}

const defaultTiming: ListenerTiming = {
  keepAliveMs: 65_000,
  headersMs: 20_000,
  requestMs: 60_000,
  idleMs: 120_000,
  drainMs: 10_000,
}

/** Number of times that Node.js checks for late requests within `headersMs`, the shortest timeout. */
const CHECKS_PER_LIMIT = 4

/** Maximum size of request line and headers together; longer queries go into a body. */
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
    counts: 'time until a client has sent the headers',
    per: 'request',
    value: secondsText(defaultTiming.headersMs),
    beyond: '408',
  },
  {
    counts: 'time until a client has sent the headers and the body',
    per: 'request',
    value: secondsText(defaultTiming.requestMs),
    beyond: '408',
  },
  {
    counts: 'requests in progress',
    per: 'connection',
    value: String(MAX_IN_PROGRESS),
    beyond: 'further requests are not read until an answer has been sent',
  },
  {
    counts: 'time in which a client reads nothing of its answer',
    per: 'connection',
    value: secondsText(defaultTiming.idleMs),
    beyond: 'the connection closes',
  },
  {
    counts: 'time without a request (longer than the idle timeouts of load balancers)',
    per: 'connection',
    value: secondsText(defaultTiming.keepAliveMs),
    beyond: 'the connection closes',
  },
]

export interface ListenerOptions {
  readonly address: string
  /** TCP port; 0 for any free port. */
  readonly port: number
  readonly handler: RequestListener
  /**
   * Handles protocol upgrades such as websockets; without a handler, an upgrade request is answered as an ordinary
   * request.
   */
  readonly upgrade?: UpgradeHandler
  /** JSON body for a request that Node cannot parse and that the handler therefore never sees. */
  readonly failureBody: (status: number, message: string) => string
  readonly timing?: Partial<ListenerTiming>
  /** Connection limit: further connections are closed at once; no limit if absent. */
  readonly maxConnections?: number
  /** Connection limit per address; no limit if absent. */
  readonly maxConnectionsOfOne?: number
  /** Identifies the remote end of a connection. Without this function, no peer counts as a proxy. */
  readonly peerOf?: (socket: Socket) => Peer
}

/** Takes over a connection from the HTTP server, including the duty to close it. */
export type UpgradeHandler = (request: IncomingMessage, socket: Duplex, head: Buffer) => void

/** A running HTTP server. */
export interface Listener {
  readonly address: string
  readonly port: number
  readonly server: Server
  /** Stops accepting connections, gives running requests up to ten seconds to finish, then closes all connections. */
  close(): Promise<void>
}

/**
 * Starts an HTTP server.
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
      // The answer to the upgrade would precede or cut the answers to the earlier requests.
      if (currentResponse(socket)) socket.on('error', () => undefined).destroy()
      else upgrade(request, socket, head)
    })
  }
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const response = currentResponse(socket)
    // If the socket contains a part of an earlier response, the client would read an error response as a part of that
    // response's body. If several requests are in progress, an error response would answer the first of these requests.
    const isPartlySent = response?.headersSent === true && !response.writableFinished
    if (isPartlySent || pipelining.inProgress(socket) > 1) socket.destroy()
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

/**
 * The response that a connection is sending or waiting for. Responses that Node creates itself, such as to a request
 * without `Host`, count, too: Node emits no 'request' for them.
 */
function currentResponse(
  socket: Duplex & { readonly _httpMessage?: ServerResponse | null },
): ServerResponse | undefined {
  return socket._httpMessage ?? undefined
}

async function portFailure(address: string, port: number, cause: NodeJS.ErrnoException): Promise<FatalError> {
  const message = `cannot listen on ${address}:${port}`
  if (cause.code !== 'EADDRINUSE') return new FatalError('PORT_UNAVAILABLE', message, { cause })
  const holder = (await findPortHolder(port)) ?? 'another process'
  return new FatalError('PORT_UNAVAILABLE', `${message}: the port is in use by ${holder}`)
}

/**
 * Tracks connections without a request so far, such as connections that browsers open in advance. Node.js does not
 * count these connections as idle, so `drain` must destroy them.
 */
function trackSilent(server: Server): ReadonlySet<Socket> {
  const silent = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    silent.add(socket)
    socket.once('close', () => silent.delete(socket))
  })
  server.on('request', ({ socket }: { socket: Socket }) => silent.delete(socket))
  return silent
}

/**
 * Writes an error response directly to the socket, because a request that Node.js cannot parse never reaches the
 * application.
 */
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
  if (code === 'HPE_HEADER_OVERFLOW')
    return [431, 'The URL and the headers are longer than 64 KB: send the parameters in the body']
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return [408, 'The request did not arrive in time']
  return [400, 'Malformed request']
}

async function drain(server: Server, silent: ReadonlySet<Socket>, drainMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => {
    server.close(() => {
      resolve()
    })
  })
  // The response to a further request closes the connection.
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
