export { marketRules } from './market-rules.ts'
export { findDerivedViolations, repairDerived } from './check.ts'
export type { DerivedViolations } from './check.ts'
export type { DerivedRule } from './rule.ts'
