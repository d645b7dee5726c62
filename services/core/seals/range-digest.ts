import type pg from 'pg'
import type { RowSource, SealedKind } from './sealed-kinds.ts'

/** Range of blocks, both ends included. */
export interface BlockRange {
  readonly firstBlock: number
  readonly lastBlock: number
}

/** Interval of positions (values of the kind's `position` expression), both ends included. */
export interface Interval {
  readonly low: bigint
  readonly high: bigint
}

/** Count and digest of the rows of a kind in a range of blocks. */
export interface RangeDigest {
  readonly rows: bigint
  /** SHA-256, 32 bytes. */
  readonly digest: Buffer
}

/** Lowest possible value of the `position` expression of sealed rows. */
export const LOWEST_POSITION = -(2n ** 63n)
/** Highest possible value of the `position` expression of sealed rows. */
export const HIGHEST_POSITION = 2n ** 63n - 1n

/** Settings for the transaction that fix the text form of numbers in COPY lines. */
export const PIN_FORMAT = 'SET LOCAL extra_float_digits = 1; SET LOCAL jit = off'

/**
 * SQL aggregate of the seal over rows `h` with the columns of `hashedRow`: the order keys `o0`, `o1`, … and `hash`.
 * Rows with equal order keys are ordered by their hash.
 */
export const sealOf = (kind: SealedKind): string =>
  `sha256(coalesce(string_agg(h.hash, ''::bytea ORDER BY ${[...kind.order.map((_, at) => `h.o${at}`), 'h.hash'].join(', ')}), ''::bytea))`

/** SQL that computes, for a sealed row, the order keys `o0`, `o1`, … and the SHA-256 `hash` of its line. */
export const hashedRow = (kind: SealedKind): string =>
  [
    ...kind.order.map((sql, at) => `${sql} AS o${at}`),
    `sha256(convert_to(${kind.line}, 'UTF8')) AS hash`,
  ].join(', ')

/**
 * Counts and hashes the rows of a kind that have a position in the interval and a block in the range. Rows of an
 * append-only table have no block column: the interval of their global sequences alone selects them.
 */
export async function digestInterval(
  client: pg.ClientBase,
  kind: SealedKind,
  { low, high }: Interval,
  { firstBlock, lastBlock }: BlockRange,
): Promise<RangeDigest> {
  const { blocks, sources } = kind
  const found = sources.map(
    ({ from, scan, settled, position, block }) => `SELECT ${hashedRow(kind)} FROM ${from}
      WHERE ${scan} AND (${settled}) AND ${position} BETWEEN $1::bigint AND $2::bigint AND ${block} BETWEEN $3 AND $4`,
  )
  const { rows } = await client.query<RangeDigest>(
    blocks === null
      ? `SELECT count(*) AS rows, ${sealOf(kind)} AS digest FROM (${found.join(' UNION ALL ')}) h`
      : `SELECT count(*) AS rows, ${sealOf(kind)} AS digest FROM (
           SELECT ${hashedRow(kind)} FROM ${blocks.from} WHERE ${blocks.sequence} BETWEEN $1::bigint AND $2::bigint) h`,
    blocks === null ? [low, high, firstBlock, lastBlock] : [low, high],
  )
  return rows[0]!
}

/** Count and digest of a range whose rows were read. */
export interface FoundRange extends RangeDigest {
  readonly firstBlock: number
}

/** Counts and hashes all rows of a kind that can no longer change, by ranges of blocks, in one pass over the table. */
export async function digestRanges(
  client: pg.ClientBase,
  kind: SealedKind,
  rangeBlocks: number,
  { firstBlock, lastBlock }: BlockRange,
): Promise<FoundRange[]> {
  const { blocks, sources } = kind
  if (blocks !== null) return digestSequences(client, kind, rangeBlocks, { firstBlock, lastBlock })
  const range = ({ block }: RowSource) => `${block} / $1::integer * $1::integer`
  const found = sources.map(
    (source) => `SELECT ${range(source)} AS first, ${hashedRow(kind)} FROM ${source.from}
      WHERE ${source.scan} AND (${source.settled}) AND ${source.block} BETWEEN $2 AND $3`,
  )
  const { rows } = await client.query<FoundRange>(
    `SELECT h.first AS "firstBlock", count(*) AS rows, ${sealOf(kind)} AS digest
     FROM (${found.join(' UNION ALL ')}) h GROUP BY 1 ORDER BY 1`,
    [rangeBlocks, firstBlock, lastBlock],
  )
  return rows
}

/**
 * Hashes rows without a block column. A row belongs to the last block whose first global sequence is not above the
 * global sequence of the row. Rows before the first block belong to the first block.
 */
async function digestSequences(
  client: pg.ClientBase,
  kind: SealedKind,
  rangeBlocks: number,
  wanted: BlockRange,
): Promise<FoundRange[]> {
  const { table, sequence, from } = kind.blocks!
  const { rows: runs } = await client.query<{ low: bigint; high: bigint | null; firstBlock: number }>(
    `SELECT first_seq AS low, lead(first_seq) OVER (ORDER BY first_seq) - 1 AS high, first AS "firstBlock" FROM (
       SELECT first_seq, block_num / $1::integer * $1::integer AS first,
         lag(block_num / $1::integer) OVER (ORDER BY first_seq) AS before FROM ${table}) b
     WHERE before IS DISTINCT FROM first / $1::integer ORDER BY first_seq`,
    [rangeBlocks],
  )
  // If the table of blocks is empty, all rows belong to the range of block 0.
  const all = runs.length > 0 ? runs : [{ low: LOWEST_POSITION, high: null, firstBlock: 0 }]
  const byRange = new Map<number, Interval[]>()
  for (const [at, { low, high, firstBlock }] of all.entries()) {
    if (firstBlock > wanted.lastBlock || firstBlock + rangeBlocks <= wanted.firstBlock) continue
    // If rows of the table of blocks are damaged, the global sequences of a range may form several intervals.
    const interval = { low: at === 0 ? LOWEST_POSITION : low, high: high ?? HIGHEST_POSITION }
    byRange.set(firstBlock, [...(byRange.get(firstBlock) ?? []), interval])
  }
  const ranges: FoundRange[] = []
  for (const [firstBlock, intervals] of byRange) {
    const { rows } = await client.query<RangeDigest>(
      `SELECT count(*) AS rows, ${sealOf(kind)} AS digest FROM (
         SELECT ${hashedRow(kind)} FROM unnest($1::bigint[], $2::bigint[]) r(low, high)
         JOIN ${from} ON ${sequence} BETWEEN r.low AND r.high) h`,
      [intervals.map(({ low }) => low), intervals.map(({ high }) => high)],
    )
    if (rows[0]!.rows > 0n) ranges.push({ firstBlock, ...rows[0]! })
  }
  return ranges.sort((one, other) => one.firstBlock - other.firstBlock)
}
