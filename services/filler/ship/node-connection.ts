import type { FatalError } from '../../core/errors/index.ts'
import type { NodeAddress } from './address.ts'
import { idToHex } from './block.ts'
import { namesParent, previousInHeader } from './linkage.ts'
import { openNodeSocket } from './node-socket.ts'
import type { NodeSocket } from './node-socket.ts'
import {
  blockUnreadable,
  chainMismatch,
  connectionClosed,
  connectionLost,
  limitViolated,
  protocolViolation,
  unusableProtocol,
} from './problems.ts'
import type { FalsePart, Problem } from './problems.ts'
import type { ReaderState } from './reader-state.ts'
import type { BlocksRequest, BlocksResult, ProtocolCodec, StatusResult, WirePosition } from './types.ts'
import { createDeadline } from './watch.ts'

/** Limit of the first frame: the largest protocol ABI is about 35 kB. */
export const LARGEST_GREETING_BYTES = 2 ** 20
/**
 * Limit of the bytes that a node may send before blocks are requested: a status reply has about 200 bytes, the rest are
 * control frames.
 */
export const LARGEST_STATUS_BYTES = 64 * 1024

/** Callbacks of a connection. None is called after `NodeConnection.close`. */
export interface ConnectionEvents<P extends ProtocolCodec> {
  /** The protocol ABI arrived and compiled; the connection requests the status next. */
  greeted(protocol: P): void
  /** A status reply of a node of the configured chain. */
  status(status: StatusResult): void
  /** A blocks result of `bytes` bytes arrived, also one that was not requested. */
  blocks(result: BlocksResult, bytes: number): void
  /** The connection broke, or the node violated the protocol. The receiver has to close the connection. */
  lost(problem: Problem): void
  /** The node serves another chain. The receiver has to close the connection. */
  refused(error: FatalError): void
  /** A callback threw, so the node is not at fault. */
  failed(error: unknown): void
  /** Returns the number of the block that the node sends next; null if no blocks are requested. */
  expected(): number | null
}

/**
 * One connection to a node that speaks the state-history protocol. Reads the protocol ABI from the first frame,
 * requests the status, checks the chain id, then requests blocks. Results go to callbacks synchronously, without a
 * promise per block.
 */
export class NodeConnection<P extends ProtocolCodec> {
  readonly #reader: ReaderState<P>
  readonly #address: NodeAddress
  readonly #events: ConnectionEvents<P>
  readonly #socket: NodeSocket
  readonly #deadline = createDeadline()
  #protocol: P | null = null
  #awaitsStatus = false

