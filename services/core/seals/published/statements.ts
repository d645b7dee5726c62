import { hashedRow, sealOf } from '../range-digest.ts'
import type { SealChoice } from '../read-seals.ts'
import { sealedKinds } from '../sealed-kinds.ts'
import type { SealedKind } from '../sealed-kinds.ts'

/**
 * A statement that returns JSON text in a single row and column. The API sends the text as its answer to another
 * installation, which compares the seals in the text with its own seals.
 */
export interface JsonStatement {
  readonly text: string
  readonly values: readonly (number | string | null | readonly string[])[]
}

/** Seals of all chosen kinds in one digest, up to the last block that every kind has sealed. */
export interface SealSummary {
  /** Last block up to which every kind is sealed; -1 if a kind has no seal. */
  readonly sealed_to: number
  readonly rows: string
  /** SHA-256 of the seals, 64 hexadecimal digits. */
  readonly digest: string
  /** Sealed kinds, in ascending order of their names. */
  readonly kinds: readonly SealedTo[]
}

/** Last block up to which a kind of row is sealed. */
export interface SealedTo {
  readonly kind: string
  readonly range_blocks: number
  readonly sealed_to: number
  /** Reason why the kind was sealed again from the start; null if it was not. */
  readonly reason: string | null
}

/** A seal in the JSON that the api serves. */
export interface PublishedSeal {
  readonly first_block: number
  readonly last_block: number
  readonly rows: string
  readonly digest: string
  readonly origin: 'indexed' | 'imported'
}

/** Rows of some blocks of a sealed range: their number, the digests of parts of the blocks, and the rows as lines. */
export interface RangeParts {
  readonly rows: string
  /**
   * Digests of parts of the blocks: each part is a run of consecutive blocks. Parts are ascending, and a part without
   * rows is left out.
   */
  readonly parts: readonly Omit<PublishedSeal, 'origin'>[]
  /**
   * Rows as COPY lines, in the order in which the seal hashes the rows: at most `MOST_LINES` lines, from `offset` on.
   * Null if the request covers several blocks that have more than `MOST_LINES` rows together.
   */
  readonly lines: readonly string[] | null
}

/** Maximum number of seals in an answer. */
export const MOST_SEALS = 1_000
/** Maximum number of rows in an answer of `/seals/rows`, each as one line of text. */
export const MOST_LINES = 100
const MOST_PARTS = 100

const chosen = ({ kinds, from, to }: SealChoice) => [kinds ?? null, from ?? 0, to ?? 2_147_483_647] as const

/** Creates the statement that returns a `SealSummary`. */
export function summaryStatement(choice: SealChoice = {}): JsonStatement {
  return {
    text: `
      WITH d AS MATERIALIZED (SELECT * FROM chain.sealed WHERE $1::text[] IS NULL OR kind = ANY ($1)),
      s AS (
        SELECT s.kind, s.first_block, s.row_count, s.kind || ' ' || s.first_block || ' ' || s.first_block + d.range_blocks - 1
          || ' ' || s.row_count || ' ' || encode(s.digest, 'hex') || E'\\n' AS line
        FROM d JOIN chain.seals s USING (kind)
        WHERE s.first_block + d.range_blocks - 1 <= (SELECT min(sealed_to) FROM d)
          AND s.first_block > $2::bigint - d.range_blocks AND s.first_block <= $3::bigint
      )
      SELECT json_build_object(
        'sealed_to', coalesce((SELECT min(sealed_to) FROM d), -1),
        'rows', coalesce(sum(s.row_count), 0)::text,
        'digest', encode(sha256(convert_to(coalesce(string_agg(s.line, '' ORDER BY s.kind, s.first_block), ''), 'UTF8')), 'hex'),
        'kinds', coalesce((SELECT json_agg(json_build_object('kind', kind, 'range_blocks', range_blocks, 'sealed_to', sealed_to,
          'reason', reason) ORDER BY kind) FROM d), '[]')
      )::text AS json FROM s`,
    values: chosen(choice),
  }
}

/** Creates the statement that returns the seals of a kind, at most `MOST_SEALS`. */
export function sealsStatement(kind: SealedKind, choice: Omit<SealChoice, 'kinds'>): JsonStatement {
  const [, from, to] = chosen(choice)
  return {
    text: `
      SELECT coalesce(json_agg(json_build_object('first_block', first_block, 'last_block', last_block,
        'rows', row_count::text, 'digest', digest, 'origin', origin) ORDER BY first_block), '[]')::text AS json
      FROM (
        SELECT s.first_block, s.first_block + d.range_blocks - 1 AS last_block, s.row_count, encode(s.digest, 'hex') AS digest, s.origin
        FROM chain.seals s JOIN chain.sealed d USING (kind)
        WHERE s.kind = $1 AND s.first_block > $2::bigint - d.range_blocks AND s.first_block <= $3::bigint
        ORDER BY s.first_block LIMIT ${MOST_SEALS}
      ) s`,
    values: [kind.name, from, to],
  }
}

