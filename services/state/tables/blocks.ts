import { bytesToHex } from '../../core/bytes/index.ts'
import type { StateSession } from '../chain/index.ts'

/** Comparison operators between a block's time and the requested time. */
export const comparators = ['gt', 'gte', 'lt', 'lte', 'eq'] as const
export type Comparator = (typeof comparators)[number]

/** A block of the stored history. */
export interface BlockRecord {
  /** Block id: 64 hexadecimal digits. */
  readonly id: string
  readonly num: number
  /** Block time, ISO 8601 in UTC. */
  readonly time: string
}

const conditions: Readonly<Record<Comparator, string>> = {
  gt: 'block_time > $1 ORDER BY block_time, block_num',
  gte: 'block_time >= $1 ORDER BY block_time, block_num',
  lt: 'block_time < $1 ORDER BY block_time DESC, block_num DESC',
  lte: 'block_time <= $1 ORDER BY block_time DESC, block_num DESC',
  eq: 'block_time = $1 ORDER BY block_num',
}

/** The nearest block that satisfies the comparison with a time, ms since 1970; null if there is none. */
export async function selectBlockByTime(
  session: StateSession,
  timeMs: number,
  comparator: Comparator,
): Promise<BlockRecord | null> {
  const { rows } = await session.query<{ num: number; time: bigint; id: Buffer }>({
    name: `state-block-${comparator}`,
    text: `SELECT block_num AS num, block_time AS time, block_id AS id FROM state.blocks WHERE ${conditions[comparator]} LIMIT 1`,
    values: [timeMs],
  })
  const row = rows[0]
  if (!row) return null
  return { id: bytesToHex(row.id), num: row.num, time: new Date(Number(row.time)).toISOString() }
}

/** Id of a block of the stored history; null if the block is not stored. */
export async function selectBlockId(session: StateSession, block: number): Promise<string | null> {
  const { rows } = await session.query<{ id: Buffer }>({
    name: 'state-block-id',
    text: 'SELECT block_id AS id FROM state.blocks WHERE block_num = $1',
    values: [block],
  })
  return rows[0] ? bytesToHex(rows[0].id) : null
}
