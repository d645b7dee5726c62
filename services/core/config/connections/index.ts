export { connectionsSchema } from './connections-schema.ts'
export type { ShipConfig, ConnectionsConfig, SqldbConfig, KvstoreConfig } from './connections-schema.ts'
