import { nodeRefusal } from '../../core/chain-node/index.ts'
import { FatalError, RetryableError } from '../../core/errors/index.ts'
import type { PronghornError } from '../../core/errors/index.ts'
import type { SocketLimit } from './node-socket.ts'
import type { StatusResult, WirePosition } from './types.ts'

/** Reason to leave a connection, and the reaction. `lost`: reconnect indefinitely. `unusable`: the node cannot serve us; fatal once that is so for every node. `suspect`: fatal when repeated without a block between, after every node was tried. `missed-fork`: reconnect at once; the second time undo a block.
 */
export interface Problem {
  readonly kind: 'lost' | 'unusable' | 'suspect' | 'missed-fork'
  readonly error: PronghornError
  /** For `missed-fork`: number of the block whose parent is not ours. */
  readonly num?: number
}

/** The connection broke, was closed or went silent. */
export function connectionLost(reason: string, cause?: unknown): Problem {
  return { kind: 'lost', error: new RetryableError('SHIP_CONNECTION_LOST', reason, { cause }) }
}

/** The connection to a node was not made, or ended: its reason, or that the node refuses connections. */
export function connectionClosed(label: string, reason: string, cause?: unknown): Problem {
  const refusal = nodeRefusal(cause, label)
  return refusal === null ? connectionLost(reason, cause) : { kind: 'lost', error: refusal }
}

/** The node sent what no state-history node sends. */
export function protocolViolation(message: string, cause?: unknown): Problem {
  return { kind: 'suspect', error: new FatalError('SHIP_PROTOCOL', message, { cause }) }
}

/** The protocol ABI in the node's first frame is not one that can be compiled. */
export function unusableProtocol(cause: unknown): Problem {
  const message = 'the protocol ABI of the state-history node cannot be used'
  return { kind: 'unusable', error: new FatalError('SHIP_PROTOCOL', message, { cause }) }
}

/** `chain_state [2, 900), traces [2, 900)`: what a node said to hold, for messages. */
function describeRanges(status: StatusResult): string {
  const { traceBegin, traceEnd, stateBegin, stateEnd } = status
  return `traces [${traceBegin}, ${traceEnd}), chain state [${stateBegin}, ${stateEnd})`
}

/** The part of a block that its id contradicts: the header by its hash, the content by the roots in the header. */
export type FalsePart = 'header' | 'transactions' | 'actions'

/** A part of a block is not that of its id. */
export function blockFalse(label: string, { num, id }: WirePosition, part: FalsePart): Problem {
  const shown = Buffer.from(id).toString('hex')
  const reason =
    part === 'header'
      ? 'the hash of its header is another'
      : `the Merkle root of its ${part} is not the one in its header`
  const message = `block ${num} from ${label} is not the block that its id ${shown} names: ${reason}`
  return {
    kind: 'unusable',
    error: new FatalError('SHIP_BLOCK_INVALID', message, { details: { block_num: num } }),
  }
}

/** A block that the logs of the node do not have. */
interface UnavailableRange {
  readonly message: string
  /** What the node said to hold, to be shown; null where the message says enough. */
  readonly status: StatusResult | null
  readonly num: number
  /** First block that the reader could start with on this node. */
  readonly start: number
}

/** The logs of the node do not cover the block that is needed next. */
export function rangeUnavailable({ message, status, num, start }: UnavailableRange): Problem {
  const ranges = status === null ? '' : `; it has ${describeRanges(status)}`
  const error = new FatalError('SHIP_RANGE_UNAVAILABLE', `${message}${ranges}`, {
    details: { block_num: num, start },
  })
  return { kind: 'unusable', error }
}

/** How to go on without one block: the gap is recorded. */
export function withoutBlock(num: number): string {
  return `a start at block ${num + 1} leaves out this block only`
}

/** A log that the reader needs is not written by the node. */
export function logDisabled(name: string): Problem {
  return { kind: 'unusable', error: new FatalError('SHIP_LOG_DISABLED', `${name} of the node is off`) }
}

/** The stream continued at `to + 1`, although `from` was next. */
export function rangeMissing(from: number, to: number, status: StatusResult | null): Problem {
  const range = from === to ? `block ${from}` : `blocks ${from} to ${to}`
  const ranges = status === null ? '' : `; it has ${describeRanges(status)}`
  const message = `the node leaves out ${range}, which it should have${ranges}`
  const error = new FatalError('SHIP_RANGE_MISSING', message, { details: { first_num: from, last_num: to } })
  return { kind: 'suspect', error }
}

/** Block `num` follows a block that was never sent. */
export function missedFork(num: number): Problem {
  const message = `block ${num} does not follow the block before it: a fork was missed`
  return { kind: 'missed-fork', num, error: new RetryableError('SHIP_CONNECTION_LOST', message) }
}

/** The node violated a limit of the socket; `num` is the block expected, `limitBytes` the largest message. */
export function limitViolated(limit: SocketLimit, num: number, limitBytes: number): Problem {
  if (limit === 'message-size') return messageTooLarge(num, limitBytes)
  if (limit === 'message-parts') {
    return protocolViolation(`the message for block ${num} comes in too many small fragments`)
  }
  return protocolViolation('the protocol ABI or the status reply of the node is larger than any can be')
}

function messageTooLarge(num: number, limitBytes: number): Problem {
  const message = `the message for block ${num} is larger than ${limitBytes} bytes`
  const error = new FatalError('SHIP_MESSAGE_TOO_LARGE', message, {
    details: { block_num: num, start: num + 1 },
  })
  return { kind: 'unusable', error }
}

/** The configured chain is another one than that of the node; no other node is tried. */
export function chainMismatch(label: string, expected: string, actual: string): FatalError {
  const message = `${label} serves chain ${actual}, configured is ${expected}`
  return new FatalError('CHAIN_MISMATCH', message, {
    details: { expected, actual, held: `chain ${expected}` },
  })
}

/** A fork that reaches a block which can no longer be undone. */
export function forkBelowIrreversible(num: number, floor: number): FatalError {
  const message = `the node replaces block ${num}, but blocks up to ${floor} can no longer be undone`
  return new FatalError('FORK_BELOW_IRREVERSIBLE', message, { details: { block_num: num, floor } })
}
