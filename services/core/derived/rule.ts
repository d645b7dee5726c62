/** A table whose rows are derived from other tables. */
export interface RecomputedTable {
  readonly table: string
  /** Columns that the rule compares with the recomputed rows, separated by commas. */
  readonly columns: string
  /** Statement that recomputes the rows. The statement returns the columns in the order of `columns`. */
  readonly rows: string
}

/** A condition that the rows of the database must satisfy. */
export interface Rule {
  /** Name of the rule in reports. */
  readonly rule: string
  /** Statement that returns one text for every row that breaks the rule. */
  readonly violations: string
}

/** A condition that derived rows must satisfy. */
export interface DerivedRule extends Rule {
  /** The columns that the rule checks, by table. */
  readonly covers: Readonly<Record<string, readonly string[]>>
  /**
   * Name of rows that the rule reads and that the chain no longer has, such as burned assets. If the rule is broken,
   * the error may be in these rows, so a repair writes nothing.
   */
  readonly restsOn?: string
  /** Table whose rows the rule recomputes completely; absent if the rule recomputes no table. */
  readonly recomputed?: RecomputedTable
  /** Statement that corrects rows that violate the rule. Some violating rows may remain. */
  readonly correction?: string
}

/** Splits a comma-separated list of columns into names, and removes their casts. */
export function columnNames(columns: string): string[] {
  return columns.split(',').map((column) => column.trim().replace(/::.*/, ''))
}

/** Creates the rule that a table has exactly the rows that `rows` recomputes, compared by all columns. */
export function sameRows(rule: string, table: string, columns: string, rows: string): DerivedRule {
  return {
    rule,
    covers: { [table]: columnNames(columns) },
    violations: `
      WITH recomputed AS (${rows}), stored AS (SELECT ${columns} FROM ${table})
      SELECT concat_ws(' ', '${table} lacks', x::text) FROM (TABLE recomputed EXCEPT TABLE stored) x
      UNION ALL SELECT concat_ws(' ', '${table} has besides', x::text) FROM (TABLE stored EXCEPT TABLE recomputed) x`,
    recomputed: { table, columns, rows },
  }
}

/** Marks rules that depend on rows which the chain no longer holds. @param rows name of the rows, for reports. */
export function restingOn(rows: string, rules: readonly DerivedRule[]): DerivedRule[] {
  return rules.map((rule) => ({ ...rule, restsOn: rows }))
}
