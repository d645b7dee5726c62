import type pg from 'pg'
import { digestRanges, HIGHEST_POSITION, LOWEST_POSITION } from './range-digest.ts'
import type { BlockRange } from './range-digest.ts'
import type { SealedKind } from './sealed-kinds.ts'

/** Sets for the session the text form of numbers in COPY lines. */
export async function usePinnedFormat(client: pg.ClientBase): Promise<void> {
  await client.query('SET extra_float_digits = 1; SET jit = off')
}

/** Size of the sealed ranges of a kind, and its last sealed block. */
interface Sealed {
  readonly rangeBlocks: number
  readonly sealedTo: number
}

/**
 * Compares ranges with the rows in the database: recomputes the seal of each range that contains one of the blocks, and
 * replaces the seal if the digest of the rows differs. Runs in the open transaction of the caller.
 *
 * @returns number of seals written or removed.
 */
export async function resealRanges(
  client: pg.ClientBase,
  kinds: readonly SealedKind[],
  ranges: readonly BlockRange[],
): Promise<number> {
  let resealed = 0
  for (const kind of kinds) {
    const { rows } = await client.query<Sealed>(
      'SELECT range_blocks AS "rangeBlocks", sealed_to AS "sealedTo" FROM chain.sealed WHERE kind = $1',
      [kind.name],
    )
    if (rows[0] === undefined) continue
    const { rangeBlocks, sealedTo } = rows[0]
    for (const { firstBlock, lastBlock } of ranges) {
      const first = Math.floor(firstBlock / rangeBlocks) * rangeBlocks
      const last = Math.min(Math.floor(lastBlock / rangeBlocks) * rangeBlocks + rangeBlocks - 1, sealedTo)
      if (first > last) continue
      const found = await digestRanges(client, kind, rangeBlocks, { firstBlock: first, lastBlock: last })
      resealed += await replaceSeals(client, kind, found, { firstBlock: first, lastBlock: last })
    }
  }
  return resealed
}

async function replaceSeals(
  client: pg.ClientBase,
  { name }: SealedKind,
  found: Awaited<ReturnType<typeof digestRanges>>,
  { firstBlock, lastBlock }: BlockRange,
): Promise<number> {
  const firsts = found.map((range) => range.firstBlock)
  const removed = await client.query(
    'DELETE FROM chain.seals WHERE kind = $1 AND first_block BETWEEN $2 AND $3 AND first_block <> ALL ($4::integer[])',
    [name, firstBlock, lastBlock, firsts],
  )
  const written = await client.query(
    `INSERT INTO chain.seals AS s (kind, first_block, row_count, digest, low_position, high_position, origin)
     SELECT $1, f.first_block, f.row_count, f.digest,
       coalesce((SELECT max(b.high_position) FROM chain.seals b WHERE b.kind = $1 AND b.first_block < f.first_block), $5),
       coalesce((SELECT min(b.low_position) FROM chain.seals b WHERE b.kind = $1 AND b.first_block > f.first_block), $6), 'indexed'
     FROM unnest($2::integer[], $3::bigint[], $4::bytea[]) f(first_block, row_count, digest)
     ON CONFLICT (kind, first_block) DO UPDATE
       SET row_count = EXCLUDED.row_count, digest = EXCLUDED.digest, sealed_at = now() WHERE s.digest <> EXCLUDED.digest`,
    [
      name,
      firsts,
      found.map(({ rows }) => rows),
      found.map(({ digest }) => digest),
      LOWEST_POSITION,
      HIGHEST_POSITION,
    ],
  )
  return (removed.rowCount ?? 0) + (written.rowCount ?? 0)
}

/**
 * Sets the origin of imported seals to `indexed`, once all blocks of the seals were compared with the chain.
 *
 * @param kinds kinds without differences.
 * @returns number of changed seals; 0 for a role without write access.
 */
export async function settleImported(
  client: pg.ClientBase,
  kinds: readonly string[],
  ranges: readonly BlockRange[],
): Promise<number> {
  const { rows } = await client.query<{ may: boolean }>(
    `SELECT has_table_privilege('chain.seals', 'UPDATE') AND NOT pg_is_in_recovery() AS may`,
  )
  if (rows[0]?.may !== true) return 0
  const { rowCount } = await client.query(
    `UPDATE chain.seals s SET origin = 'indexed' FROM chain.sealed d
     WHERE d.kind = s.kind AND s.kind = ANY ($1) AND s.origin = 'imported' AND EXISTS (
       SELECT FROM unnest($2::integer[], $3::integer[]) r(first_block, last_block)
       WHERE greatest(s.first_block, 1) >= r.first_block AND s.first_block + d.range_blocks - 1 <= r.last_block)`,
    [kinds, ranges.map(({ firstBlock }) => firstBlock), ranges.map(({ lastBlock }) => lastBlock)],
  )
  return rowCount ?? 0
}
