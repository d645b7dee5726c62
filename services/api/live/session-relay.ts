import { createServer, request as startRequest } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { connect } from 'node:net'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { onceClosed } from '../../core/http/listener/index.ts'

/**
 * The other processes that serve the same port. A socket.io session consists of several requests, and each request may
 * reach any of the processes.
 */
export interface SessionPeers {
  /** Number of this process, from 1. */
  readonly place: number
  /**
   * Returns the port on 127.0.0.1 where a process accepts forwarded requests for its sessions; undefined if the process
   * is not running.
   */
  readonly portOf: (place: number) => number | undefined
}

/** Handles the requests for socket.io sessions of this process. */
export interface SessionOwner {
  handle(request: IncomingMessage, response: ServerResponse): void
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void
}

const HOST = '127.0.0.1'
const BASE = `http://${HOST}`
const SESSION = /^(\d{1,4})-/

/**
 * Passes all requests of a socket.io session to one process if several processes share a port. A session id begins with
 * the number of the process. A request that reaches another process is forwarded.
 */
export class SessionRelay {
  readonly #peers: SessionPeers
  readonly #owner: SessionOwner
  readonly #server: Server

  constructor(peers: SessionPeers, owner: SessionOwner) {
    this.#peers = peers
    this.#owner = owner
    this.#server = createServer((request, response) => {
      if (placeOf(request) === peers.place) owner.handle(request, response)
      else refuseRequest(response)
    })
    this.#server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      if (placeOf(request) === peers.place) owner.upgrade(request, socket, head)
      else socket.destroy()
    })
    // No timeout: only processes of this machine connect to this server, and the process that received the request from
    // the client enforces the timeouts.
    this.#server.setTimeout(0)
  }

  /** Prefix of the ids of the socket.io sessions of a process. */
  static prefix({ place }: SessionPeers): string {
    return `${place}-`
  }

  /**
   * Starts to accept requests from other processes.
   * @returns the port.
   */
  async listen(): Promise<number> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject)
      // Cluster workers share a listening port by default. With `exclusive` this worker gets a port of its own.
      this.#server.listen({ host: HOST, port: 0, exclusive: true }, resolve)
    })
    this.#server.unref()
    return (this.#server.address() as AddressInfo).port
  }

  handle(request: IncomingMessage, response: ServerResponse): void {
    const port = this.#portFor(request)
    if (port === undefined) this.#owner.handle(request, response)
    else passRequest(request, response, port)
  }

  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const port = this.#portFor(request)
    if (port === undefined) this.#owner.upgrade(request, socket, head)
    else passUpgrade(request, socket, head, port)
  }

  close(): void {
    this.#server.close()
    this.#server.closeAllConnections()
  }

  /**
   * Returns the port of the process that owns the session of a request; undefined if this process handles the request.
   * If the owner has exited, this process handles the request: it answers that the session is unknown.
   */
  #portFor(request: IncomingMessage): number | undefined {
    const place = placeOf(request)
    if (place === undefined || place === this.#peers.place) return undefined
    return this.#peers.portOf(place)
  }
}

/**
 * Number of the process that owns the session of a request. If the URL has several session ids, the last one counts, as
 * in the socket.io library.
 */
function placeOf({ url = '' }: IncomingMessage): number | undefined {
  if (!URL.canParse(url, BASE)) return undefined
  const place = SESSION.exec(new URL(url, BASE).searchParams.getAll('sid').at(-1) ?? '')?.[1]
  return place === undefined ? undefined : Number(place)
}

function passRequest(request: IncomingMessage, response: ServerResponse, port: number): void {
  // This process has answered `Expect`. Node's HTTP client throws an error for `Trailer` without a chunked body.
  const { expect: _expect, trailer: _trailer, ...headers } = request.headers
  const { method, url } = request
  const passed = startRequest({ host: HOST, port, method, path: url, headers })
  passed.on('response', (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers)
    answer.pipe(response)
  })
  passed.on('error', () => {
    if (response.headersSent) response.destroy()
    else refuseRequest(response)
  })
  onceClosed({ req: request, res: response }, () => passed.destroy())
  request.pipe(passed)
}

/** Body with which the socket.io library answers a request whose session it does not know. */
const UNKNOWN_SESSION = '{"code":1,"message":"Session ID unknown"}'

function refuseRequest(response: ServerResponse): void {
  response.writeHead(400, { 'Content-Type': 'application/json' }).end(UNKNOWN_SESSION)
}

function passUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer, port: number): void {
  const passed = connect({ host: HOST, port, noDelay: true })
  const end = (): void => {
    passed.destroy()
    socket.destroy()
  }
  for (const each of [passed, socket]) {
    each.on('error', end)
    each.on('close', end)
  }
  passed.write(headOf(request))
  passed.write(head)
  passed.pipe(socket)
  socket.pipe(passed)
}

function headOf({ method = 'GET', url = '/', rawHeaders }: IncomingMessage): string {
  const lines = [`${method} ${url} HTTP/1.1`]
  for (let at = 0; at + 1 < rawHeaders.length; at += 2)
    lines.push(`${rawHeaders[at]!}: ${rawHeaders[at + 1]!}`)
  return `${lines.join('\r\n')}\r\n\r\n`
}
