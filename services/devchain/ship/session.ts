import type { Socket } from 'node:net'
import type { WebSocket } from 'ws'
import type { ChainBlock, Position } from '../chain/index.ts'
import type { SessionFaults } from './faults.ts'
import { packResult, packStatus, readRequest } from './messages.ts'
import type { BlocksRequest, StatusAnswer } from './messages.ts'
import { SlowWriter } from './slow-writer.ts'

/** Methods of a node that a state-history session calls. */
export interface ShipNode {
  readonly abiText: string
  status(): StatusAnswer
  head(): Position
  lib(): Position
  /** Number of the oldest block in memory. */
  first(): number
  at(num: number): ChainBlock | undefined
  /** Called when a session has credits but no more blocks to send; returns true if it has added a block. */
  advance(): boolean
}

/**
 * A session pauses while it has more than MAX_BUFFERED_BYTES of unsent bytes. After MAX_TURN_BYTES it lets other
 * sessions send.
 */
const MAX_BUFFERED_BYTES = 4 * 1024 * 1024
const MAX_TURN_BYTES = 2 * 1024 * 1024

/** Leap splits a result into WebSocket fragments of up to this size, bytes. */
const FRAGMENT_BYTES = 1024 * 1024

interface Stream extends BlocksRequest {
  /** Number of the next block to send. */
  cursor: number
  left: number
}

/**
 * A client session. Results are sent while the client has credits and the socket accepts bytes; nothing is queued for
 * a client that does not read.
 */
export class ShipSession {
  readonly #node: ShipNode
  readonly #client: WebSocket
  readonly #socket: Socket
  readonly #faults: SessionFaults
  readonly #slow: SlowWriter | null
  /** First frame to the client: the ABI of the protocol. Null after the frame has been sent. */
  #greeting: string | null
  /** Messages received while the node was frozen. */
  readonly #unread: { readonly data: Buffer; readonly isBinary: boolean }[] = []
  #stream: Stream | null = null
  #sent = 0
  #pumping = false
  #scheduled = false