  /** Opens the connection to the node at once. */
  constructor(reader: ReaderState<P>, address: NodeAddress, events: ConnectionEvents<P>) {
    this.#reader = reader
    this.#address = address
    this.#events = events
    const { timing, maxMessageBytes } = reader.settings
    this.#socket = openNodeSocket(address, timing, maxMessageBytes, {
      message: (data, isBinary) => this.#onMessage(data, isBinary),
      closed: (reason, limit, cause) => {
        const num = events.expected() ?? reader.tail.next
        events.lost(
          limit === null
            ? connectionClosed(address.label, reason, cause)
            : limitViolated(limit, num, maxMessageBytes),
        )
      },
    })
    this.#socket.allow(LARGEST_GREETING_BYTES)
    this.#deadline.arm(timing.handshakeTimeoutMs + timing.replyTimeoutMs, () => {
      events.lost(connectionLost('the node sent no protocol ABI in time'))
    })
  }

  /** Protocol of the node; null until the protocol ABI has arrived. */
  get protocol(): P | null {
    return this.#protocol
  }

  /**
   * Compares the parts of a block with the block's id. Returns the part that does not match, or null.
   *
   * Does nothing without `checkBlocks`, and skips payloads that are absent. The comparison of the content takes ten
   * times as long as reading the block, so `checkRoots` selects the blocks whose content is compared.
   */
  findFalsePart({ num, id }: WirePosition, { block, traces, lib, prev }: BlocksResult): FalsePart | null {
    const { checkBlocks, checkRoots } = this.#reader.settings
    if (block === null || block.length === 0 || !checkBlocks) return null
    const isBlock = this.#protocol?.isBlock?.(block, num, id)
    if (isBlock === false) return 'header'
    if (isBlock === true && prev !== null && !namesParent(prev.id, null, block))
      return { parent: idToHex(prev.id), expected: previousInHeader(block, num) }
    if (checkRoots === 'none' || (checkRoots === 'reversible' && num <= lib.num)) return null
    return this.#protocol?.findFalseContent?.(block, traces) ?? null
  }

  /** Whether a status request has no reply yet. */
  get awaitsStatus(): boolean {
    return this.#awaitsStatus
  }

  /** Number of bytes read on this connection. */
  bytesRead(): number {
    return this.#socket.bytesRead()
  }

  /** Requests the status; the connection is lost when the reply takes longer than `timeoutMs`. */
  requestStatus(timeoutMs = this.#reader.settings.timing.replyTimeoutMs): void {
    if (this.#protocol === null) return
    this.#awaitsStatus = true
    this.#deadline.arm(timeoutMs, () => {
      this.#events.lost(connectionLost('the node did not answer a status request in time'))
    })
    this.#socket.allow(LARGEST_STATUS_BYTES)
    this.#socket.send(this.#protocol.encodeStatusRequest())
  }

  /** Requests blocks with all of their payloads. */
  requestBlocks(request: Omit<BlocksRequest, 'fetchBlock' | 'fetchTraces' | 'fetchDeltas'>): void {
    if (this.#protocol === null) return
    this.#socket.allow(Infinity)
    this.#socket.send(
      this.#protocol.encodeBlocksRequest({
        ...request,
        fetchBlock: true,
        fetchTraces: true,
        fetchDeltas: true,
      }),
    )
  }

  /** Grants the node `messages` more messages. */
  acknowledge(messages: number): void {
    if (messages > 0 && this.#protocol !== null) this.#socket.send(this.#protocol.encodeAck(messages))
  }

  /** Stops reading from the network, until `resume`. */
  pause(): void {
    this.#socket.pause()
  }

  resume(): void {
    this.#socket.resume()
  }

  /** Closes the connection and drops data that arrives late. */
  close(): void {
    this.#protocol = null
    this.#deadline.clear()
    this.#socket.close()
  }

  #onMessage(data: Uint8Array, isBinary: boolean): void {
    try {
      if (this.#protocol === null) this.#onGreeting(data, isBinary)
      else this.#onResult(this.#protocol, data, isBinary)
    } catch (error) {
      this.#events.failed(error)
    }
  }

  #onGreeting(data: Uint8Array, isBinary: boolean): void {
    if (isBinary) {
      this.#events.lost(protocolViolation('the first frame of the node is not its protocol ABI'))
      return
    }
    let protocol: P
    try {
      const text = Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString('utf8')
      protocol = this.#reader.settings.compileProtocol(JSON.parse(text))
    } catch (error) {
      this.#events.lost(unusableProtocol(error))
      return
    }
    this.#reader.noteMessage()
    this.#protocol = protocol
    this.#events.greeted(protocol)
    this.requestStatus()
  }

  #onResult(protocol: P, data: Uint8Array, isBinary: boolean): void {
    if (!isBinary) {
      this.#events.lost(protocolViolation('the node sent a text frame after its protocol ABI'))
      return
    }
    let result: StatusResult | BlocksResult
    try {
      result = protocol.decodeResult(data)
    } catch (error) {
      const expected = this.#events.expected()
      const place = expected === null ? '' : ` (block ${expected} was expected)`
      const message = `a message of ${data.length} bytes cannot be read${place}`
      this.#events.lost(blockUnreadable(message, expected, error))
      return
    }
    this.#reader.noteMessage()
    if (result.kind === 'blocks') this.#events.blocks(result, data.length)
    else this.#onStatus(result)
  }

  #onStatus(status: StatusResult): void {
    this.#awaitsStatus = false
    this.#deadline.clear()
    const mismatch = this.#chainMismatch(status)
    if (mismatch === null) this.#events.status(status)
    else this.#events.refused(mismatch)
  }

  #chainMismatch({ chainId: received }: StatusResult): FatalError | null {
    const { chainId } = this.#reader.settings
    if (chainId === null) return null
    if (received === null) {
      this.#reader.warnOfUnknownChain(this.#address.label)
      return null
    }
    const actual = (typeof received === 'string' ? received : idToHex(received)).toLowerCase()
    return actual === chainId ? null : chainMismatch(this.#address.label, chainId, actual)
  }
}
