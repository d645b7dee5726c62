/** A row of history that differs between the chain and the database. */
export interface HistoryDifference {
  /** Kind of row, see docs/seals.md. */
  readonly kind: string
  /** Values of the key columns, separated by blanks. */
  readonly key: string
  /** `missing`: only the chain has the row; `extra`: only the database has it. */
  readonly problem: 'missing' | 'extra' | 'differs'
  /**
   * Differing columns, as COPY prints them. For a missing or extra row: all columns, null on the side that lacks the
   * row.
   */
  readonly columns: Readonly<
    Record<string, { readonly chain: string | null; readonly database: string | null }>
  >
  /** Reason why a repair cannot write the row; null if a repair can write the row. */
  readonly impossible: string | null
}

/** Counts of a comparison for one kind of row. */
export interface KindCounts {
  /** Number of rows of which all columns were compared. */
  rows: number
  /**
   * Number of rows that the replayed blocks add but that reach their final state in later blocks: only the columns that
   * cannot change any more were compared.
   */
  partly: number
  /**
   * Number of rows that the replayed blocks change and that reach their final state in later blocks: none of their
   * columns was compared.
   */
  skipped: number
  differences: number
}

/** Compares the COPY lines of a row in the chain and in the database, column by column. */
export function differenceOf(
  kind: { readonly name: string; readonly columns: readonly string[] },
  key: string,
  lines: { readonly chain: string | null; readonly database: string | null },
  impossible: string | null = null,
): HistoryDifference {
  const chain = lines.chain?.split('\t')
  const database = lines.database?.split('\t')
  const columns = Object.fromEntries(
    kind.columns.flatMap((column, at) => {
      const values = { chain: chain?.[at] ?? null, database: database?.[at] ?? null }
      return values.chain === values.database ? [] : [[column, values]]
    }),
  )
  const problem = database === undefined ? 'missing' : chain === undefined ? 'extra' : 'differs'
  return { kind: kind.name, key, problem, columns, impossible }
}
