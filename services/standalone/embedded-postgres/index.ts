export { findServerPort, USER } from './cluster.ts'
export { startEmbeddedPostgres } from './server.ts'
export type { EmbeddedPostgres } from './server.ts'
