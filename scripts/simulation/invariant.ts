/** A query that returns one text for each row that violates a rule. */
export interface Invariant {
  readonly rule: string
  readonly violations: string
}
