import { connect, createServer } from 'node:net'
import type { AddressInfo, Server, Socket } from 'node:net'

export interface Target {
  readonly host: string
  readonly port: number
}

/** Header of a websocket message that announces 100 MB. */
const HUGE_FRAME = Buffer.from('827f0000000005f5e100', 'hex')
const DRIP_MS = 100
const DRIP_BYTES = 10

/** A proxy in front of a server that can stop forwarding. */
export class Gate {
  readonly port: number
  #target: Target | undefined
  readonly #server: Server
  readonly #pairs = new Map<Socket, Socket>()
  #timer: NodeJS.Timeout | undefined

  private constructor(server: Server, target: Target) {
    this.#server = server
    this.#target = target
    this.port = (server.address() as AddressInfo).port
    server.on('connection', (client: Socket) => {
      this.#join(client)
    })
  }

  static async open(target: Target): Promise<Gate> {
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return new Gate(server, target)
  }

  /** Cuts every connection. New connections go to `target`; without a target they are refused. */
  lead(target: Target | undefined): void {
    clearInterval(this.#timer)
    this.#target = target
    for (const [client, server] of this.#pairs) for (const socket of [client, server]) socket.destroy()
  }

  /** Keeps the connections open, but stops forwarding the server's bytes to clients. */
  hang(): void {
    for (const [client, server] of this.#pairs) {
      server.unpipe(client)
      server.pause()
    }
  }

  /** Replaces the server's bytes by one huge message that never ends and arrives slowly. */
  drip(): void {
    this.hang()
    const clients = [...this.#pairs.keys()]
    for (const client of clients) client.write(HUGE_FRAME)
    this.#timer = setInterval(() => {
      for (const client of clients) if (client.writable) client.write(Buffer.alloc(DRIP_BYTES))
    }, DRIP_MS)
  }

  async close(): Promise<void> {
    this.lead(undefined)
    await new Promise((resolve) => this.#server.close(resolve))
  }

  #join(client: Socket): void {
    client.on('error', () => undefined)
    if (!this.#target) {
      client.destroy()
      return
    }
    const server = connect(this.#target.port, this.#target.host)
    this.#pairs.set(client, server)
    server.on('error', () => undefined).on('close', () => client.destroy())
    client.on('close', () => {
      server.destroy()
      this.#pairs.delete(client)
    })
    client.pipe(server).pipe(client)
  }
}