  constructor(node: ShipNode, client: WebSocket, socket: Socket, faults: SessionFaults) {
    this.#node = node
    this.#client = client
    this.#socket = socket
    this.#faults = faults
    const { conduct } = faults
    this.#slow = conduct === undefined ? null : new SlowWriter(client, conduct, () => this.pump())
    client.on('message', (data, isBinary) => this.#receive(data as Buffer, isBinary))
    this.#greeting = faults.abiText ?? node.abiText
    if (!this.#silent()) this.#greet()
  }

  /** Sends as many results as the credits of the client and the buffer of the socket allow. */
  pump(): void {
    if (this.#unread.length > 0 || this.#greeting !== null) this.#wakeUp()
    const stream = this.#stream
    if (stream === null || this.#pumping || this.#scheduled) return
    this.#pumping = true
    this.#socket.cork()
    let bytes = 0
    while (bytes < MAX_TURN_BYTES && this.#mayWrite() && this.#hasNext(stream))
      bytes += this.#sendNext(stream)
    this.#socket.uncork()
    this.#pumping = false
    if (bytes >= MAX_TURN_BYTES) this.#pumpLater()
  }

  /** Called when the chain has undone the blocks from `num` on: the stream continues at block `num`. */
  rewind(num: number): void {
    const stream = this.#stream
    if (stream === null || stream.cursor <= num) return
    const lost = this.#faults.loseRewinds
    if (lost === 'always' || (lost === 'without-credit' && stream.left === 0)) return
    stream.cursor = num
  }

  /** Handles the messages that arrived while the node was frozen. */
  #wakeUp(): void {
    if (this.#silent()) return
    this.#greet()
    for (const { data, isBinary } of this.#unread.splice(0)) this.#receive(data, isBinary)
  }

  #greet(): void {
    if (this.#greeting !== null) this.#client.send(this.#greeting, { binary: false })
    this.#greeting = null
  }

  #receive(data: Buffer, isBinary: boolean): void {
    if (this.#faults.conduct?.frozen === true) this.#unread.push({ data, isBinary })
    if (this.#silent()) return
    try {
      if (!isBinary) throw new RangeError('text instead of a request')
      const request = readRequest(data)
      if (request.kind === 'status') this.#answer(packStatus(this.#node.status()))
      else if (request.kind === 'blocks') this.#start(request)
      else if (this.#stream !== null) this.#stream.left += request.messages
    } catch {
      // After an invalid request a real node closes the connection without a message.
      this.#client.terminate()
      return
    }
    this.pump()
  }

  /** Sends a reply, after the messages that wait in the queue of a slow node. */
  #answer(frame: Buffer): void {
    if (this.#slow?.isSlow === true) this.#slow.write(frame)
    else this.#client.send(frame)
  }

  #start(request: BlocksRequest): void {
    let cursor = Math.max(request.start, this.#node.first())
    for (const { num, id } of request.positions) {
      const known = this.#node.at(num)
      if (num < cursor && num < request.start && known?.id.equals(id) !== true) cursor = num
    }
    cursor = Math.max(cursor, this.#node.first())
    this.#stream = { ...request, cursor, left: request.credits }
  }

  #mayWrite(): boolean {
    if (this.#client.readyState !== this.#client.OPEN || this.#slow?.isFull === true) return false
    if (this.#client.bufferedAmount < MAX_BUFFERED_BYTES) return true
    // `drain` fires when the socket has handed all bytes to the system.
    if (!this.#scheduled) {
      this.#scheduled = true
      this.#socket.once('drain', () => this.#resume())
    }
    return false
  }

  #pumpLater(): void {
    if (this.#scheduled) return
    this.#scheduled = true
    setImmediate(() => this.#resume())
  }

  #resume(): void {
    this.#scheduled = false
    this.pump()
  }

  #hasNext(stream: Stream): boolean {
    if (stream !== this.#stream || stream.left === 0 || stream.cursor >= stream.end || this.#silent()) {
      return false
    }
    for (;;) {
      const head = this.#node.head().num
      // While a recording plays, the recorded irreversible block may be ahead of the blocks played.
      const last = stream.irreversibleOnly ? Math.min(this.#node.lib().num, head) : head
      if (stream.cursor <= last) return true
      if (!this.#node.advance()) return false
    }
  }

  #sendNext(stream: Stream): number {
    // The oldest blocks may have been dropped: then continue with the oldest block in memory, like a pruning node.
    stream.cursor = Math.max(stream.cursor, this.#node.first())
    const block = this.#node.at(stream.cursor)!
    stream.cursor++
    if (this.#faults.skipBlocks?.includes(block.num) === true) return 0
    const frame = this.#packNext(block, stream)
    const frames = this.#faults.replace?.(frame, this.#sent) ?? [frame]
    this.#sent++
    if (frames.length > 0) stream.left--
    for (const each of frames) this.#write(each)
    if (this.#sent === this.#faults.dropAfter) this.#client.terminate()
    return frame.length
  }

  #packNext(block: ChainBlock, stream: Stream): Buffer {
    if (this.#sent === this.#faults.garbageAfter) return Buffer.from('01ffffffff00', 'hex')
    // `seen` has the head and the irreversible block that the recorded node reported with the block. The block was
    // still reversible then, so these values contradict a stream of irreversible blocks.
    const seen = stream.irreversibleOnly ? undefined : block.seen
    const head = seen?.head ?? this.#node.head()
    const lib = seen?.lib ?? this.#node.lib()
    const missing = this.#faults.withoutPayloads
    const fetch =
      missing === undefined
        ? stream
        : {
            fetchBlock: stream.fetchBlock && !missing.includes('block'),
            fetchTraces: stream.fetchTraces && !missing.includes('traces'),
            fetchDeltas: stream.fetchDeltas && !missing.includes('deltas'),
          }
    const empty = this.#faults.emptyBlocks?.includes(block.num) === true
    return packResult(head, lib, empty ? null : block, fetch)
  }

  #write(frame: Buffer): void {
    if (this.#slow?.isSlow === true) {
      this.#slow.write(frame)
      return
    }
    for (let at = 0; at < frame.length; at += FRAGMENT_BYTES) {
      const end = Math.min(at + FRAGMENT_BYTES, frame.length)
      this.#client.send(frame.subarray(at, end), { binary: true, fin: end === frame.length })
    }
  }

  #silent(): boolean {
    if (this.#faults.conduct?.frozen === true) return true
    return this.#faults.silentAfter !== undefined && this.#sent >= this.#faults.silentAfter
  }
}
