export { derivedRules, findDerivedViolations, repairDerived } from './check.ts'
export type { DerivedViolations, RefusedRule } from './check.ts'
