import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import type { Peer } from '../limits/index.ts'

/**
 * Closes each new connection of an address that already has `most` connections, busy or idle, so that no address can
 * use up the server's connections. Trusted proxies are exempt, because a proxy carries the requests of many clients and
 * limits connections itself.
 */
export function limitConnections(server: Server, peerOf: (socket: Socket) => Peer, most: number): void {
  const open = new Map<string, number>()
  server.on('connection', (socket: Socket) => {
    const { key, isProxy, isExempt } = peerOf(socket)
    if (isProxy || isExempt) return
    const count = (open.get(key) ?? 0) + 1
    if (count > most) {
      socket.destroy()
      return
    }
    open.set(key, count)
    socket.once('close', () => {
      const left = (open.get(key) ?? 1) - 1
      if (left === 0) open.delete(key)
      else open.set(key, left)
    })
  })
}
