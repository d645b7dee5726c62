import { FatalError, describeError } from '../../core/errors/index.ts'
import { Backoff, pause } from '../../core/retry/index.ts'
import type { NodeAddress } from './address.ts'
import { SeveralNodes } from './several/several-nodes.ts'
import { StreamAttempt } from './attempt.ts'
import type { Outcome } from './attempt.ts'
import type { Problem } from './problems.ts'
import { ReaderState } from './reader-state.ts'
import { connectBackoff, resolveSettings } from './settings.ts'
import type {
  ProtocolCodec,
  ShipConsumer,
  ShipNodeStatus,
  ShipSession,
  ShipSessionOptions,
  ShipStatus,
} from './types.ts'

/**
 * Creates a session that reads one chain from one or more nodes into `consumer`. `run` opens the connections.
 * @throws FatalError `CONFIG_INVALID` for an unusable address.
 */
export function createShipSession<P extends ProtocolCodec>(
  options: ShipSessionOptions<P>,
  consumer: ShipConsumer<P>,
): ShipSession {
  const settings = resolveSettings(options)
  return settings.addresses.length > 1
    ? new SeveralNodes(settings, consumer)
    : new Session(new ReaderState(settings, consumer))
}

/**
 * Session with one node at a time. Reconnects after each lost connection, until `stopBlock` or the signal ends the
 * session.
 */
class Session<P extends ProtocolCodec> implements ShipSession {
  readonly #reader: ReaderState<P>
  readonly #backoff: Backoff
  #attempt: StreamAttempt<P> | null = null
  #drained: (() => void) | null = null
  #turn = 0
  /**
   * Number of consecutive `unusable` and `suspect` problems, and `blocksReceived` at the last such problem. A received
   * block resets the number.
   */
  #strikes = 0
  #strikeAt = -1
  /** Value of `blocksReceived` when a problem was last logged as a warning. */
  #warnedAt = -1
  #missedForkAt = -1
  #faults = 0

  constructor(reader: ReaderState<P>) {
    this.#reader = reader
    this.#backoff = new Backoff(connectBackoff(reader.settings))
  }

  async run(signal: AbortSignal): Promise<void> {
    const reader = this.#reader
    if (reader.state !== 'idle') throw new FatalError('INTERNAL', 'a state-history session runs only once')
    try {
      while (!signal.aborted && reader.nextStart() <= reader.settings.stopBlock) {
        const outcome = await this.#connect(signal)
        if (outcome.kind === 'error') throw outcome.error
        if (outcome.kind === 'stopped') break
        if (outcome.kind === 'problem') await this.#recover(outcome.problem, signal)
      }
      if (!signal.aborted) await this.#drain(signal)
    } finally {
      reader.state = 'ended'
    }
  }

  release(blocks: number, bytes: number): void {
    this.#reader.credits.release(blocks, bytes)
    this.#attempt?.acknowledge()
    if (this.#reader.credits.heldBlocks === 0) this.#drained?.()
  }

  status(): ShipStatus {
    const status = this.#reader.status()
    const states = { streaming: 'followed', waiting: 'watched', 'backing-off': 'failed' } as const
    const state = status.state in states ? states[status.state as keyof typeof states] : 'connecting'
    const node: ShipNodeStatus = {
      url: status.url,
      state,
      headNum: status.headNum,
      lagBlocks: status.headNum === null ? null : 0,
      blocksReceived: status.blocksReceived,
      bytesReceived: status.bytesReceived,
      faults: this.#faults,
      lastFault: status.lastProblem,
    }
    return { ...status, nodes: [node] }
  }

  async #connect(signal: AbortSignal): Promise<Outcome> {
    const reader = this.#reader
    const address = this.#currentAddress()
    reader.state = 'connecting'
    reader.url = address.label
    reader.connections += 1
    let abort: (() => void) | undefined
    const outcome = await new Promise<Outcome>((resolve) => {
      const attempt = new StreamAttempt(reader, address, resolve)
      this.#attempt = attempt
      abort = () => attempt.finish({ kind: 'aborted' })
      signal.addEventListener('abort', abort)
    })
    if (abort !== undefined) signal.removeEventListener('abort', abort)
    if ((this.#attempt?.servedMs ?? 0) >= reader.settings.timing.goodServiceMs) this.#backoff.reset()
    this.#attempt = null
    return outcome
  }

  #currentAddress(): NodeAddress {
    const { addresses } = this.#reader.settings
    const address = addresses[this.#turn % addresses.length]
    if (address === undefined) throw new FatalError('INTERNAL', 'no state-history address')
    return address
  }

  /** Reacts to a problem and waits for the back-off. Throws the problem's error when a retry is pointless. */
  async #recover(problem: Problem, signal: AbortSignal): Promise<void> {
    const reader = this.#reader
    const reason = describeError(problem.error)
    reader.lastProblem = reason
    this.#faults += 1
    reader.state = 'backing-off'
    // `#strike` throws a problem that ends the session. The caller of `run` reports the problem, so no log line is
    // written here.
    if (problem.kind === 'unusable' || problem.kind === 'suspect') this.#strike(problem)
    const fields = { url: reader.url, code: problem.error.code }
    // Log the first problem after a received block as a warning and further problems as info. A `suspect` problem is
    // always logged as info, because the caller reports its error if the problem ends the session.
    if (this.#warnedAt === reader.blocksReceived || problem.kind === 'suspect')
      reader.settings.logger.info(fields, `${reason}; the reader tries the node again`)
    else reader.settings.logger.warn(fields, reason)
    this.#warnedAt = reader.blocksReceived
    if (problem.kind !== 'missed-fork') this.#turn += 1
    else if (this.#undoMissedFork(problem)) return
    await pause(this.#backoff.nextDelayMs(), signal)
  }

  #strike(problem: Problem): void {
    const { blocksReceived, settings } = this.#reader
    this.#strikes = this.#strikeAt === blocksReceived ? this.#strikes + 1 : 1
    this.#strikeAt = blocksReceived
    const allowed = Math.max(problem.kind === 'suspect' ? 2 : 1, settings.addresses.length)
    if (this.#strikes >= allowed) throw problem.error
  }

  /**
   * Handles a block with an unknown parent. The first time, a reconnect with the reversible positions lets the node
   * send the fork. If the problem repeats, undoes one block per attempt until the ids match. Returns whether a block
   * was undone.
   */
  #undoMissedFork({ num, error }: Problem): boolean {
    const { blocksReceived, tail } = this.#reader
    const repeated = this.#missedForkAt === blocksReceived
    this.#missedForkAt = blocksReceived
    if (repeated) this.#reader.undoBefore(num ?? tail.next, error)
    return repeated
  }

  async #drain(signal: AbortSignal): Promise<void> {
    const { credits, consumer } = this.#reader
    consumer.onEnd?.()
    if (credits.heldBlocks === 0 || signal.aborted) return
    await new Promise<void>((resolve) => {
      this.#drained = resolve
      signal.addEventListener('abort', () => resolve(), { once: true })
    })
  }
}
