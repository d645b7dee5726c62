/** What may be bound to a placeholder. 64-bit integers are bound as bigint or decimal text, never as a double. */
export type SqlValue = string | number | boolean | bigint | readonly string[] | readonly number[] | null

/** One SQL statement with its bound values. */
export interface Statement {
  readonly text: string
  readonly values: readonly SqlValue[]
  /**
   * Set where the text never changes: the statement is then prepared once per connection and its plan is reused. Left
   * out where the best plan depends on the values.
   */
  readonly name?: string
  /** Why the planner chose this statement, for the log. */
  readonly reason?: string
  /** The name is derived from the text, and not readable. */
  readonly isNamedByText?: boolean
}
