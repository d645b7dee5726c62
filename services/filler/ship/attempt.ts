import type { NodeAddress } from './address.ts'
import { ReceivedBlock } from './block.ts'
import { NodeConnection } from './node-connection.ts'
import { blockFalse, connectionLost, missedFork, protocolViolation, rangeMissing } from './problems.ts'
import type { Problem } from './problems.ts'
import { checkRanges, isIncomplete, missingBlock, missingPayload } from './ranges.ts'
import { ReadGate } from './read-gate.ts'
import type { ReaderState } from './reader-state.ts'
import type { BlocksResult, ProtocolCodec, StatusResult, WirePosition } from './types.ts'
import { watchActivity } from './watch.ts'

/** Outcome of one connection. */
export type Outcome =
  | { readonly kind: 'problem'; readonly problem: Problem }
  /** Thrown by the consumer, or a fatal error of the node. */
  | { readonly kind: 'error'; readonly error: unknown }
  | { readonly kind: 'stopped' }
  | { readonly kind: 'aborted' }

type Phase = 'status' | 'waiting' | 'streaming' | 'finished'

const END_FOR_EVER = 0xffffffff

/**
 * One connection to a node with its block stream, from the handshake to the end. Calls the consumer synchronously: a
 * promise per block would cost too much at 100,000 empty blocks a second.
 */
export class StreamAttempt<P extends ProtocolCodec> {
  readonly #reader: ReaderState<P>
  readonly #address: NodeAddress
  readonly #settle: (outcome: Outcome) => void
  readonly #connection: NodeConnection<P>
  readonly #gate: ReadGate
  #stopWatch: (() => void) | null = null
  #poll: NodeJS.Timeout | undefined
  #phase: Phase = 'status'
  #status: StatusResult | null = null
  #results = 0
  #reversible = false
  #delivering = false
  #behindSince: number | null = null
  #servedSince: number | null = null

