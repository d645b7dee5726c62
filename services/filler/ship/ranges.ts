import { blockIncomplete, logDisabled, rangeMissing, rangeUnavailable } from './problems.ts'
import type { Problem } from './problems.ts'
import type { BlocksResult, ShipBlock, StatusResult } from './types.ts'

/**
 * A log that ends at least this many blocks before the head is incomplete. A complete log may end one block
 * before the head.
 */
const LOG_LAG_BLOCKS = 2

/** Whether a node can stream from a block, judged by its status reply. */
export type RangeVerdict =
  | { readonly kind: 'ready'; readonly start: number }
  /** The node has not reached the block before the start. */
  | { readonly kind: 'behind' }
  | { readonly kind: 'problem'; readonly problem: Problem }

/**
 * Lowest block that either log contains, 0 if there is none. The block may lack traces or deltas: block 1 and the block
 * of a snapshot have no transactions.
 */
function firstLoggedBlock(status: StatusResult): number {
  if (status.traceBegin === 0 || status.stateBegin === 0)
    return Math.max(status.traceBegin, status.stateBegin)
  return Math.min(status.traceBegin, status.stateBegin)
}

/**
 * Checks that the logs of a node cover a stream from block `start`. If the logs begin at block 2, a start at block 1
 * becomes a start at block 2, because block 1 contains only the genesis state.
 */
export function checkRanges(status: StatusResult, start: number): RangeVerdict {
  if (status.head.num < 2 && start > status.head.num) return { kind: 'behind' }
  const first = firstLoggedBlock(status)
  const disabled = disabledLog(status)
  if (disabled !== null) return { kind: 'problem', problem: logDisabled(disabled) }
  if (start === 1 && first === 2) return checkRanges(status, 2)
  if (start < first) {
    const message = `the node has no blocks before ${first}, but block ${start} is needed`
    return { kind: 'problem', problem: rangeUnavailable({ message, status: null, num: start, start: first }) }
  }
  const complete = Math.max(status.traceBegin, status.stateBegin)
  if (start < complete && complete - first > 1) {
    const message = `the node lacks traces or chain state of blocks before ${complete}, but block ${start} is needed`
    return { kind: 'problem', problem: rangeUnavailable({ message, status, num: start, start: complete }) }
  }
  if (status.head.num + 1 < start) return { kind: 'behind' }
  const end = Math.min(status.traceEnd, status.stateEnd)
  if (start >= end && status.head.num >= end + LOG_LAG_BLOCKS) {
    const message = `a log of the node ends before block ${end}, but block ${start} is needed`
    return {
      kind: 'problem',
      problem: rangeUnavailable({ message, status, num: start, start: status.head.num }),
    }
  }
  return { kind: 'ready', start }
}

/**
 * Interprets a result without a block while block `next` is expected. Null if the node has no block to send yet; a
 * problem if block `next` is missing.
 */
export function missingBlock(
  result: BlocksResult,
  next: number,
  limits: { readonly irreversibleOnly: boolean; readonly stopBlock: number },
  status: StatusResult | null,
): Problem | null {
  const { head, lib } = result
  const sendable = limits.irreversibleOnly ? Math.min(head.num, lib.num) : head.num
  return next > Math.min(sendable, limits.stopBlock) ? null : rangeMissing(next, next, status)
}

/** Whether a block lacks a requested payload. */
export function isIncomplete(block: ShipBlock): boolean {
  return block.header === null || block.traces === null || block.deltas === null
}

/**
 * Returns the problem of a block that lacks a payload: the log of the payload is off or pruned. Null for block 1 and
 * for the first block of a log, which normally lack a payload.
 */
export function missingPayload(block: ShipBlock, status: StatusResult | null): Problem | null {
  if (block.num === 1 || block.num === status?.traceBegin || block.num === status?.stateBegin) return null
  const payloads = [
    ['block', block.header],
    ['traces', block.traces],
    ['deltas', block.deltas],
  ] as const
  const missing = payloads.filter(([, payload]) => payload === null).map(([name]) => name)
  return blockIncomplete(block.num, missing, status)
}

function disabledLog(status: StatusResult): string | null {
  if (status.traceBegin === 0 && status.traceEnd === 0) return 'the trace log (trace-history)'
  if (status.stateBegin === 0 && status.stateEnd === 0) return 'the chain state log (chain-state-history)'
  return null
}
