export type { PageWindow, Segment, DrivingTable, Index, Order, Source } from './source.ts'
export { rowsByDrivingTable } from './driving-table.ts'
export type { DrivingRows } from './driving-table.ts'
