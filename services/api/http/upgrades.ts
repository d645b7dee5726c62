import { ServerResponse } from 'node:http'
import type { IncomingMessage, RequestListener } from 'node:http'
import type { Duplex } from 'node:stream'
import { Socket } from 'node:net'

/** Accepts a websocket upgrade; false if the path has no websocket. */
export type WebsocketHandler = (request: IncomingMessage, socket: Duplex, head: Buffer) => boolean

/**
 * Creates the handler of upgrade requests. A request to upgrade to another protocol, such as HTTP/2 by `h2c`, or for a
 * websocket on another path, gets an ordinary response: a server may ignore the upgrade.
 */
export function createUpgradeHandler(
  ordinary: RequestListener,
  websocket: WebsocketHandler,
): (request: IncomingMessage, socket: Duplex, head: Buffer) => void {
  return (request, socket, head) => {
    const wantsWebsocket = request.headers.upgrade?.toLowerCase() === 'websocket'
    if (wantsWebsocket && websocket(request, socket, head)) return
    if (socket instanceof Socket) answerOrdinarily(request, socket, ordinary)
    else socket.destroy()
  }
}

/**
 * Answers an upgrade request as an ordinary one. Node has detached the connection, so no further request can follow.
 */
function answerOrdinarily(request: IncomingMessage, socket: Socket, ordinary: RequestListener): void {
  socket.on('error', () => undefined)
  // Node does not read the body of an upgrade request.
  if (request.headers['content-length'] !== undefined || request.headers['transfer-encoding'] !== undefined) {
    socket.end('HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n')
    return
  }
  const response = new ServerResponse(request)
  response.shouldKeepAlive = false
  response.assignSocket(socket)
  response.once('finish', () => {
    response.detachSocket(socket)
    socket.end()
  })
  ordinary(request, response)
}
