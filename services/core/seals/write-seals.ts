import type pg from 'pg'
import {
  digestInterval,
  digestRanges,
  HIGHEST_POSITION,
  LOWEST_POSITION,
  PIN_FORMAT,
} from './range-digest.ts'
import type { Interval, RangeDigest } from './range-digest.ts'
import type { RowSource, SealedKind } from './sealed-kinds.ts'

/** Number of blocks that one seal covers. */
export const SEAL_BLOCKS = 10_000

/** Options for sealing one kind of row. */
export interface Sealing {
  readonly reader: string
  readonly kind: SealedKind
  /** Number of blocks in a range of a kind without seals. Once a kind has seals, the size of its ranges is fixed. */
  readonly rangeBlocks: number
  /** Runs in the transaction that writes a seal. Throws if this process may no longer write rows for the reader. */
  readonly checkRight: (client: pg.ClientBase) => Promise<void>
}

/** State of a kind's sealing, a row of `chain.sealed`. */
interface Progress {
  readonly rangeBlocks: number
  readonly sealedTo: number
  readonly nextPosition: bigint
}

/** Names of the readers that seal a kind: one reader, or all readers for rows that readers share. */
interface Owners {
  readonly names: string
  /** Newest block that no fork can undo for any of the readers; null if one of the readers has no block yet. */
  readonly settledTo: number | null
}

/** Next seal of a kind and the new state of its sealing, before both are written. */
interface Found {
  /**
   * State of the sealing before this seal; null if the kind has no seals, or if sealing starts again from the
   * first range.
   */
  readonly before: Progress | null
  /** Reason for sealing again from the start. */
  readonly reason: string | null
  readonly owners: string
  readonly after: Progress
  readonly firstBlock: number
  /** The seal of the range; null if the range has no rows. */
  readonly seal: (RangeDigest & Interval) | null
}

/**
 * Seals one range of a kind: the next range that has rows, if no fork can undo any block of the range.
 *
 * The client must not be in a transaction.
 * @returns whether another range may follow.
 */
export async function sealNext(client: pg.ClientBase, sealing: Sealing): Promise<boolean> {
  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
  let found: Found | null
  try {
    await client.query(PIN_FORMAT)
    found = await findNext(client, sealing)
  } finally {
    await client.query('ROLLBACK').catch(() => undefined)
  }
  if (found === null) return false
  await write(client, sealing, found)
  return true
}

async function readOwners(client: pg.ClientBase, { kind, reader }: Sealing): Promise<Owners> {
  const { rows } = await client.query<Owners>(
    `SELECT coalesce(string_agg(r.name, ',' ORDER BY r.name), '') AS names,
       CASE WHEN bool_and(b.oldest IS NOT NULL) THEN min(b.oldest) END AS "settledTo"
     FROM chain.readers r CROSS JOIN LATERAL (
       SELECT min(b.block_num) AS oldest FROM chain.reversible_blocks b WHERE b.reader = r.name) b
     WHERE $1::text IS NULL OR r.name = $1`,
    [kind.family === 'chain' ? null : reader],
  )
  return rows[0]!
}

async function findNext(client: pg.ClientBase, sealing: Sealing): Promise<Found | null> {
  const { kind } = sealing
  const { names, settledTo } = await readOwners(client, sealing)
  if (settledTo === null) return null
  const { rows } = await client.query<Progress & { readonly reader: string }>(
    `SELECT range_blocks AS "rangeBlocks", sealed_to AS "sealedTo", next_position AS "nextPosition", reader
     FROM chain.sealed WHERE kind = $1`,
    [kind.name],
  )
  const former = rows[0]
  const isAnew = former !== undefined && former.reader !== names
  const before = former === undefined || isAnew ? null : former
  const start = before ?? { rangeBlocks: sealing.rangeBlocks, sealedTo: -1, nextPosition: LOWEST_POSITION }
  const { rangeBlocks, sealedTo, nextPosition } = start
  const lastEnd = Math.floor((settledTo + 1) / rangeBlocks) * rangeBlocks - 1
  if (lastEnd <= sealedTo) return null
  const next = await firstFrom(client, kind.sources, nextPosition, sealedTo + 1)
  const firstBlock = Math.floor((next?.block ?? Infinity) / rangeBlocks) * rangeBlocks
  const common = {
    before,
    reason: isAnew
      ? `the readers of the rows of ${kind.name} were ${former.reader}, and are now ${names}`
      : null,
    owners: names,
  }
  if (firstBlock > lastEnd)
    return { ...common, after: { ...start, sealedTo: lastEnd }, firstBlock: lastEnd + 1, seal: null }
  const range = { firstBlock, lastBlock: firstBlock + rangeBlocks - 1 }
  const beyond = await firstFrom(client, kind.sources, nextPosition, range.lastBlock + 1)
  // Continue the next search at a position of the sealed blocks, not of later blocks: a fork may replace rows of later
  // blocks by rows with lower positions.
  const position = await lastUpTo(client, kind.sources, nextPosition, range.lastBlock)
  // Rows before the first row of the table of blocks belong to the first block. The first seal therefore begins at the
  // lowest position.
  const low = kind.blocks === null || nextPosition === LOWEST_POSITION ? nextPosition : next!.position
  const high = beyond === null ? HIGHEST_POSITION : beyond.position - (kind.blocks === null ? 0n : 1n)
  const digest = await digestInterval(client, kind, { low, high }, range)
  const after = { rangeBlocks, sealedTo: range.lastBlock, nextPosition: position }
  return { ...common, after, firstBlock, seal: digest.rows === 0n ? null : { ...digest, low, high } }
}

