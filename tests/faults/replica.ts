import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { connectDatabase } from '../../services/core/database/index.ts'
import type { DatabaseAddress } from '../../services/core/database/index.ts'
import { startEmbeddedPostgres } from '../../services/standalone/index.ts'
import type { EmbeddedPostgres } from '../../services/standalone/index.ts'

const run = promisify(execFile)

/** Creates the data folder of a replica: copies the folder of a stopped server. */
export async function copyForReplica(primaryDir: string, replicaDir: string): Promise<void> {
  await run('cp', ['-a', primaryDir, replicaDir])
  const signal = join(replicaDir, 'postgres', 'standby.signal')
  await writeFile(signal, '')
  // If the tests run as root, PostgreSQL runs as another user, who must own the file.
  await run('chown', ['--reference', join(replicaDir, 'postgres', 'PG_VERSION'), signal])
}

/** Starts a replica that connects to the primary at the given address, with the user and password of the primary. */
export function startReplica(
  dataDir: string,
  { host, port, user, password }: DatabaseAddress,
  settings: Readonly<Record<string, string>>,
): Promise<EmbeddedPostgres> {
  const primary = `host=${host} port=${port} user=${user} password=${password}`
  return startEmbeddedPostgres({ dataDir, settings: { ...settings, primary_conninfo: primary } })
}

export async function promote(address: DatabaseAddress): Promise<void> {
  const client = await connectDatabase(address, { applicationName: 'test' })
  await client.query('SELECT pg_promote(true, 60)')
  await client.end()
}
