export { connectDatabase, createPool } from './connection.ts'
export type { DatabaseAddress, DatabaseLimits } from './connection.ts'
export { isMigrated, migrate } from './migrate.ts'
export { buildQueryIndexes, listIndexFamilies, listMissingIndexes } from './query-indexes.ts'
