import { createServer, STATUS_CODES } from 'node:http'
import type { RequestListener, Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { FatalError } from '../../core/errors/index.ts'
import { failureBody } from './envelope.ts'

/** Longer than what load balancers keep a connection idle for, so that they never send into a closing one. */
const KEEP_ALIVE_MS = 65_000
const HEADERS_TIMEOUT_MS = 66_000
/** A request must have arrived as a whole within this time. */
const REQUEST_TIMEOUT_MS = 120_000
/** A client that takes nothing of its answer for this long is cut off. */
const IDLE_SOCKET_MS = 120_000
/** Request line and headers together; longer queries go into a body. */
const MAX_HEADER_BYTES = 64 * 1024
/** Requests still running when the server closes get this long to end. */
const DRAIN_MS = 10_000

/** A listening server. */
export interface Listener {
  readonly address: string
  readonly port: number
  /** Accepts no more, lets running requests end for up to ten seconds, then cuts the rest off. */
  close(): Promise<void>
}

/**
 * Listens for requests.
 * @param port 0 for any free one.
 * @throws FatalError `PORT_UNAVAILABLE`.
 */
export async function listen(handler: RequestListener, address: string, port: number): Promise<Listener> {
  const server = createServer(
    {
      keepAliveTimeout: KEEP_ALIVE_MS,
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      maxHeaderSize: MAX_HEADER_BYTES,
      noDelay: true,
    },
    handler,
  )
  server.setTimeout(IDLE_SOCKET_MS)
  server.on('clientError', answerClientError)
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) => {
      reject(new FatalError('PORT_UNAVAILABLE', `cannot listen on ${address}:${port}`, { cause }))
    })
    server.listen(port, address, resolve)
  })
  const bound = server.address() as AddressInfo
  return { address: bound.address, port: bound.port, close: () => drain(server) }
}

/** What Node could not parse never reaches the application, so the envelope is written by hand. */
function answerClientError(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy()
    return
  }
  const [status, message] = clientFailure(error.code)
  const body = failureBody(message)
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

async function drain(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => {
    server.close(() => {
      resolve()
    })
  })
  server.closeIdleConnections()
  const cut = setTimeout(() => {
    server.closeAllConnections()
  }, DRAIN_MS)
  await closed
  clearTimeout(cut)
}
