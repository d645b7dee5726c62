/** A table whose rows follow from others: what they should be is made anew. */
export interface RecomputedTable {
  readonly table: string
  /** All columns that are compared. */
  readonly columns: string
  /** Statement that makes the rows anew, in the order of the columns. */
  readonly rows: string
}

/** What follows from other rows of the database. */
export interface DerivedRule {
  readonly rule: string
  /** Statement that returns one text for every row that breaks the rule. */
  readonly violations: string
  /** The table that can be made anew as a whole. */
  readonly recomputed?: RecomputedTable
  /** Statement that makes rows keep the rule which only this rule speaks of. */
  readonly correction?: string
}

/** Kept rows against the rows that `rows` makes anew; all columns are compared. */
export function sameRows(rule: string, table: string, columns: string, rows: string): DerivedRule {
  return {
    rule,
    violations: `
      WITH made AS (${rows}), kept AS (SELECT ${columns} FROM ${table})
      SELECT concat_ws(' ', '${table} lacks', x::text) FROM (TABLE made EXCEPT TABLE kept) x
      UNION ALL SELECT concat_ws(' ', '${table} has besides', x::text) FROM (TABLE kept EXCEPT TABLE made) x`,
    recomputed: { table, columns, rows },
  }
}
