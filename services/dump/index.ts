export { publish } from './publish/publish.ts'
export type { PublishOptions, PublishProgress, PublishReport } from './publish/publish.ts'
export { restore } from './restore/restore.ts'
export type { RestoreOptions, RestoreProgress, RestoreReport } from './restore/restore.ts'
