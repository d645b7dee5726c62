/**
 * Size of merged rows at which a unit is full. Two units are in memory at a time: one is written, the next one grows.
 */
const MAX_UNIT_BYTES = 32 * 2 ** 20

/**
 * Thresholds above which an idle database gets the unit: number of operations, or age of the unit's first block in ms.
 */
interface Worth {
  readonly operations: number
  readonly ageMs: number
}

const worthwhile: Worth = { operations: 50_000, ageMs: 1_000 }

/**
 * Distance to the head, in blocks (83 minutes), beyond which a reader does not need low latency. Larger units merge
 * more changes of a row.
 */
const FAR_BEHIND_BLOCKS = 10_000
const worthwhileFarBehind: Worth = { operations: 150_000, ageMs: 3_000 }

/**
 * Target time for writing a unit, ms. The target bounds how long a stop takes, and the work that is lost when
 * the process or the connection is killed.
 */
const UNIT_WRITE_MS = 10_000

/** Limit of operations in a unit before the write speed is known. */
export const FIRST_UNIT_OPERATIONS = 150_000
const LEAST_UNIT_OPERATIONS = 15_000

/** State of a commit unit, and the distance to the newest block that the reader may index. */
export interface UnitLoad {
  /** Number of row operations in the unit. */
  readonly operations: number
  /** Approximate memory of the merged rows, bytes. */
  readonly bytes: number
  /** Number of blocks in the unit that changed something. */
  readonly changedBlocks: number
  /** Milliseconds since the first block was added to the unit. */
  readonly ageMs: number
  /** Number of blocks between the last block of the unit and the newest block that the reader may index. */
  readonly blocksBehind: number
}

/**
 * Whether to commit the unit now, while the database is idle. While the database is busy the unit grows, so the slower
 * of reader and database determines the transaction size. Far behind the head, only the number of operations and the
 * age of the unit decide, so that the transactions are larger.
 *
 * @param groupBlocks setting `db_group_blocks`: a unit with this number of blocks that changed rows, or more, is
 * committed.
 */
export function isWorthCommitting(load: UnitLoad, groupBlocks: number): boolean {
  if (load.blocksBehind <= 1) return true
  const isFar = load.blocksBehind >= FAR_BEHIND_BLOCKS
  if (!isFar && load.changedBlocks >= groupBlocks) return true
  const worth = isFar ? worthwhileFarBehind : worthwhile
  return load.operations >= worth.operations || load.ageMs >= worth.ageMs
}

/** Whether the unit must stop growing until the database has written the previous unit. */
export function isFull(load: UnitLoad, maxOperations: number): boolean {
  return load.bytes >= MAX_UNIT_BYTES || load.operations >= maxOperations
}

/**
 * Limit of operations for the next units, computed from the write time of the last unit. Several changes of an asset in
 * one unit are written once, so units should be as large as memory and `UNIT_WRITE_MS` allow.
 *
 * @param maxOperations the current limit.
 */
export function nextUnitOperations(maxOperations: number, operations: number, writeMs: number): number {
  // The write time of a small unit is mostly fixed cost, so it does not predict the write time of a large unit.
  if (operations < LEAST_UNIT_OPERATIONS) return maxOperations
  const affordable = Math.round((operations * UNIT_WRITE_MS) / Math.max(writeMs, 1))
  return Math.min(Math.max(affordable, LEAST_UNIT_OPERATIONS), maxOperations * 4)
}
