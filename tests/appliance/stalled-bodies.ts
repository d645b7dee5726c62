import { once } from 'node:events'
import { connect } from 'node:tls'
import type { TLSSocket } from 'node:tls'

/** Size of a stalled request body, slightly below the proxy's size limit, bytes. */
const BYTES = 1_000_000

/** Opens connections to a proxy. Each sends a request body without the last byte. The caller closes the connections. */
export function stallBodies(port: number, count: number): Promise<TLSSocket[]> {
  return Promise.all(Array.from({ length: count }, () => stallBody(port)))
}

async function stallBody(port: number): Promise<TLSSocket> {
  const socket = connect({ port, host: 'localhost', rejectUnauthorized: false })
  socket.on('error', () => undefined)
  await once(socket, 'secureConnect')
  const head = ['POST /atomicassets/v1/assets HTTP/1.1', 'Host: localhost', 'Content-Type: application/json']
  socket.write(`${head.join('\r\n')}\r\nContent-Length: ${BYTES + 1}\r\n\r\n`)
  socket.write(Buffer.alloc(BYTES, ' '))
  return socket
}