/** Blocks of a sealed range. */
export interface RangePart {
  /** First block of the sealed range. */
  readonly range: number
  readonly from: number
  readonly to: number
  /** Number of rows to skip before the first line of the answer. */
  readonly offset: number
}

/**
 * Creates the statement that returns `RangeParts`.
 *
 * @param isBounded true: scans an index between the positions of the seal. A range without a seal then has no rows.
 * false: scans the whole table, and therefore also finds rows that were changed or added after sealing.
 */
export function partsStatement(
  kind: SealedKind,
  { range, from, to, offset }: RangePart,
  isBounded = true,
): JsonStatement {
  const step = Math.ceil((to - from + 1) / MOST_PARTS)
  const part = (block: string) => `(${block} - $3::integer) / $5::integer AS part`
  const row = `${hashedRow(kind)}, ${kind.line} AS line`
  const [low, high] = ['(SELECT low_position FROM s)', '(SELECT high_position FROM s)']
  const { blocks } = kind
  const rows =
    blocks === null
      ? kind.sources.map(
          ({ from: source, scan, settled, position, block }) => `SELECT ${part(block)}, ${row} FROM ${source}
            WHERE ${scan} AND (${settled}) AND ${block} BETWEEN $3 AND $4${isBounded ? ` AND ${position} BETWEEN ${low} AND ${high}` : ''}`,
        )
      : [
          // Each row looks up its block. A join of blocks and rows would scan the table once for each block, because
          // the only index of logs on the global sequence is a BRIN index.
          `SELECT ${part('b.block_num')}, ${row} FROM ${blocks.from} CROSS JOIN LATERAL (
             SELECT block_num FROM ${blocks.table} b WHERE b.first_seq <= greatest(${blocks.sequence}, (SELECT first FROM i))
             ORDER BY b.first_seq DESC LIMIT 1
           ) b WHERE ${blocks.sequence} BETWEEN (SELECT low FROM i) AND (SELECT high FROM i) AND b.block_num BETWEEN $3 AND $4`,
        ]
  const order = [...kind.order.map((_, at) => `h.o${at}`), 'h.hash'].join(', ')
  return {
    text: `
      WITH s AS MATERIALIZED (SELECT low_position, high_position FROM chain.seals WHERE kind = $1 AND first_block = $2),
      ${blocks === null ? '' : intervalOf(blocks.table, low, high)}
      h AS MATERIALIZED (${rows.join(' UNION ALL ')})
      SELECT json_build_object(
        'rows', (SELECT count(*) FROM h)::text,
        'parts', (SELECT coalesce(json_agg(json_build_object('first_block', p.part * $5 + $3,
            'last_block', least((p.part + 1) * $5 + $3 - 1, $4), 'rows', p.rows::text, 'digest', p.digest) ORDER BY p.part), '[]')
          FROM (SELECT h.part, count(*) AS rows, encode(${sealOf(kind)}, 'hex') AS digest FROM h GROUP BY h.part) p),
        'lines', CASE WHEN $3 = $4 OR (SELECT count(*) FROM h) <= ${MOST_LINES} THEN
          (SELECT coalesce(json_agg(l.line ORDER BY l.n), '[]') FROM (
            SELECT h.line, row_number() OVER (ORDER BY ${order}) AS n FROM h ORDER BY n LIMIT ${MOST_LINES} OFFSET $6) l) END
      )::text AS json`,
    values: [kind.name, range, from, to, step, offset],
  }
}

/**
 * SQL of the interval of global sequences of the blocks `$3` to `$4` in a sealed range. `low` and `high` are the bounds
 * of the interval. `first` is the first sequence of the first block of the range. Sequences of the range below `first`
 * belong to the first block.
 */
function intervalOf(table: string, low: string, high: string): string {
  return `i AS MATERIALIZED (
        SELECT min(b.low) AS low, max(b.high) AS high, min(b.first) AS first FROM (
          SELECT block_num, min(first_seq) OVER () AS first,
            CASE WHEN lag(first_seq) OVER o IS NULL THEN ${low} ELSE first_seq END AS low,
            coalesce(lead(first_seq) OVER o - 1, ${high}) AS high
          FROM ${table} WHERE first_seq BETWEEN ${low} AND ${high} WINDOW o AS (ORDER BY first_seq)
        ) b WHERE b.block_num BETWEEN $3 AND $4
      ),`
}

/** Finds a sealed kind by its name; undefined for an unknown name. */
export const findKind = (name: string): SealedKind | undefined =>
  sealedKinds.find((kind) => kind.name === name)
