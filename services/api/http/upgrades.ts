import { ServerResponse } from 'node:http'
import type { IncomingMessage, RequestListener } from 'node:http'
import type { Duplex } from 'node:stream'
import { Socket } from 'node:net'

/** Accepts a websocket upgrade. Returns false if the path has no websocket. */
export type WebsocketHandler = (request: IncomingMessage, socket: Duplex, head: Buffer) => boolean

/**
 * Creates the handler of upgrade requests. An upgrade to a websocket on a path with a websocket is accepted. All other
 * upgrade requests, such as for HTTP/2 (`h2c`), get an ordinary response, because HTTP allows a server to ignore an
 * upgrade.
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
 * Answers an upgrade request like an ordinary request. Node has detached the connection, so the connection cannot carry
 * further requests.
 */
function answerOrdinarily(request: IncomingMessage, socket: Socket, ordinary: RequestListener): void {
  socket.on('error', () => undefined)
  // Node has removed its listener for the idle timeout, too.
  socket.on('timeout', () => socket.destroy())
  // Node does not read the body of an upgrade request, so a request with a body is refused.
  if (request.headers['content-length'] !== undefined || request.headers['transfer-encoding'] !== undefined) {
    // Read the body: a connection that is closed with unread bytes may lose its answer.
    socket.resume()
    socket.end('HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n')
    return
  }
  const response = new ServerResponse(request)
  response.shouldKeepAlive = false
  response.assignSocket(socket)
  response.once('finish', () => {
    response.detachSocket(socket)
    // `end` alone would leave the connection open, because nothing reads the bytes that the client sends.
    socket.destroySoon()
    // Node emits 'close' only on responses that it has created itself.
    response.emit('close')
  })
  ordinary(request, response)
}
