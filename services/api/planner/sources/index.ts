export type { PageWindow, Branch, Driven, Index, Order, Source } from './source.ts'
export { rowsOfDrivers } from './driven.ts'
export type { DrivenRows } from './driven.ts'
