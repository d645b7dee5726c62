export { noteTask, readTasks } from './tasks.ts'
export type { Task, TaskName } from './tasks.ts'
export { TABLE_SIZES } from './table-sizes.ts'
export type { TableSizeRow } from './table-sizes.ts'
