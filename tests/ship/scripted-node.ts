import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { WebSocketServer } from 'ws'
import type { WebSocket } from 'ws'
import type { BlocksRequest } from '../../services/filler/ship/types.ts'
import { blockId, packBlock, packBlocksResult, packStatus, readBlocksRequest } from './wire.ts'
import type { Generation, Place, TestBlock, TestRanges } from './wire.ts'

export const testChainId = Buffer.alloc(32, 0xc7)
const nowhere: Place = { num: 0, id: Buffer.alloc(32) }

/** What makes a scripted node differ from a healthy one. Each may be changed while it runs. */
export interface NodeScript {
  generation: Generation
  greeting: string | Buffer
  chainId: Buffer | null
  ranges: Partial<TestRanges>
  /** Head to claim instead of the end of the chain. */
  head: Place | null
  /** As Leap 4 and 5: begin at the first available block without a word. */
  clampsStart: boolean
  /** As EOSIO 1.8, 2.0 and Leap 3.1: a result without a block for a new head with nothing to send. */
  announcesHeads: boolean
  /** As Leap 3.2 to 5.0: a fork that comes while there are no credits does not lower the cursor. */
  losesRewinds: boolean
  ignoresPositions: boolean
  /** Size of websocket fragments; 0 sends each message in one frame. */
  fragmentBytes: number
  answersStatus: boolean
  /** Called when a blocks request arrives, before it takes effect. */
  onRequest: () => void
  /** Replaces a message; null sends nothing for the number. `connection` counts from 1. */
  tamper: (block: TestBlock, connection: number) => Buffer | TestBlock | null
}

/** One client of a scripted node. */
export class NodeConnection {
  readonly ordinal: number
  readonly socket: WebSocket
  readonly requests: BlocksRequest[] = []
  readonly acks: number[] = []
  statusRequests = 0
  credits = 0
  /** Lowest number of credits seen after a block was sent. */
  lowestCredits = Infinity
  cursor = 0

  constructor(ordinal: number, socket: WebSocket) {
    this.ordinal = ordinal
    this.socket = socket
  }

  get request(): BlocksRequest | null {
    return this.requests.at(-1) ?? null
  }
}

/** A small state-history node over a chain that the test controls block by block. */
export class ScriptedNode {
  readonly script: NodeScript
  readonly connections: NodeConnection[] = []
  /** Index = block number; 0 is a hole. */
  readonly chain: TestBlock[] = []
  libNum = 0
  readonly #http = createServer()
  readonly #server = new WebSocketServer({ server: this.#http, perMessageDeflate: false })

  constructor(script: Partial<NodeScript> = {}) {
    this.script = {
      generation: 'leap',
      greeting: '{"version":"eosio::abi/1.1"}',
      chainId: testChainId,
      ranges: {},
      head: null,
      clampsStart: false,
      announcesHeads: false,
      losesRewinds: false,
      ignoresPositions: false,
      fragmentBytes: 0,
      answersStatus: true,
      onRequest: () => undefined,
      tamper: (block) => block,
      ...script,
    }
    this.#server.on('connection', (socket) => this.#accept(socket))
  }

