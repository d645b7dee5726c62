export { findServerPort, USER } from './cluster.ts'
export { hasDatabase, readOwnFile, readPassword } from './data-folder.ts'
export { startEmbeddedPostgres } from './server.ts'
export type { EmbeddedPostgres } from './server.ts'
