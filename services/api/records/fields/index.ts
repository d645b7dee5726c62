export * as field from './field.ts'
export { compileMembers, shapeOf } from './members.ts'
export type { Compiled, Field, Given, Group, Parts, RecordMembers } from './members.ts'
