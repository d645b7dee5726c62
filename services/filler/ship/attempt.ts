import type { NodeAddress } from './address.ts'
import { ReceivedBlock, idToHex } from './block.ts'
import { largestGreetingBytes, readGreeting } from './greeting.ts'
import { openNodeSocket } from './node-socket.ts'
import type { NodeSocket } from './node-socket.ts'
import {
  chainMismatch,
  connectionLost,
  limitViolated,
  missedFork,
  protocolViolation,
  rangeMissing,
} from './problems.ts'
import type { Problem } from './problems.ts'
import { checkRanges, isIncomplete, missingBlock, missingPayload } from './ranges.ts'
import { ReadGate } from './read-gate.ts'
import type { ReaderState } from './reader-state.ts'
import type { BlocksResult, ProtocolCodec, StatusResult, WirePosition } from './types.ts'
import { createDeadline, watchActivity } from './watch.ts'

/** Outcome of one connection. */
export type Outcome =
  | { readonly kind: 'problem'; readonly problem: Problem }
  /** Thrown by the consumer, or a fatal error of the node. */
  | { readonly kind: 'error'; readonly error: unknown }
  | { readonly kind: 'stopped' }
  | { readonly kind: 'aborted' }

type Phase = 'greeting' | 'status' | 'waiting' | 'streaming' | 'finished'

const endForEver = 0xffffffff

/** A status reply has about 200 bytes; the rest are control frames. */
const largestStatusBytes = 64 * 1024

/**
 * One connection, from the handshake to its end: protocol ABI, status, blocks request, stream. Everything is
 * pushed, with no promise per block.
 */
export class StreamAttempt<P extends ProtocolCodec> {
  readonly #reader: ReaderState<P>
  readonly #address: NodeAddress
  readonly #ordinal: number
  readonly #settle: (outcome: Outcome) => void
  readonly #socket: NodeSocket
  readonly #gate: ReadGate
  readonly #deadline = createDeadline()
  #stopWatch: (() => void) | null = null
  #phase: Phase = 'greeting'
  #protocol: P | null = null
  #status: StatusResult | null = null
  #results = 0
  #reversible = false
  #delivering = false
  #behindSince: number | null = null
  #servedSince: number | null = null

