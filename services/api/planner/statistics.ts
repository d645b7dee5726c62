import pg from 'pg'
import type { Session } from '../database/index.ts'

/** PostgreSQL's statistics of a column from the last ANALYZE. */
interface ColumnStatistics {
  /** Share of null values. */
  readonly nulls: number
  /** Number of distinct values. */
  readonly distinct: number
  /** Frequency of each of the most common values; for an array column, of each of the most common elements. */
  readonly common: ReadonlyMap<string, number>
  /** Share of the rows whose value is neither null nor one of the most common values. */
  readonly rest: number
  /** Histogram bounds of the values that are not most common. About the same number of rows lies between two bounds. */
  readonly bounds: readonly string[]
}

interface TableStatistics {
  readonly rows: number
  /** Rows of `pg_stats` for each column: one row for each partition of the table. */
  readonly read: ReadonlyMap<string, readonly Row[]>
  /** Parsed statistics of the columns that lists have used. */
  readonly columns: Map<string, ColumnStatistics>
}

/** Arrays stay text until a column is used: parsing the arrays of all columns at once would delay requests. */
type Row = readonly [
  table: string,
  rows: number,
  column: string | null,
  nulls: number,
  distinct: number,
  common: string | null,
  shares: string | null,
  bounds: string | null,
]

const TEXT_ARRAY_OID = 1009
const typeParser = pg.types.getTypeParser as (oid: number) => unknown
const readArray = typeParser(TEXT_ARRAY_OID) as (text: string) => string[]

/**
 * Lifetime of cached statistics, ms. Statistics are shares of the rows, which change slowly. A read of the statistics
 * adds one statement to a request.
 */
const LIFE_MS = 60_000
/** Assumed share of rows that pass a test if the column has no statistics or no histogram. */
const UNSAMPLED = 0.01
/** Assumed share of the rows that have a given array element, if the element is not among the most common elements. */
const RARE_ELEMENT = 1e-5

/**
 * `$1`: tables; partitions count for their parent. `$2`: requested jsonb columns, with their tables. `OFFSET 0` is an
 * optimization fence: without it PostgreSQL reads the statistics of all tables first.
 */
const STATISTICS = `SELECT (n.nspname || '.' || coalesce(p.relname, c.relname)), greatest(c.reltuples, 0)::float8, s.attname::text,
    s.null_frac::float8, s.n_distinct::float8,
    coalesce(s.most_common_elems, s.most_common_vals)::text,
    coalesce(s.most_common_elem_freqs, s.most_common_freqs)::text,
    CASE WHEN s.most_common_elems IS NULL THEN s.histogram_bounds::text END
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    LEFT JOIN pg_inherits i ON i.inhrelid = c.oid LEFT JOIN pg_class p ON p.oid = i.inhparent
    LEFT JOIN LATERAL (SELECT s.* FROM pg_stats s
      WHERE s.schemaname = n.nspname AND s.tablename = c.relname AND NOT s.inherited
        AND (s.schemaname || '.' || s.tablename || '.' || s.attname = ANY($2::text[]) OR NOT EXISTS (SELECT FROM pg_attribute a
          WHERE a.attrelid = c.oid AND a.attname = s.attname AND a.atttypid = 'jsonb'::regtype)) OFFSET 0) s ON true
  WHERE c.relkind = 'r' AND (n.nspname || '.' || coalesce(p.relname, c.relname)) = ANY($1::text[])`

/**
 * Row estimates from PostgreSQL's statistics: rows of a table, and how many of them have a value. The statistics are
 * read once a minute, so estimates cost no statement of their own.
 */
export class Statistics {
  readonly #tables: readonly string[]
  readonly #jsonColumns: readonly string[]
  #known: ReadonlyMap<string, TableStatistics> = new Map()
  #readAt = -Infinity

  /**
   * @param tables schema-qualified names.
   * @param jsonColumns jsonb columns whose sampled values are loaded, for example `assets.assets.mutable_data`.
   */
  constructor(tables: readonly string[], jsonColumns: readonly string[] = []) {
    this.#tables = tables
    this.#jsonColumns = jsonColumns
  }

