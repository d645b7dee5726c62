export { assetsCounters } from './assets-counters.ts'
export { missingIds, numberedTables } from './numbered-tables.ts'
export type { NumberedTable } from './numbered-tables.ts'
