export { linkKind } from './link-records.ts'
export { linkActions, linkLogRecord, linkRecord, toolsConfigRecord } from './link-schemas.ts'
