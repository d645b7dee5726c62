import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startEmbeddedPostgres } from '../../services/standalone/index.ts'
import type { EmbeddedPostgres } from '../../services/standalone/index.ts'

/** Starts the PostgreSQL server for all seeds. It listens on localhost only and needs no password. */
export async function startServer(): Promise<EmbeddedPostgres> {
  const server = await startEmbeddedPostgres({
    settings: {
      shared_buffers: '64MB',
      wal_level: 'minimal',
      max_wal_senders: '0',
      autovacuum: 'off',
      jit: 'off',
    },
  })
  // `trust` instead of passwords: hashing a password for each of thousands of connections takes time.
  writeFileSync(join(server.dataDir, 'pg_hba.conf'), 'host all all 127.0.0.1/32 trust\n')
  return server
}
