export { judge } from './compare.ts'
export type { Entry, Reply, Verdict } from './compare.ts'
export { readRuleBook } from './rules.ts'
export type { Json, RuleBook } from './rules.ts'
