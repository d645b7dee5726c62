import { ServerResponse } from 'node:http'
import type { IncomingMessage, RequestListener } from 'node:http'
import type { Duplex } from 'node:stream'
import { Socket } from 'node:net'

/** Accepts a websocket upgrade; false when the path has no websocket. */
export type WebsocketHandler = (request: IncomingMessage, socket: Duplex, head: Buffer) => boolean

/** Creates what accepts websockets for a server. A request to upgrade to another protocol, such as HTTP/2 by `h2c`, or for a websocket on another path, gets an ordinary answer: a server may ignore the upgrade.
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

/** The connection is out of the server's hands, so the answer is its last. */
function answerOrdinarily(request: IncomingMessage, socket: Socket, ordinary: RequestListener): void {
  socket.on('error', () => undefined)
  // Node does not read the body of such a request.
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