  /** Listens on a free port, or on a unix socket; returns its address. */
  async listen(socketPath?: string): Promise<string> {
    if (socketPath === undefined) this.#http.listen(0, '127.0.0.1')
    else this.#http.listen(socketPath)
    await once(this.#http, 'listening')
    if (socketPath !== undefined) return `ws+unix://${encodeURI(socketPath)}`
    return `ws://127.0.0.1:${(this.#http.address() as AddressInfo).port}`
  }

  async close(): Promise<void> {
    for (const socket of this.#server.clients) socket.terminate()
    this.#server.close()
    this.#http.close()
    await once(this.#http, 'close')
  }

  get head(): Place {
    return this.script.head ?? this.chain.at(-1) ?? nowhere
  }

  /** Adds `count` blocks of a branch to the end and sends them. */
  extend(count: number, branch = 'a'): this {
    for (let added = 0; added < count; added++) {
      const num = Math.max(1, this.chain.length)
      const prevId = this.chain[num - 1]?.id ?? null
      const block = packBlock(this.script.generation, num, prevId)
      const payload = Buffer.from([0])
      this.chain[num] = { num, id: blockId(num, branch), prevId, block, traces: payload, deltas: payload }
    }
    this.serveAll()
    return this
  }

  /** Replaces block `from` and what follows it by `count` blocks of another branch. */
  fork(from: number, count: number, branch: string): this {
    this.chain.length = from
    for (const connection of this.connections) {
      if (this.script.losesRewinds && connection.credits === 0) continue
      if (connection.cursor > from) connection.cursor = from
    }
    return this.extend(count, branch)
  }

  serveAll(): void {
    for (const connection of this.connections) this.serve(connection)
  }

  /** Sends what cursor and credits allow. */
  serve(connection: NodeConnection): void {
    const { request } = connection
    if (request === null) return
    const last = request.irreversibleOnly ? Math.min(this.libNum, this.head.num) : this.head.num
    let sent = 0
    while (connection.credits > 0 && connection.cursor <= last && connection.cursor < request.end) {
      this.#sendBlock(connection, connection.cursor)
      connection.cursor += 1
      sent += 1
    }
    if (sent === 0 && connection.credits > 0 && this.script.announcesHeads) {
      this.#spend(connection)
      connection.socket.send(this.#result(null))
    }
  }

  #sendBlock(connection: NodeConnection, num: number): void {
    const block = this.chain[num]
    const message = block === undefined ? this.#result(null) : this.script.tamper(block, connection.ordinal)
    if (message === null) return
    this.#spend(connection)
    this.#send(connection, Buffer.isBuffer(message) ? message : this.#result(message))
  }

  #send({ socket }: NodeConnection, message: Buffer): void {
    const size = this.script.fragmentBytes === 0 ? message.length : this.script.fragmentBytes
    for (let offset = 0; offset < message.length; offset += size) {
      socket.send(message.subarray(offset, offset + size), { fin: offset + size >= message.length })
    }
  }

  #spend(connection: NodeConnection): void {
    connection.credits -= 1
    connection.lowestCredits = Math.min(connection.lowestCredits, connection.credits)
  }

  #result(block: TestBlock | null): Buffer {
    return packBlocksResult(this.script.generation, this.head, this.#lib(), block)
  }

  #lib(): Place {
    return this.chain[this.libNum] ?? { num: this.libNum, id: Buffer.alloc(32) }
  }

  packStatus(): Buffer {
    const end = this.head.num + 1
    const ranges = { traceBegin: 1, traceEnd: end, stateBegin: 1, stateEnd: end, ...this.script.ranges }
    return packStatus(this.head, this.#lib(), ranges, this.script.chainId)
  }

  #accept(socket: WebSocket): void {
    const connection = new NodeConnection(this.connections.length + 1, socket)
    this.connections.push(connection)
    socket.on('error', () => undefined)
    socket.on('message', (data) => this.#receive(connection, data as Buffer))
    socket.send(this.script.greeting)
  }

  #receive(connection: NodeConnection, bytes: Buffer): void {
    if (bytes[0] === 0) {
      connection.statusRequests += 1
      if (this.script.answersStatus) connection.socket.send(this.packStatus())
    } else if (bytes[0] === 1) {
      const request = readBlocksRequest(bytes)
      this.script.onRequest()
      connection.requests.push(request)
      connection.cursor = this.#startFor(request)
      connection.credits = request.maxInFlight
    } else if (bytes[0] === 2) {
      connection.acks.push(bytes.readUInt32LE(1))
      connection.credits += bytes.readUInt32LE(1)
    } else throw new Error(`request ${bytes.toString('hex')}`)
    this.serve(connection)
  }

  #startFor(request: BlocksRequest): number {
    let { start } = request
    const first = Math.max(this.script.ranges.traceBegin ?? 1, this.script.ranges.stateBegin ?? 1)
    if (this.script.clampsStart && start < first) start = first
    if (this.script.ignoresPositions) return start
    for (const { num, id } of request.havePositions) {
      if (num < start && this.chain[num]?.id.toString('hex') !== id) start = num
    }
    return start
  }
}
