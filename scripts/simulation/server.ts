import { existsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startEmbeddedPostgres } from '../../services/standalone/embedded-postgres/index.ts'
import type { EmbeddedPostgres } from '../../services/standalone/embedded-postgres/index.ts'

/** Folder of a file system in memory, where the system has one: databases are copied there in a fifth of the time. */
const memoryFolder = '/dev/shm'

/** Starts the PostgreSQL of all seeds. Nobody but the simulation reaches it, so it asks for no password. */
export async function startServer(): Promise<EmbeddedPostgres> {
  if (tmpdir() === '/tmp' && existsSync(memoryFolder)) process.env.TMPDIR = memoryFolder
  const server = await startEmbeddedPostgres({
    settings: {
      shared_buffers: '64MB',
      wal_level: 'minimal',
      max_wal_senders: '0',
      autovacuum: 'off',
      jit: 'off',
    },
  })
  // Passwords are hashed thousands of times, for every connection.
  writeFileSync(join(server.dataDir, 'pg_hba.conf'), 'host all all 127.0.0.1/32 trust\n')
  return server
}
