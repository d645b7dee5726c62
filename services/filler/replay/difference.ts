/** A row of history that the chain and the database do not have alike. */
export interface HistoryDifference {
  /** Kind of row, see docs/seals.md. */
  readonly kind: string
  /** Values of the key, with blanks between. */
  readonly key: string
  /** `missing`: the database lacks the row; `extra`: the chain does. */
  readonly problem: 'missing' | 'extra' | 'differs'
  /** Columns that differ, as COPY prints them; null on the side that lacks the row. Of a missing or extra row, all columns. */
  readonly columns: Readonly<
    Record<string, { readonly chain: string | null; readonly database: string | null }>
  >
  /** Why a repair cannot write the row; null when it can. */
  readonly impossible: string | null
}

/** Counts of a comparison for a kind of row. */
export interface KindCounts {
  /** Rows of which all columns were compared. */
  rows: number
  /** Rows that the blocks add and do not settle: the columns that they were added with were compared. */
  partly: number
  /** Number of rows that the replayed blocks change and later blocks settle: none of their columns was compared. */
  skipped: number
  differences: number
}

/** Builds a difference of two lines. */
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
