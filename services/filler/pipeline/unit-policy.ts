/** Operations after which a unit waits for the database, so that memory stays bounded. */
const MAX_UNIT_OPERATIONS = 60_000

/** Longest time that changes wait for more to come with them while catching up. */
const MAX_UNIT_AGE_MS = 1_000

/** What a commit unit holds, and what comes after it. */
export interface UnitLoad {
  /** Row operations in the unit. */
  readonly operations: number
  /** Blocks of the unit that changed something. */
  readonly changedBlocks: number
  /** Milliseconds since the unit's first block. */
  readonly ageMs: number
  /** Blocks between the unit's last one and the newest that the reader may read. */
  readonly blocksBehind: number
}

/**
 * When an idle database gets the unit. While it is busy the unit grows, so that the slower of the two sets the size of
 * transactions by itself; `groupBlocks` (setting `db_group_blocks`) is the least that is worth a transaction.
 */
export function isWorthCommitting(load: UnitLoad, groupBlocks: number): boolean {
  if (load.blocksBehind <= 1) return true
  if (load.changedBlocks >= groupBlocks || load.operations >= MAX_UNIT_OPERATIONS / 4) return true
  return load.ageMs >= MAX_UNIT_AGE_MS
}

/** True when the unit must not grow before the database has taken the one before. */
export function isFull(load: UnitLoad): boolean {
  return load.operations >= MAX_UNIT_OPERATIONS
}
