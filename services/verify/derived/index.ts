export { repairDerived, findDerivedViolations } from './check.ts'
export type { DerivedViolations } from './check.ts'
export { listingFacts } from './listing-facts.ts'
