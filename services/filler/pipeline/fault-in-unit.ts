import { operatorFailures } from '../../core/database/index.ts'
import { describeError, FatalError, RetryableError } from '../../core/errors/index.ts'
import type { ErrorCode } from '../../core/errors/index.ts'
import type { UnitBlock } from '../store/index.ts'

/** Where in a unit reading stopped: what has to be read again so that every good block before the fault is committed. */
export interface FaultPlace {
  /** Last block that is to be read again. */
  readonly last: number
  /** True where one of the blocks is bad and it is not known which: each is committed alone, so that the bad one shows. */
  readonly singly: boolean
  /** Address of the node that sent the block whose content could not be applied; null for other faults. */
  readonly node: string | null
}

/** A fatal error of a unit whose other blocks are good. */
export class FaultInUnit extends Error {
  readonly error: unknown
  readonly place: FaultPlace

  constructor(error: unknown, place: FaultPlace) {
    super(describeError(error), { cause: error })
    this.error = error
    this.place = place
  }
}

/** Codes of errors that no block causes: those of the lease, and those that an operator has to mend. */
const causesOutside: ReadonlySet<ErrorCode> = new Set(['READER_LEASE_LOST', ...operatorFailures])

/** Whether a block that is committed may be the cause of an error. */
export function mayBeOfBlock(error: unknown): boolean {
  if (error instanceof RetryableError) return false
  return !(error instanceof FatalError) || !causesOutside.has(error.code)
}

/** An error of a commit with the blocks that it is about, where one of them may be its cause. */
export function namingBlocks(error: unknown, blocks: number, last: UnitBlock): unknown {
  if (!(error instanceof FatalError) || !mayBeOfBlock(error)) return error
  const first = last.num - blocks + 1
  const place = blocks === 1 ? `block ${last.num}` : `blocks ${first} to ${last.num}`
  const hint = blocks === 1 ? `; a start at block ${last.num + 1} leaves out this block only` : ''
  return new FatalError(error.code, `${place}: ${error.message}${hint}`, {
    cause: error.cause,
    details: { ...error.details, first_block: first, last_block: last.num, start: last.num + 1 },
  })
}

/**
 * Reads the good blocks of a unit that failed again, and commits them.
 *
 * @param read reads up to the last block of a place.
 * @param committed the last committed block.
 * @returns the error to end with: the first one, or the more exact one of a block that failed alone.
 */
export async function commitGoodBlocks(
  fault: FaultInUnit,
  read: (place: FaultPlace) => Promise<void>,
  committed: () => number,
): Promise<unknown> {
  let found = fault
  // A fault of a commit may hide one of an earlier block, and each shows which block it is.
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
