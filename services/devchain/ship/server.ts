import { createServer } from 'node:http'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { WebSocketServer } from 'ws'
import { FatalError } from '../../core/errors/index.ts'
import type { FaultPlan } from './faults.ts'
import { ShipSession } from './session.ts'
import type { ShipNode } from './session.ts'

/** Address to listen on: a TCP port (0 = any free port), or the path of a unix socket. */
export type ShipAddress = { readonly host: string; readonly port: number } | { readonly path: string }

/** A running state-history endpoint. */
export interface ShipServer {
  /** URL for clients: `ws://host:port`, or `ws+unix:path`. */
  readonly url: string
  /** Number of open sessions. */
  sessions(): number
  /** Makes every session send new results. */
  pump(): void
  /** Notifies all sessions that the chain has undone the blocks from `num` on. */
  rewind(num: number): void
  /** Cuts all connections and continues to listen, like a restarting node. */
  dropSessions(): void
  /** Closes every session and stops listening. */
  close(): Promise<void>
}

/** Limit of a request, bytes. A request has a few bytes, plus 36 for each reversible block that the client names. */
const MAX_REQUEST_BYTES = 1024 * 1024
const MAX_SESSIONS = 64

/**
 * Listens for state-history clients.
 * @throws FatalError PORT_UNAVAILABLE if the address is taken
 */
export async function startShipServer(
  node: ShipNode,
  address: ShipAddress,
  faults: FaultPlan,
): Promise<ShipServer> {
  const http = createServer((_, response) => response.writeHead(426).end())
  const websocket = new WebSocketServer({
    server: http,
    perMessageDeflate: false,
    maxPayload: MAX_REQUEST_BYTES,
    skipUTF8Validation: true,
  })
  const sessions = new Set<ShipSession>()
  let opened = 0
  websocket.on('connection', (client, request) => {
    if (sessions.size >= MAX_SESSIONS) {
      client.close(1013)
      return
    }
    opened++
    const session = new ShipSession(node, client, request.socket, faults(opened) ?? {})
    sessions.add(session)
    client.on('close', () => sessions.delete(session))
    // After a websocket error nothing more can be sent to the client.
    client.on('error', () => client.terminate())
  })
  // Ignore errors of the websocket server: they come from the HTTP server, and `listen` below reports them to its
  // caller.
  websocket.on('error', () => undefined)
  await listen(http, address)
  return {
    url: urlOf(http, address),
    sessions: () => sessions.size,
    pump: () => sessions.forEach((session) => session.pump()),
    rewind: (num) => sessions.forEach((session) => session.rewind(num)),
    dropSessions: () => websocket.clients.forEach((client) => client.terminate()),
    close: () => close(http, websocket),
  }
}

/**
 * Starts listening. Exported for the HTTP server of the chain API, so that both servers report a taken port in the same
 * way.
 */
export async function listen(server: Server, address: ShipAddress): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(address, () => {
      server.removeListener('error', reject)
      resolve()
    })
  }).catch((cause: unknown) => {
    const where = 'path' in address ? address.path : `${address.host}:${address.port}`
    throw new FatalError('PORT_UNAVAILABLE', `cannot listen on ${where}`, { cause })
  })
}

function urlOf(server: Server, address: ShipAddress): string {
  if ('path' in address) return `ws+unix:${address.path}`
  const { port } = server.address() as AddressInfo
  return `ws://${address.host.includes(':') ? `[${address.host}]` : address.host}:${port}`
}

async function close(http: Server, websocket: WebSocketServer): Promise<void> {
  for (const client of websocket.clients) client.terminate()
  websocket.close()
  await new Promise<void>((resolve) => {
    http.close(() => resolve())
    http.closeAllConnections()
  })
}
