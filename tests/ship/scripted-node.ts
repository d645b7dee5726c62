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

/** Behaviour in which a scripted node differs from a healthy one. Tests may change it while the node runs. */
export interface NodeScript {
  generation: Generation
  greeting: string | Buffer
  chainId: Buffer | null
  ranges: Partial<TestRanges>
  /** Head block that the node reports, instead of the last block of its chain. */
  head: Place | null
  /** Like Leap 4 and 5: a start below the log moves to the first available block, without an error. */
  clampsStart: boolean
  /** Like EOSIO 1.8, 2.0 and Leap 3.1: sends a result without a block when the head changes and no block is due. */
  announcesHeads: boolean
  /** Like Leap 3.2 to 5.0: a fork while the client is out of credits does not move the cursor back. */
  losesRewinds: boolean
  ignoresPositions: boolean
  /** Size of websocket fragments; 0 sends each message in one frame. */
  fragmentBytes: number
  answersStatus: boolean
  /** Time from a blocks request to its first block, ms: a node that reads a large block from a slow disk. */
  firstBlockMs: number
  /** Called when a blocks request arrives, before the node handles it. */
  onRequest: () => void
  /** Replaces the message of a block; null sends nothing. `connection` counts from 1. */
  tamper: (block: TestBlock, connection: number) => Buffer | TestBlock | null
}

/** A client connection of a scripted node. */
export class NodeConnection {
  readonly ordinal: number
  readonly socket: WebSocket
  readonly requests: BlocksRequest[] = []
  readonly acks: number[] = []
  statusRequests = 0
  credits = 0
  /**
   * Whether the node is still reading the first block of the last request from disk. While the node reads, it sends no
   * block.
   */
  isPreparing = false
  /** Lowest number of credits that the client had left after a block was sent. */
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

/** A small state-history node with a chain that the test extends block by block. */
export class ScriptedNode {
  readonly script: NodeScript
  readonly connections: NodeConnection[] = []
  /** Blocks by number; index 0 is unused. */
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
      firstBlockMs: 0,
      onRequest: () => undefined,
      tamper: (block) => block,
      ...script,
    }
    this.#server.on('connection', (socket) => this.#accept(socket))
  }

  /** Listens on a free TCP port, or on a unix socket; returns the address. */
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

  /** Appends `count` blocks of a branch and sends them. */
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

  /** Replaces block `from` and all later blocks by `count` blocks of another branch. */
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

  /** Sends the next blocks of the client's request, while the client has credits. */
  serve(connection: NodeConnection): void {
    const { request } = connection
    if (request === null || connection.isPreparing) return
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
      if (this.script.firstBlockMs > 0 && !request.irreversibleOnly) this.#prepare(connection)
    } else if (bytes[0] === 2) {
      connection.acks.push(bytes.readUInt32LE(1))
      connection.credits += bytes.readUInt32LE(1)
    } else throw new Error(`request ${bytes.toString('hex')}`)
    this.serve(connection)
  }

  #prepare(connection: NodeConnection): void {
    connection.isPreparing = true
    setTimeout(() => {
      connection.isPreparing = false
      this.serve(connection)
    }, this.script.firstBlockMs)
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