  /** Connects at once; `settle` is called exactly once. */
  constructor(reader: ReaderState<P>, address: NodeAddress, settle: (outcome: Outcome) => void) {
    this.#reader = reader
    this.#address = address
    this.#settle = settle
    this.#connection = new NodeConnection(reader, address, {
      greeted: (protocol) => reader.consumer.onProtocol(protocol),
      status: (status) => this.#onStatus(status),
      blocks: (result, bytes) => this.#onBlocks(result, bytes),
      lost: (problem) => this.#fail(problem),
      refused: (error) => this.finish({ kind: 'error', error }),
      failed: (error) => this.finish({ kind: 'error', error }),
      expected: () => reader.tail.next,
    })
    this.#gate = new ReadGate(this.#connection, reader.credits, reader.settings.maxBytes)
    reader.noteConnection(() => this.#connection.bytesRead())
  }

  /** Milliseconds since the node gave its first usable status reply. */
  get servedMs(): number {
    return this.#servedSince === null ? 0 : performance.now() - this.#servedSince
  }

  /** Closes the connection, drops data that arrives late, and reports the outcome. */
  finish(outcome: Outcome): void {
    if (this.#phase === 'finished') return
    this.#phase = 'finished'
    clearTimeout(this.#poll)
    this.#stopWatch?.()
    this.#connection.close()
    this.#reader.credits.close()
    this.#reader.noteDisconnection()
    this.#settle(outcome)
  }

  /** Acknowledges blocks that the pipeline has released, as soon as the credits require an acknowledgement. */
  acknowledge(): void {
    if (this.#phase !== 'streaming' || this.#delivering) return
    this.#connection.acknowledge(this.#reader.credits.takeDue(this.#reversible))
    this.#gate.update()
  }

  #fail(problem: Problem): void {
    this.finish({ kind: 'problem', problem })
  }

  #lose(reason: string): void {
    this.#fail(connectionLost(reason))
  }

  #onStatus(status: StatusResult): void {
    this.#reader.noteHead(status.head, status.lastIrreversible)
    this.#status = status
    if (this.#phase === 'streaming') return
    this.#servedSince ??= performance.now()
    const start = this.#reader.nextStart()
    const verdict = checkRanges(status, start)
    if (verdict.kind === 'problem') this.#fail(verdict.problem)
    else if (verdict.kind === 'behind') this.#waitForNode(status, start)
    else this.#requestBlocks(status, verdict.start)
  }

  #waitForNode(status: StatusResult, start: number): void {
    const { timing, addresses, logger } = this.#reader.settings
    const now = performance.now()
    const reason = `the node is at block ${status.head.num}, before block ${start - 1}`
    if (this.#behindSince === null) {
      logger.warn(
        { url: this.#address.label, head: status.head.num, next: start },
        `${reason}; waiting for this block`,
      )
    }
    this.#behindSince ??= now
    this.#phase = 'waiting'
    this.#reader.state = 'waiting'
    if (addresses.length > 1 && now - this.#behindSince >= timing.behindTimeoutMs) {
      this.#lose(reason)
      return
    }
    this.#poll = setTimeout(() => this.#connection.requestStatus(), timing.statusPollMs)
  }

  #requestBlocks(status: StatusResult, start: number): void {
    const { settings, tail, credits, consumer } = this.#reader
    const resume = consumer.resumePosition()
    // Leave out positions below the node's logs. Otherwise the node would start at blocks that its logs do not contain.
    const lowest = Math.max(status.traceBegin, status.stateBegin)
    const known = resume.havePositions.filter(({ num }) => num < start && num >= lowest)
    tail.reset(resume, start)
    this.#phase = 'streaming'
    this.#reader.state = 'streaming'
    this.#reversible = start > status.lastIrreversible.num
    this.#connection.requestBlocks({
      start,
      end: Math.min(END_FOR_EVER, settings.stopBlock + 1),
      maxInFlight: credits.open(),
      havePositions: settings.irreversibleOnly ? [] : known,
      irreversibleOnly: settings.irreversibleOnly,
    })
    this.#stopWatch = this.#watchStream()
    settings.logger.info({ url: this.#address.label, start, head: status.head.num }, 'reading blocks')
  }

  #watchStream(): () => void {
    const { settings, credits } = this.#reader
    const sample = () => ({
      results: this.#results,
      bytesRead: this.#connection.bytesRead(),
      expected: credits.credits > 0 && !this.#gate.isPaused,
    })
    return watchActivity(settings.timing, sample, (reason) => {
      this.#lose(reason)
    })
  }

  #onBlocks(result: BlocksResult, bytes: number): void {
    if (this.#phase !== 'streaming') {
      this.#fail(protocolViolation('the node sent blocks that were not requested'))
      return
    }
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
      // Check the content first: a forged block of another branch must not cause an undo.
      const falsePart = this.#connection.findFalsePart(position, result)
      if (falsePart !== null) {
        this.#fail(blockFalse(this.#address.label, position, falsePart))
        return
      }
      const linkage = tail.classify(position, result.prev, result.block)
      if (linkage === 'next') this.#deliver(position, result, bytes)
      else if (linkage === 'resent') this.#reader.resentBlocks += 1
      else if (linkage === 'fork') {
        this.#reader.undoFrom(position.num)
        this.#deliver(position, result, bytes)
      } else if (linkage === 'unlinked') {
        const block = new ReceivedBlock(this.#address.label, bytes, position, result)
        this.#fail(missedFork(block.node, block, tail.idAt(block.num - 1)))
      } else this.#fail(rangeMissing(tail.next, position.num - 1, this.#status))
    }
    this.acknowledge()
  }

  #deliver(position: WirePosition, result: BlocksResult, bytes: number): void {
    const reader = this.#reader
    const block = new ReceivedBlock(this.#address.label, bytes, position, result)
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
