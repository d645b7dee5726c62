import { nodeRefusal } from '../../core/chain-node/index.ts'
import { FatalError, RetryableError } from '../../core/errors/index.ts'
import type { PronghornError } from '../../core/errors/index.ts'
import { idToHex } from './block.ts'
import { previousInHeader } from './linkage.ts'
import type { SocketLimit } from './node-socket.ts'
import type { StatusResult, WirePosition } from './types.ts'

/**
 * Reason to close a connection, with the reaction of the session. `lost`: reconnect, without limit. `unusable`: the
 * node cannot serve the reader; fatal once every node is unusable. `suspect`: fatal if all nodes repeat the problem
 * without a block in between. `missed-fork`: reconnect at once; if the reconnect does not help, undo a block.
 */
export interface Problem {
  readonly kind: 'lost' | 'unusable' | 'suspect' | 'missed-fork'
  readonly error: PronghornError
  /** For `missed-fork`: number of the block whose parent is unknown. */
  readonly num?: number
}

/** The connection broke, was closed or went silent. */
export function connectionLost(reason: string, cause?: unknown): Problem {
  return { kind: 'lost', error: new RetryableError('SHIP_CONNECTION_LOST', reason, { cause }) }
}

/**
 * The connection could not be opened, or was closed. If `cause` shows that the node refused the connection, the problem
 * has a separate error code.
 */
export function connectionClosed(label: string, reason: string, cause?: unknown): Problem {
  const refusal = nodeRefusal(cause, label)
  return refusal === null ? connectionLost(reason, cause) : { kind: 'lost', error: refusal }
}

/** The node sent data that violates the state-history protocol. */
export function protocolViolation(message: string, cause?: unknown): Problem {
  return { kind: 'suspect', error: new FatalError('SHIP_PROTOCOL', message, { cause }) }
}

/**
 * The message for block `num` cannot be read, or lacks parts of the block. If `num` is null, no block is expected and
 * the node breaks the protocol.
 */
export function blockUnreadable(message: string, num: number | null, cause?: unknown): Problem {
  if (num === null) return protocolViolation(message, cause)
  const details = { block_num: num, start: num + 1 }
  return { kind: 'suspect', error: new FatalError('SHIP_BLOCK_UNREADABLE', message, { cause, details }) }
}

/** Block `num` came without some of its payloads. A second request does not bring the payloads. */
export function blockIncomplete(
  num: number,
  missing: readonly string[],
  status: StatusResult | null,
): Problem {
  const ranges = status === null ? '' : `; the node reports ${describeRanges(status)}`
  const message = `block ${num} came without ${missing.join(', ')}${ranges}`
  return { ...blockUnreadable(message, num), kind: 'unusable' }
}

/** The protocol ABI in the node's first frame does not compile. */
export function unusableProtocol(cause: unknown): Problem {
  const message = 'the protocol ABI of the state-history node cannot be used'
  return { kind: 'unusable', error: new FatalError('SHIP_PROTOCOL', message, { cause }) }
}

/** Text of the ranges in a node's logs, such as `traces [2, 900), chain state [2, 900)`. */
function describeRanges(status: StatusResult): string {
  const { traceBegin, traceEnd, stateBegin, stateEnd } = status
  return `traces [${traceBegin}, ${traceEnd}), chain state [${stateBegin}, ${stateEnd})`
}

/** The parent that a node names for a block, and the parent in the header of the block. */
interface FalseParent {
  readonly parent: string
  readonly expected: string
}

/**
 * The part of a block that does not match the block id: the header (by its hash), the content (by the Merkle roots in
 * the header), or the parent (by the previous block in the header).
 */
export type FalsePart = 'header' | 'transactions' | 'actions' | FalseParent

/** A part of a block does not match the block id. */
export function blockFalse(label: string, { num, id }: WirePosition, part: FalsePart): Problem {
  const message = `block ${num} from ${label} does not match its id ${idToHex(id)}: ${describePart(part)}`
  return { kind: 'unusable', error: invalidBlock(num, message) }
}

function describePart(part: FalsePart): string {
  if (typeof part === 'object')
    return `the message gives the parent ${part.parent}, the header gives ${part.expected}`
  if (part === 'header') return 'the hash of the header is not the block id'
  return `the Merkle root of the ${part} differs from the root in the header`
}

