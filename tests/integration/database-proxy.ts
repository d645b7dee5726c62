import { connect, createServer } from 'node:net'
import type { AddressInfo, Server, Socket } from 'node:net'
import type { DatabaseAddress } from '../../services/core/database/index.ts'

/** A TCP proxy in front of the database, with which a test makes the database unavailable. */
export class DatabaseProxy {
  /** Number of client connections accepted so far. */
  connections = 0
  readonly #target: DatabaseAddress
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  #port = 0
  #bytesLeft = Infinity

  /** Creates the proxy; it accepts connections only after `open`. */
  constructor(target: DatabaseAddress) {
    this.#target = target
    this.#server = createServer((client) => this.#join(client))
  }

  /** Address of the database through the proxy. */
  get address(): DatabaseAddress {
    return { ...this.#target, host: '127.0.0.1', port: this.#port }
  }

  /** Accepts connections, on the same port after every `open`. */
  async open(): Promise<void> {
    if (this.#server.listening) return
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject)
      this.#server.listen(this.#port, '127.0.0.1', resolve)
    })
    this.#port = (this.#server.address() as AddressInfo).port
  }

  /** Cuts all connections and refuses new connections, like a stopped server. */
  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve))
    this.cut()
    if (this.#server.listening) await closed
  }

  /** Cuts all connections; new connections are accepted. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  /**
   * Cuts all connections after `bytes` more bytes have been sent to the database, possibly in the middle of a
   * statement.
   */
  cutAfterBytes(bytes: number): void {
    this.#bytesLeft = bytes
  }

  #join(client: Socket): void {
    this.connections++
    const database = connect(this.#target.port, this.#target.host)
    for (const [socket, other] of [
      [client, database],
      [database, client],
    ] as const) {
      this.#sockets.add(socket)
      socket.setNoDelay(true)
      socket.on('error', () => socket.destroy())
      socket.on('close', () => {
        this.#sockets.delete(socket)
        other.destroy()
      })
    }
    client.on('data', (chunk) => this.#forward(chunk, database))
    database.on('data', (chunk) => client.write(chunk))
  }

  #forward(chunk: Buffer, database: Socket): void {
    if (chunk.length < this.#bytesLeft) {
      this.#bytesLeft -= chunk.length
      database.write(chunk)
      return
    }
    const last = chunk.subarray(0, this.#bytesLeft)
    this.#bytesLeft = Infinity
    // The database still receives the sent bytes; its reply is dropped.
    database.write(last, () => this.cut())
  }
}
