/**
 * Bytes of merged rows after which a unit waits for the database. Two units are in memory at a time: the one that is
 * written and the one that grows.
 */
const MAX_UNIT_BYTES = 32 * 2 ** 20

/** Minimum for a transaction when the database is idle: operations, or the time that changes have waited. */
interface Worth {
  readonly operations: number
  readonly ageMs: number
}

const worthwhile: Worth = { operations: 50_000, ageMs: 1_000 }

/** More than an hour behind, latency does not matter: changes of a row are merged over more blocks. */
const FAR_BEHIND_BLOCKS = 10_000
const worthwhileFarBehind: Worth = { operations: 150_000, ageMs: 3_000 }

/** How long the database may be busy with a unit: what a kill or a lost connection costs, and a stop waits for. */
const UNIT_WRITE_MS = 10_000

/** Operations that a unit may hold before it is known how fast they are written, and however slow that is. */
export const FIRST_UNIT_OPERATIONS = 150_000
const LEAST_UNIT_OPERATIONS = 15_000

/** Contents of a commit unit, and the blocks after it. */
export interface UnitLoad {
  /** Row operations in the unit. */
  readonly operations: number
  /** About how much memory its merged rows take. */
  readonly bytes: number
  /** Blocks of the unit that changed something. */
  readonly changedBlocks: number
  /** Milliseconds since the unit's first block. */
  readonly ageMs: number
  /** Blocks between the unit's last one and the newest that the reader may read. */
  readonly blocksBehind: number
}

/** Decides when an idle database gets the unit. While it is busy the unit grows, so the slower side determines the size of transactions; `groupBlocks` (setting `db_group_blocks`) is the minimum for a transaction, unless the reader is far behind.
 */
export function isWorthCommitting(load: UnitLoad, groupBlocks: number): boolean {
  if (load.blocksBehind <= 1) return true
  const isFar = load.blocksBehind >= FAR_BEHIND_BLOCKS
  if (!isFar && load.changedBlocks >= groupBlocks) return true
  const worth = isFar ? worthwhileFarBehind : worthwhile
  return load.operations >= worth.operations || load.ageMs >= worth.ageMs
}

/** True when the unit must not grow before the database has taken the one before. */
export function isFull(load: UnitLoad, maxOperations: number): boolean {
  return load.bytes >= MAX_UNIT_BYTES || load.operations >= maxOperations
}

/**
 * Operations that the next units may hold, after one was written. What an asset goes through in a unit is written once,
 * so a unit is as large as memory and `UNIT_WRITE_MS` allow.
 *
 * @param maxOperations what units could hold until now.
 */
export function nextUnitOperations(maxOperations: number, operations: number, writeMs: number): number {
  // A small unit says little of how fast a large one is written.
  if (operations < LEAST_UNIT_OPERATIONS) return maxOperations
  const affordable = Math.round((operations * UNIT_WRITE_MS) / Math.max(writeMs, 1))
  return Math.min(Math.max(affordable, LEAST_UNIT_OPERATIONS), maxOperations * 4)
}