function invalidBlock(num: number, message: string): FatalError {
  return new FatalError('SHIP_BLOCK_INVALID', message, { details: { block_num: num, start: num + 1 } })
}

interface UnavailableRange {
  readonly message: string
  /** Status reply whose log ranges are appended to the message; null if nothing is appended. */
  readonly status: StatusResult | null
  readonly num: number
  /** First block at which the reader could start on this node. */
  readonly start: number
}

/** The logs of the node do not contain block `num`, which is needed next. */
export function rangeUnavailable({ message, status, num, start }: UnavailableRange): Problem {
  const ranges = status === null ? '' : `; the node reports ${describeRanges(status)}`
  const error = new FatalError('SHIP_RANGE_UNAVAILABLE', `${message}${ranges}`, {
    details: { block_num: num, start },
  })
  return { kind: 'unusable', error }
}

/** The node does not write the log `name`, which the reader needs. */
export function logDisabled(name: string): Problem {
  return { kind: 'unusable', error: new FatalError('SHIP_LOG_DISABLED', `${name} of the node is turned off`) }
}

/** The stream skipped the blocks `from` to `to`. */
export function rangeMissing(from: number, to: number, status: StatusResult | null): Problem {
  const range = from === to ? `block ${from}` : `blocks ${from} to ${to}`
  const ranges = status === null ? '' : `; the node reports ${describeRanges(status)}`
  const message = `the node skips ${range}, although its logs should contain them${ranges}`
  const error = new FatalError('SHIP_RANGE_MISSING', message, {
    details: { first_num: from, last_num: to, start: to + 1 },
  })
  return { kind: 'suspect', error }
}

/** Fields of a block that the message of `missedFork` contains. */
interface UnlinkedBlock {
  readonly num: number
  readonly prevIdBytes: Uint8Array | null
  readonly header: Uint8Array | null
}

/** The parent of a block was never sent: a fork was missed. `expected`: id of the previous block; null if unknown. */
export function missedFork(label: string, block: UnlinkedBlock, expected: Uint8Array | null): Problem {
  const { num, prevIdBytes, header } = block
  const parent = prevIdBytes === null ? previousInHeader(header ?? Buffer.of(), num) : idToHex(prevIdBytes)
  const before = expected === null ? 'another' : idToHex(expected)
  const message = `block ${num} from ${label} does not follow the previous block: the parent is ${parent}, but the previous block is ${before}; the node did not send a fork`
  return { kind: 'missed-fork', num, error: new RetryableError('SHIP_FORK_MISSED', message) }
}

/** Error for block `num`, which still does not link to its parent after the parent was undone and sent again. */
export function neverLinked(num: number, { message }: PronghornError): FatalError {
  return invalidBlock(num, `${message}, or the block is damaged: undoing the previous block did not help`)
}

/** The node exceeded a limit of the socket. `num` is the expected block, `limitBytes` the largest message allowed. */
export function limitViolated(limit: SocketLimit, num: number, limitBytes: number): Problem {
  if (limit === 'message-size') return messageTooLarge(num, limitBytes)
  if (limit === 'message-parts') {
    return blockUnreadable(`the message for block ${num} consists of too many small fragments`, num)
  }
  return protocolViolation('the protocol ABI or the status reply of the node exceeds the size limit')
}

function messageTooLarge(num: number, limitBytes: number): Problem {
  const message = `the message for block ${num} is larger than ${limitBytes} bytes`
  const error = new FatalError('SHIP_MESSAGE_TOO_LARGE', message, {
    details: { block_num: num, start: num + 1 },
  })
  return { kind: 'unusable', error }
}

/** The node serves another chain than the configured one. */
export function chainMismatch(label: string, expected: string, actual: string): FatalError {
  const message = `${label} serves chain ${actual}, but the configuration names chain ${expected}`
  return new FatalError('CHAIN_MISMATCH', message, {
    details: { expected, actual, held: `chain ${expected}` },
  })
}

/**
 * The fork replaces block `num`, but the reader can no longer undo blocks up to `floor`. `unlinked`: the problem of the
 * block that does not follow block `num`.
 */
export function forkBelowIrreversible(num: number, floor: number, unlinked?: PronghornError): FatalError {
  const reason = unlinked?.message ?? `the node replaces block ${num}`
  const message = `${reason}, but blocks up to ${floor} can no longer be undone`
  return new FatalError('FORK_BELOW_IRREVERSIBLE', message, { details: { block_num: num, floor } })
}
