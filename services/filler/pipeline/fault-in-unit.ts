import { operatorFailures } from '../../core/database/index.ts'
import { describeError, FatalError, RetryableError } from '../../core/errors/index.ts'
import type { ErrorCode } from '../../core/errors/index.ts'
import type { UnitBlock } from '../store/index.ts'

/**
 * Position of a fault in a commit unit, and the blocks to read again so that every good block before the fault is
 * committed.
 */
export interface FaultPlace {
  /** Last block to read again. */
  readonly last: number
  /**
   * True if a block of the unit is bad but its number is unknown. Each block is then committed alone, to find the bad
   * block.
   */
  readonly singly: boolean
  /** Address of the node that sent a block that could not be applied; null for other faults. */
  readonly node: string | null
}

/** A fatal error in a commit unit that also contains good blocks. */
export class FaultInUnit extends Error {
  readonly error: unknown
  readonly place: FaultPlace

  constructor(error: unknown, place: FaultPlace) {
    super(describeError(error), { cause: error })
    this.error = error
    this.place = place
  }
}

/** Error codes that no block can cause: a lost lease, and failures that an operator has to repair. */
const causesOutside: ReadonlySet<ErrorCode> = new Set(['READER_LEASE_LOST', ...operatorFailures])

/** Whether the content of a block may have caused the error. */
export function mayBeOfBlock(error: unknown): boolean {
  if (error instanceof RetryableError) return false
  return !(error instanceof FatalError) || !causesOutside.has(error.code)
}

/** Adds the block numbers of the commit to the error, if one of the blocks may have caused it. */
export function namingBlocks(error: unknown, blocks: number, last: UnitBlock): unknown {
  if (!(error instanceof FatalError) || !mayBeOfBlock(error)) return error
  const first = last.num - blocks + 1
  const place = blocks === 1 ? `block ${last.num}` : `blocks ${first} to ${last.num}`
  const hint = blocks === 1 ? `; a start at block ${last.num + 1} leaves out only block ${last.num}` : ''
  return new FatalError(error.code, `${place}: ${error.message}${hint}`, {
    cause: error.cause,
    details: { ...error.details, first_block: first, last_block: last.num, start: last.num + 1 },
  })
}

/**
 * Reads the good blocks of a failed unit again and commits them.
 *
 * @param read reads and commits up to `place.last`.
 * @param committed number of the last committed block.
 * @returns the error to report: the first error, or the more precise error of a block that failed alone.
 */
export async function commitGoodBlocks(
  fault: FaultInUnit,
  read: (place: FaultPlace) => Promise<void>,
  committed: () => number,
): Promise<unknown> {
  let found = fault
  // The error of a commit can hide an error in an earlier block. So a repeated read may fail, too, at a more precise
  // position.
  for (let step = 0; step < MOST_STEPS && found.place.last > committed(); step++) {
    try {
      await read(found.place)
      break
    } catch (error) {
      if (!(error instanceof FaultInUnit)) return error instanceof RetryableError ? found.error : error
      found = error
    }
  }
  return found.error
}

const MOST_STEPS = 3
