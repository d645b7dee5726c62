/** A statement that returns one text for every row that breaks a rule. */
export interface Invariant {
  readonly rule: string
  readonly violations: string
}
