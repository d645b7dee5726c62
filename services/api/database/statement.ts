/** What may be bound to a placeholder. 64-bit integers are bound as bigint or decimal text, never as a double. */
export type SqlValue = string | number | boolean | bigint | readonly string[] | readonly number[] | null

/** One SQL statement with its bound values. */
export interface Statement {
  readonly text: string
  readonly values: readonly SqlValue[]
  /**
   * Set where the text never changes: the statement is then prepared once per connection and keeps its plan. Left
   * out where the best plan depends on the values.
   */
  readonly name?: string
  /** Why the planner chose this statement, for the log. */
  readonly reason?: string
  /** The name is made from the text, and says nothing to people. */
  readonly isNamedByText?: boolean
}

/** Collects the values of a statement while its text is being put together. */
export class Bindings {
  readonly values: SqlValue[] = []

  /** Binds a value and returns its placeholder with a cast, for example `$3::bigint[]`. */
  bind(value: SqlValue, cast: string): string {
    this.values.push(value)
    return `$${this.values.length}::${cast}`
  }

  /** Binds 64-bit integers as one array, which the driver then need not quote one by one. */
  bindIds(ids: readonly bigint[]): string {
    return this.bind(`{${ids.join(',')}}`, 'bigint[]')
  }
}

/** Conditions as the text of a WHERE clause with its keyword; empty text for none. */
export function whereClause(conditions: readonly string[]): string {
  return conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`
}
