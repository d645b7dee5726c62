/** Types that can be bound to a placeholder. 64-bit integers are bound as bigint or decimal text, never as a double. */
export type SqlValue = string | number | boolean | bigint | readonly string[] | readonly number[] | null

/** One SQL statement with its bound values. */
export interface Statement {
  readonly text: string
  readonly values: readonly SqlValue[]
  /**
   * Name of the prepared statement. A statement with a name is planned once per connection. A statement has no name if
   * the best plan depends on the values, or if its text varies.
   */
  readonly name?: string
  /** Reason why the planner chose this statement. Logged. */
  readonly reason?: string
  /** Whether `name` is a hash of the statement's text. A hash is not readable in metrics. */
  readonly isNamedByText?: boolean
}
