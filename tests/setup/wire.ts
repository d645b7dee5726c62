import { createServer, connect } from 'node:net'
import type { AddressInfo, Server, Socket } from 'node:net'
import type { DatabaseAddress } from '../../services/core/database/index.ts'

/** A TCP proxy to a database, which a test can cut and restore. */
export class Wire {
  readonly #target: DatabaseAddress
  readonly #sockets = new Set<Socket>()
  #server: Server | undefined
  #port = 0

  constructor(target: DatabaseAddress) {
    this.#target = target
  }

  get address(): DatabaseAddress {
    return { ...this.#target, host: '127.0.0.1', port: this.#port }
  }

  async open(): Promise<void> {
    const server = createServer((near) => {
      const far = connect(this.#target.port, this.#target.host)
      for (const socket of [near, far]) {
        this.#sockets.add(socket)
        socket.on('error', () => undefined).on('close', () => this.#sockets.delete(socket))
      }
      near.pipe(far).pipe(near)
    })
    await new Promise<void>((resolve) => server.listen(this.#port, '127.0.0.1', resolve))
    this.#port = (server.address() as AddressInfo).port
    this.#server = server
  }

  async cut(): Promise<void> {
    const closed = new Promise((resolve) => this.#server?.close(resolve))
    for (const socket of this.#sockets) socket.destroy()
    await closed
  }
}