  /** Connects at once; `settle` is called exactly once. */
  constructor(
    reader: ReaderState<P>,
    address: NodeAddress,
    ordinal: number,
    settle: (outcome: Outcome) => void,
  ) {
    this.#reader = reader
    this.#address = address
    this.#ordinal = ordinal
    this.#settle = settle
    const { timing, maxMessageBytes } = reader.settings
    this.#socket = openNodeSocket(address, timing, maxMessageBytes, {
      message: (data, isBinary) => {
        this.#guard(() => this.#onMessage(data, isBinary))
      },
      closed: (reason, limit, cause) => {
        const problem =
          limit === null
            ? connectionLost(reason, cause)
            : limitViolated(limit, reader.tail.next, maxMessageBytes)
        this.finish({ kind: 'problem', problem })
      },
    })
    this.#gate = new ReadGate(this.#socket, reader.credits, reader.settings.maxBytes)
    this.#socket.allow(largestGreetingBytes)
    reader.noteConnection(() => this.#socket.bytesRead())
    this.#deadline.arm(timing.handshakeTimeoutMs + timing.replyTimeoutMs, () => {
      this.#lose('the node sent no protocol ABI in time')
    })
  }

  /** Milliseconds since the node gave its first usable status reply. */
  get servedMs(): number {
    return this.#servedSince === null ? 0 : performance.now() - this.#servedSince
  }

  /** Ends the connection, drops whatever arrives late, and settles. */
  finish(outcome: Outcome): void {
    if (this.#phase === 'finished') return
    this.#phase = 'finished'
    this.#deadline.clear()
    this.#stopWatch?.()
    this.#socket.close()
    this.#reader.credits.close()
    this.#reader.noteDisconnection()
    this.#settle(outcome)
  }

  /** The pipeline released blocks: acknowledge if the window allows. */
  acknowledge(): void {
    if (this.#phase !== 'streaming' || this.#delivering || this.#protocol === null) return
    const due = this.#reader.credits.takeDue(this.#reversible)
    if (due > 0) this.#socket.send(this.#protocol.encodeAck(due))
    this.#gate.update()
  }

  #guard(step: () => void): void {
    try {
      step()
    } catch (error) {
      this.finish({ kind: 'error', error })
    }
  }

  #fail(problem: Problem): void {
    this.finish({ kind: 'problem', problem })
  }

  #lose(reason: string): void {
    this.#fail(connectionLost(reason))
  }

  #onMessage(data: Uint8Array, isBinary: boolean): void {
    if (this.#protocol === null) {
      if (isBinary) this.#fail(protocolViolation('the first frame of the node is not its protocol ABI'))
      else this.#onGreeting(data)
      return
    }
    if (!isBinary) {
      this.#fail(protocolViolation('the node sent a text frame after its protocol ABI'))
      return
    }
    const result = this.#decode(this.#protocol, data)
    if (result === null) return
    this.#reader.noteMessage()
    if (result.kind === 'status') this.#onStatus(this.#protocol, result)
    else if (this.#phase === 'streaming') this.#onBlocks(result, data.length)
    else this.#fail(protocolViolation('the node sent blocks that were not requested'))
  }

  #onGreeting(data: Uint8Array): void {
    const greeting = readGreeting(data, this.#reader.settings.compileProtocol)
    if (greeting.problem !== null) {
      this.#fail(greeting.problem)
      return
    }
    const { protocol } = greeting
    this.#reader.noteMessage()
    this.#protocol = protocol
    this.#reader.consumer.onProtocol(protocol)
    this.#phase = 'status'
    this.#askStatus(protocol)
  }

  #decode(protocol: P, data: Uint8Array): StatusResult | BlocksResult | null {
    try {
      return protocol.decodeResult(data)
    } catch (error) {
      const place = `block ${this.#reader.tail.next} was expected`
      this.#fail(protocolViolation(`a message of ${data.length} bytes cannot be read, ${place}`, error))
      return null
    }
  }

  #askStatus(protocol: P): void {
    this.#deadline.arm(this.#reader.settings.timing.replyTimeoutMs, () => {
      this.#lose('the node did not answer a status request in time')
    })
    this.#socket.allow(largestStatusBytes)
    this.#socket.send(protocol.encodeStatusRequest())
  }

  #onStatus(protocol: P, status: StatusResult): void {
    this.#reader.noteHead(status.head, status.lastIrreversible)
    this.#status = status
    if (this.#phase === 'streaming') return
    this.#checkChain(status)
    this.#servedSince ??= performance.now()
    const start = this.#reader.nextStart()
    const verdict = checkRanges(status, start)
    if (verdict.kind === 'problem') this.#fail(verdict.problem)
    else if (verdict.kind === 'behind') this.#waitForNode(protocol, status, start)
    else this.#requestBlocks(protocol, status, verdict.start)
  }

  #checkChain(status: StatusResult): void {
    const { chainId } = this.#reader.settings
    if (chainId === null) return
    if (status.chainId === null) {
      this.#reader.warnOfUnknownChain(this.#address.label)
      return
    }
    const actual = typeof status.chainId === 'string' ? status.chainId : idToHex(status.chainId)
    if (actual.toLowerCase() !== chainId) throw chainMismatch(this.#address.label, chainId, actual)
  }

  #waitForNode(protocol: P, status: StatusResult, start: number): void {
    const { timing, addresses, logger } = this.#reader.settings
    const now = performance.now()
    const reason = `the node is at block ${status.head.num}, before block ${start - 1}`
    if (this.#behindSince === null) {
      logger.warn(
        { url: this.#address.label, head: status.head.num, next: start },
        `${reason}; waiting for it`,
      )
    }
    this.#behindSince ??= now
    this.#phase = 'waiting'
    this.#reader.state = 'waiting'
    if (addresses.length > 1 && now - this.#behindSince >= timing.behindTimeoutMs) {
      this.#lose(reason)
      return
    }
    this.#deadline.arm(timing.statusPollMs, () => {
      this.#guard(() => this.#askStatus(protocol))
    })
  }

  #requestBlocks(protocol: P, status: StatusResult, start: number): void {
    const { settings, tail, credits, consumer } = this.#reader
    const resume = consumer.resumePosition()
    // A position that the node cannot know would only lower its start to blocks that it does not have.
    const lowest = Math.max(status.traceBegin, status.stateBegin)
    const known = resume.havePositions.filter(({ num }) => num < start && num >= lowest)
    tail.reset(resume, start)
    this.#deadline.clear()
    this.#phase = 'streaming'
    this.#reader.state = 'streaming'
    this.#reversible = start > status.lastIrreversible.num
    this.#socket.allow(Infinity)
    this.#socket.send(
      protocol.encodeBlocksRequest({
        start,
        end: Math.min(endForEver, settings.stopBlock + 1),
        maxInFlight: credits.open(),
        havePositions: settings.irreversibleOnly ? [] : known,
        irreversibleOnly: settings.irreversibleOnly,
        fetchBlock: true,
        fetchTraces: true,
        fetchDeltas: true,
      }),
    )
    this.#stopWatch = this.#watchStream()
    settings.logger.info({ url: this.#address.label, start, head: status.head.num }, 'reading blocks')
  }

  #watchStream(): () => void {
    const { settings, credits } = this.#reader
    const sample = () => ({
      results: this.#results,
      bytesRead: this.#socket.bytesRead(),
      expected: credits.credits > 0 && !this.#gate.isPaused,
    })
    return watchActivity(settings.timing, sample, (reason) => {
      this.#lose(reason)
    })
  }

  #onBlocks(result: BlocksResult, bytes: number): void {
    const { credits, tail } = this.#reader
    this.#results += 1
    credits.spend(bytes)
    this.#reader.noteHead(result.head, result.lib)
    const position = result.this
    if (position === null) {
      const problem = missingBlock(result, tail.next, this.#reader.settings, this.#status)
      if (problem !== null) this.#fail(problem)
    } else if (position.num <= this.#reader.settings.stopBlock) {
      this.#reversible = position.num > result.lib.num
      const linkage = tail.classify(position, result.prev, result.block)
      if (linkage === 'next') this.#deliver(position, result, bytes)
      else if (linkage === 'resent') this.#reader.resentBlocks += 1
      else if (linkage === 'fork') {
        this.#reader.undoFrom(position.num)
        this.#deliver(position, result, bytes)
      } else if (linkage === 'unlinked') this.#fail(missedFork(position.num))
      else this.#fail(rangeMissing(tail.next, position.num - 1, this.#status))
    }
    this.acknowledge()
  }

  #deliver(position: WirePosition, result: BlocksResult, bytes: number): void {
    const reader = this.#reader
    const block = new ReceivedBlock(this.#ordinal, bytes, position, result)
    if (isIncomplete(block)) {
      const problem = missingPayload(block, this.#status)
      if (problem !== null) {
        this.#fail(problem)
        return
      }
      reader.warnOfMissingPayload(block.num)
    }
    reader.tail.append(position.num, position.id, result.lib.num)
    reader.noteBlock(bytes)
    reader.credits.hold(bytes)
    this.#delivering = true
    reader.consumer.onBlock(block)
    this.#delivering = false
    if (position.num === reader.settings.stopBlock) this.finish({ kind: 'stopped' })
  }
}