  /** Reads the statistics if they are older than a minute. */
  async refresh(session: Session): Promise<void> {
    const now = performance.now()
    if (now - this.#readAt < LIFE_MS) return
    // `#readAt` is set before the query, so that concurrent requests use the old statistics instead of querying too.
    this.#readAt = now
    const rows = await session.query<Row>({
      name: 'list-statistics',
      text: STATISTICS,
      values: [this.#tables, this.#jsonColumns],
    })
    this.#known = collect(rows)
  }

  /** Forgets all statistics, because a reconnect can lead to another database. */
  clear(): void {
    this.#known = new Map()
    this.#readAt = -Infinity
  }

  /** Estimated rows of a table, at least 1. */
  rows(table: string): number {
    return Math.max(1, this.#known.get(table)?.rows ?? 1)
  }

  #column(table: string, column: string): ColumnStatistics | undefined {
    const known = this.#known.get(table)
    const parts = known?.read.get(column)
    if (!parts) return undefined
    let statistics = known!.columns.get(column)
    if (!statistics) known!.columns.set(column, (statistics = merged(parts, known!.rows)))
    return statistics
  }

  /** Estimated rows whose column has one of the values. The value null stands for rows without a value. */
  equal(table: string, column: string, values: readonly (string | number | bigint | null)[]): number {
    const rows = this.rows(table)
    const known = this.#column(table, column)
    if (!known) return rows * Math.min(1, 0.01 * values.length)
    const share = values.reduce<number>((sum, value) => {
      if (value === null) return sum + known.nulls
      const common = known.common.get(String(value))
      return sum + (common ?? rareShare(known))
    }, 0)
    return Math.min(rows, rows * share)
  }

  /** Estimated rows whose array contains the element. */
  containing(table: string, column: string, element: string | number | bigint): number {
    const rows = this.rows(table)
    const known = this.#column(table, column)
    return rows * (known?.common.get(String(element)) ?? Math.min(RARE_ELEMENT, lowest(known)))
  }

  /**
   * Estimated rows whose value passes a test. Runs the test on PostgreSQL's samples: the most common values, and the
   * histogram bounds of the other values.
   */
  sampled(table: string, column: string, test: (value: string) => boolean): number {
    const rows = this.rows(table)
    const known = this.#column(table, column)
    if (!known) return rows * UNSAMPLED
    let share = 0
    for (const [value, own] of known.common) if (test(value)) share += own
    const { bounds, rest } = known
    const matching = bounds.filter(test).length
    share += bounds.length > 0 ? (rest * Math.max(matching, 0.3)) / bounds.length : rest * UNSAMPLED
    return Math.max(1, rows * share)
  }

  /**
   * Estimated rows whose value in a numeric column is between two inclusive bounds. An undefined bound does not limit
   * the values.
   */
  between(table: string, column: string, low: bigint | undefined, high: bigint | undefined): number {
    const rows = this.rows(table)
    const known = this.#column(table, column)
    if (!known) return rows / 3
    const isWithin = (value: bigint): boolean =>
      (low === undefined || value >= low) && (high === undefined || value <= high)
    let share = 0
    for (const [value, own] of known.common) if (isWithin(BigInt(value))) share += own
    const bounds = known.bounds.map(BigInt)
    if (bounds.length < 2) return rows * share
    const upTo = (limit: bigint | undefined, beyond: number): number =>
      limit === undefined ? beyond : place(bounds, limit)
    const part = Math.max(0, upTo(high, 1) - upTo(low, 0))
    // Rows newer than the last ANALYZE lie outside the histogram: assume at least one row.
    return rows * Math.max(share + known.rest * part, 1 / Math.max(rows, 1))
  }
}

/** Share of the histogram's rows below a value. */
function place(bounds: readonly bigint[], value: bigint): number {
  const last = bounds.length - 1
  if (value <= bounds[0]!) return 0
  if (value >= bounds[last]!) return 1
  let low = 0
  let high = last
  while (high - low > 1) {
    const middle = (low + high) >>> 1
    if (bounds[middle]! <= value) low = middle
    else high = middle
  }
  const width = bounds[high]! - bounds[low]!
  const inside = width === 0n ? 0 : Number(value - bounds[low]!) / Number(width)
  return (low + inside) / last
}

function rareShare({ common, rest, distinct }: ColumnStatistics): number {
  const others = distinct - common.size
  // If all distinct values are among the most common values, almost no row has another value.
  return others < 1 ? 0 : rest / others
}

function lowest(known: ColumnStatistics | undefined): number {
  return known && known.common.size > 0 ? Math.min(...known.common.values()) / 2 : 1
}

function collect(rows: readonly Row[]): Map<string, TableStatistics> {
  const tables = new Map<string, Map<string, Row[]>>()
  const sizes = new Map<string, Map<string, number>>()
  rows.forEach((row) => {
    const columns = tables.get(row[0]) ?? new Map<string, Row[]>()
    tables.set(row[0], columns)
    const size = sizes.get(row[0]) ?? new Map<string, number>()
    sizes.set(row[0], size)
    const column = row[2] ?? ''
    columns.set(column, [...(columns.get(column) ?? []), row])
    size.set(column, (size.get(column) ?? 0) + row[1])
  })
  return new Map(
    [...tables].map(([table, columns]) => {
      const rows = Math.max(...sizes.get(table)!.values())
      return [table, { rows, read: columns, columns: new Map() }]
    }),
  )
}

/**
 * Merges the statistics of a column over the partitions of its table.
 * @param count rows of all partitions.
 */
function merged(parts: readonly Row[], count: number): ColumnStatistics {
  const common = new Map<string, number>()
  let nulls = 0
  let distinct = 0
  const histograms: string[][] = []
  for (const [, rows, , nullShare, distinctOf, values, shares, bounds] of parts) {
    const weight = count === 0 ? 0 : rows / count
    nulls += nullShare * weight
    distinct = Math.max(distinct, distinctOf < 0 ? -distinctOf * count : distinctOf)
    const shareOf = shares === null ? [] : readArray(shares).map(Number)
    const texts = values === null ? [] : readArray(values)
    texts.forEach((value, index) => {
      common.set(value, (common.get(value) ?? 0) + (shareOf[index] ?? 0) * weight)
    })
    if (bounds !== null) histograms.push(readArray(bounds))
  }
  const bounds = histograms.length > 1 ? spanOf(histograms) : (histograms[0] ?? [])
  const commonShare = [...common.values()].reduce((sum, share) => sum + share, 0)
  return { nulls, distinct, common, rest: Math.max(0, 1 - nulls - commonShare), bounds }
}

/**
 * Merges the histogram bounds of several partitions by sorting them. Valid because about the same number of rows lies
 * between two bounds of each partition.
 */
function spanOf(histograms: readonly (readonly string[])[]): string[] {
  const all = histograms.flat()
  if (!all.every((value) => /^-?\d+$/.test(value))) return all.sort()
  return all.sort((a, b) => (BigInt(a) < BigInt(b) ? -1 : 1))
}