/**
 * Searches the rows with a position from `position` on and a block from `block` on. Returns the lowest position and the
 * lowest block of these rows; null if there are no such rows.
 */
async function firstFrom(
  client: pg.ClientBase,
  sources: readonly RowSource[],
  position: bigint,
  block: number,
): Promise<{ readonly position: bigint; readonly block: number } | null> {
  const found = sources.map(
    (
      source,
    ) => `(SELECT (${source.position})::bigint AS position, ${source.block} AS block FROM ${source.from}
      WHERE ${source.scan} AND ${source.position} >= $1::bigint AND ${source.block} >= $2 ORDER BY ${source.position} LIMIT 1)`,
  )
  const { rows } = await client.query<{ position: bigint | null; block: number | null }>(
    `SELECT min(position) AS position, min(block) AS block FROM (${found.join(' UNION ALL ')}) f`,
    [position, block],
  )
  const { position: first, block: lowest } = rows[0]!
  return first === null || lowest === null ? null : { position: first, block: lowest }
}

/** Returns the highest position, from `position` on, of the rows in blocks up to `block`. */
async function lastUpTo(
  client: pg.ClientBase,
  sources: readonly RowSource[],
  position: bigint,
  block: number,
): Promise<bigint> {
  const found = sources.map((source) => {
    const { from, scan, position: at, block: own } = source
    const beyond = `(SELECT ${at} FROM ${from} WHERE ${scan} AND ${at} >= $1::bigint AND ${own} > $2 ORDER BY ${at} LIMIT 1)`
    return `SELECT max(${at})::bigint AS position FROM ${from}
      WHERE ${scan} AND ${at} >= $1::bigint AND ${own} <= $2 AND ${at} <= coalesce(${beyond}, ${HIGHEST_POSITION})`
  })
  const { rows } = await client.query<{ position: bigint | null }>(
    `SELECT max(position) AS position FROM (${found.join(' UNION ALL ')}) f`,
    [position, block],
  )
  return rows[0]!.position ?? position
}

/** Writes a seal, unless another reader has written it meanwhile. */
async function write(client: pg.ClientBase, sealing: Sealing, found: Found): Promise<void> {
  const { kind, checkRight } = sealing
  const { before, reason, owners, after, firstBlock, seal } = found
  await client.query('BEGIN')
  try {
    await checkRight(client)
    if (reason !== null) await client.query('DELETE FROM chain.sealed WHERE kind = $1', [kind.name])
    const values = [kind.name, owners, after.rangeBlocks, after.sealedTo, after.nextPosition]
    const { rowCount } =
      before === null
        ? await client.query(
            `INSERT INTO chain.sealed (kind, reader, range_blocks, sealed_to, next_position, reason)
             VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING`,
            [...values, reason],
          )
        : await client.query(
            `UPDATE chain.sealed SET sealed_to = $4, next_position = $5
             WHERE kind = $1 AND reader = $2 AND range_blocks = $3 AND sealed_to = $6`,
            [...values, before.sealedTo],
          )
    if (rowCount === 1 && seal !== null) await insertSeals(client, sealing, [{ ...seal, firstBlock }])
    await client.query('COMMIT')
  } catch (error) {
    await client.query('ROLLBACK').catch(() => undefined)
    throw error
  }
}

