/** Types that can be bound to a placeholder. 64-bit integers are bound as bigint or decimal text, never as a double. */
export type SqlValue = string | number | boolean | bigint | readonly string[] | readonly number[] | null

/** One SQL statement with its bound values. */
export interface Statement {
  readonly text: string
  readonly values: readonly SqlValue[]
  /**
   * Name of the prepared statement. Set if the text never changes: each connection then plans it once. Omitted if the
   * best plan depends on the values.
   */
  readonly name?: string
  /** Why the planner chose this statement; logged. */
  readonly reason?: string
  /** Whether the name is derived from the text, and so is not readable in metrics. */
  readonly isNamedByText?: boolean
}
