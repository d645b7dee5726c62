import type { FatalError } from '../../core/errors/index.ts'
import type { NodeAddress } from './address.ts'
import { idToHex } from './block.ts'
import { openNodeSocket } from './node-socket.ts'
import type { NodeSocket } from './node-socket.ts'
import {
  chainMismatch,
  connectionClosed,
  connectionLost,
  limitViolated,
  protocolViolation,
  unusableProtocol,
  withoutBlock,
} from './problems.ts'
import type { FalsePart, Problem } from './problems.ts'
import type { ReaderState } from './reader-state.ts'
import type { BlocksRequest, BlocksResult, ProtocolCodec, StatusResult, WirePosition } from './types.ts'
import { createDeadline } from './watch.ts'

/** The largest protocol ABI is about 35 kB; more than this is no protocol ABI. */
export const LARGEST_GREETING_BYTES = 2 ** 20
/** A status reply has about 200 bytes; the rest are control frames. */
export const LARGEST_STATUS_BYTES = 64 * 1024

/** Receives what happens on a connection to a node. Nothing is called after `NodeConnection.close`. */
export interface ConnectionEvents<P extends ProtocolCodec> {
  /** The protocol ABI came and compiles; the status is requested next. */
  greeted(protocol: P): void
  /** A status reply of a node of the configured chain. */
  status(status: StatusResult): void
  /** A blocks result of so many bytes, requested or not. */
  blocks(result: BlocksResult, bytes: number): void
  /** The connection is lost, or the node violates the protocol; it has to be closed. */
  lost(problem: Problem): void
  /** The node serves another chain; the connection has to be closed. */
  refused(error: FatalError): void
  /** An event handler threw: no fault of the node. */
  failed(error: unknown): void
  /** Number of the block that the node sends next; null when none is requested. */
  expected(): number | null
}

/**
 * One connection to a node, which speaks the state-history protocol: the protocol ABI in the first frame, a status reply whose
 * chain id is checked, then what is requested. Everything is pushed, with no promise per block.
 */
export class NodeConnection<P extends ProtocolCodec> {
  readonly #reader: ReaderState<P>
  readonly #address: NodeAddress
  readonly #events: ConnectionEvents<P>
  readonly #socket: NodeSocket
  readonly #deadline = createDeadline()
  #protocol: P | null = null
  #awaitsStatus = false

  /** Connects at once. */
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

  /** The protocol of the node; null until its protocol ABI came. */
  get protocol(): P | null {
    return this.#protocol
  }

  /**
   * The part of a block that its id does not name, as far as that is to be checked and the payloads are there. The content of
   * irreversible blocks is not checked: that takes ten times as long as reading it.
   */
  findFalsePart({ num, id }: WirePosition, { block, traces, lib }: BlocksResult): FalsePart | null {
    const { checkBlocks, checkRoots } = this.#reader.settings
    if (block === null || block.length === 0 || !checkBlocks) return null
    if (this.#protocol?.isBlock?.(block, num, id) === false) return 'header'
    if (!checkRoots || num <= lib.num) return null
    return this.#protocol?.findFalseContent?.(block, traces) ?? null
  }

  /** Whether a status request has no reply yet. */
  get awaitsStatus(): boolean {
    return this.#awaitsStatus
  }

  /** Bytes read so far. */
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

  /** Lets the node send so many more messages. */
  acknowledge(messages: number): void {
    if (messages > 0 && this.#protocol !== null) this.#socket.send(this.#protocol.encodeAck(messages))
  }

  /** Stops and continues reading from the network. */
  pause(): void {
    this.#socket.pause()
  }

  resume(): void {
    this.#socket.resume()
  }

  /** Ends the connection, and drops whatever arrives late. */
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
      const place = expected === null ? '' : `, block ${expected} was expected; ${withoutBlock(expected)}`
      this.#events.lost(protocolViolation(`a message of ${data.length} bytes cannot be read${place}`, error))
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