interface NewSeal extends RangeDigest, Interval {
  readonly firstBlock: number
}

/** Adds seals. Ranges with an imported block have the origin `imported`. */
async function insertSeals(
  client: pg.ClientBase,
  { kind, reader }: Sealing,
  seals: readonly NewSeal[],
): Promise<void> {
  await client.query(
    `INSERT INTO chain.seals (kind, first_block, row_count, digest, low_position, high_position, origin)
     SELECT $1, s.*, CASE WHEN EXISTS (
       SELECT FROM chain.imports WHERE reader = $2 AND kind = 'database' AND block_num >= s.first_block) THEN 'imported' ELSE 'indexed' END
     FROM unnest($3::integer[], $4::bigint[], $5::bytea[], $6::bigint[], $7::bigint[]) s(first_block)`,
    [
      kind.name,
      reader,
      seals.map(({ firstBlock }) => firstBlock),
      seals.map(({ rows }) => rows),
      seals.map(({ digest }) => digest),
      seals.map(({ low }) => low),
      seals.map(({ high }) => high),
    ],
  )
}

/**
 * Seals all irreversible ranges of a kind in one scan of its rows, without an index; does nothing for a kind that has
 * seals. Runs at the end of an import, when rows exist and indexes do not.
 *
 * The client must not be in a transaction.
 */
export async function sealAtOnce(client: pg.ClientBase, sealing: Sealing): Promise<void> {
  const { kind, rangeBlocks, checkRight } = sealing
  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ')
  try {
    await client.query(PIN_FORMAT)
    await checkRight(client)
    const { names, settledTo } = await readOwners(client, sealing)
    const lastBlock = Math.floor(((settledTo ?? -1) + 1) / rangeBlocks) * rangeBlocks - 1
    const { rowCount } = await client.query(
      `INSERT INTO chain.sealed (kind, reader, range_blocks, sealed_to, next_position)
       SELECT $1, $2, $3, $4, $5 WHERE $4 >= 0 ON CONFLICT DO NOTHING`,
      [kind.name, names, rangeBlocks, lastBlock, LOWEST_POSITION],
    )
    if (rowCount === 1) {
      const digests = await digestRanges(client, kind, rangeBlocks, { firstBlock: 0, lastBlock })
      const intervals = await readIntervals(client, sealing, lastBlock)
      const seals = digests.map((digest) => ({ ...digest, ...intervals.get(digest.firstBlock)! }))
      await insertSeals(client, sealing, seals)
      await client.query('UPDATE chain.sealed SET next_position = $2 WHERE kind = $1', [
        kind.name,
        [...intervals.values()].at(-1)?.last ?? LOWEST_POSITION,
      ])
    }
    await client.query('COMMIT')
  } catch (error) {
    await client.query('ROLLBACK').catch(() => undefined)
    throw error
  }
}

/** Reads the first and last position of the rows of each range up to `lastBlock`, ranges ascending. */
async function readIntervals(
  client: pg.ClientBase,
  { kind, rangeBlocks }: Sealing,
  lastBlock: number,
): Promise<Map<number, Interval & { readonly last: bigint }>> {
  const found = kind.sources.map(
    ({ from, scan, position, block }) => `SELECT ${block} / $1::integer * $1::integer AS first,
      min(${position})::bigint AS low, max(${position})::bigint AS high FROM ${from} WHERE ${scan} AND ${block} <= $2 GROUP BY 1`,
  )
  const { rows } = await client.query<{ first: number; low: bigint; high: bigint }>(
    `SELECT first, min(low) AS low, max(high) AS high FROM (${found.join(' UNION ALL ')}) f GROUP BY 1 ORDER BY 1`,
    [rangeBlocks, lastBlock],
  )
  const beyond =
    kind.blocks === null ? null : await firstFrom(client, kind.sources, LOWEST_POSITION, lastBlock + 1)
  return new Map(
    rows.map(({ first, low, high }, at) => {
      if (kind.blocks === null) return [first, { low, high, last: high }]
      // A row belongs to the last block that begins at or before the row's global sequence. The rows of a range
      // therefore end before the first global sequence of the next range. Rows before the first block belong to the
      // first range.
      const next = rows[at + 1]?.low ?? beyond?.position
      return [
        first,
        {
          low: at === 0 ? LOWEST_POSITION : low,
          high: next === undefined ? HIGHEST_POSITION : next - 1n,
          last: high,
        },
      ]
    }),
  )
}
