export { migrateRestored, readApplied, RESTORE_SCHEMA } from '../migrate.ts'
export type { AppliedMigration } from '../migrate.ts'
export { listIndexStatements } from '../query-indexes.ts'
export { checkMigrations, isNewest, publishSchema, recreateSchema } from './schema.ts'
