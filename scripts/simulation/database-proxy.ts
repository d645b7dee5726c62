import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import type { AddressInfo, Server, Socket } from 'node:net'
import type { DatabaseAddress } from '../../services/core/database/index.ts'

/** A connection of a filler to the proxy, and the connection of the proxy to the database. */
interface Pair {
  readonly client: Socket
  readonly database: Socket
}

/**
 * Proxy between one run of a filler and the database. It cuts, refuses or freezes connections, so that the filler sees
 * a failing database.
 */
export class DatabaseProxy {
  readonly #target: DatabaseAddress
  readonly #server: Server
  readonly #pairs = new Set<Pair>()
  #bytesLeft = Infinity
  #onCut: () => void = () => undefined
  #isFrozen = false
  #isRefusing = false

  constructor(target: DatabaseAddress) {
    this.#target = target
    this.#server = createServer((client) => this.#join(client))
  }

  /**
   * Starts listening.
   * @returns the address of the database through the proxy.
   */
  async open(): Promise<DatabaseAddress> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    return { ...this.#target, host: '127.0.0.1', port: (this.#server.address() as AddressInfo).port }
  }

  /** Cuts all connections. With `isRefusing`, new connections are refused too. */
  cut(isRefusing = false): void {
    this.#isRefusing = isRefusing
    for (const { client, database } of this.#pairs) {
      client.destroy()
      database.destroy()
    }
  }

  /** Accepts new connections again. */
  admit(): void {
    this.#isRefusing = false
  }

  /** Forwards `bytes` more bytes to the database, then cuts all connections and calls `onCut`. */
  cutAfterBytes(bytes: number, onCut: () => void): void {
    this.#bytesLeft = bytes
    this.#onCut = onCut
  }

  /** Holds back all bytes in both directions, with the connections open. */
  freeze(): void {
    this.#isFrozen = true
    for (const pair of this.#pairs) hold(pair)
  }

  /** Forwards the bytes that `freeze` held back. */
  thaw(): void {
    this.#isFrozen = false
    for (const { client, database } of this.#pairs) {
      client.resume()
      database.resume()
    }
  }

  /** Cuts all connections and stops listening. */
  async close(): Promise<void> {
    this.cut(true)
    this.#server.close()
    await once(this.#server, 'close')
  }

  #join(client: Socket): void {
    client.on('error', () => client.destroy())
    if (this.#isRefusing) {
      client.resetAndDestroy()
      return
    }
    const database = connect(this.#target.port, this.#target.host)
    const pair = { client, database }
    this.#pairs.add(pair)
    for (const [socket, other] of [
      [client, database],
      [database, client],
    ] as const) {
      socket.setNoDelay(true)
      socket.on('error', () => socket.destroy())
      socket.on('close', () => {
        this.#pairs.delete(pair)
        other.destroy()
      })
    }
    client.on('data', (chunk) => this.#forward(chunk, database))
    database.on('data', (chunk) => client.write(chunk))
    if (this.#isFrozen) hold(pair)
  }

  #forward(chunk: Buffer, database: Socket): void {
    if (chunk.length < this.#bytesLeft) {
      this.#bytesLeft -= chunk.length
      database.write(chunk)
      return
    }
    const last = chunk.subarray(0, this.#bytesLeft)
    this.#bytesLeft = Infinity
    this.#onCut()
    // The database receives the last bytes, but its reply is dropped: the filler does not learn the outcome.
    database.write(last, () => this.cut())
  }
}

function hold({ client, database }: Pair): void {
  client.pause()
  database.pause()
}
