export * as field from './field.ts'
export { compileMembers, declareRecord, shapeOf } from './members.ts'
export type { Compiled, Field, Given, Group, Parts, PlainRecord, RecordMembers } from './members.ts'
