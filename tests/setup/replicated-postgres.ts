import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { connectDatabase, migrate } from '../../services/core/database/index.ts'
import type { DatabaseAddress } from '../../services/core/database/index.ts'
import { startEmbeddedPostgres } from '../../services/standalone/index.ts'
import type { EmbeddedPostgres } from '../../services/standalone/index.ts'
import { testedServer } from './tested-server.ts'

const run = promisify(execFile)

/** A server that a test can stop and restart on the same files; the port changes. */
export interface RestartableServer {
  readonly address: DatabaseAddress
  stop(): Promise<void>
  start(): Promise<void>
}

/** A primary server and a streaming replica. */
export interface ReplicatedPostgres {
  readonly primary: RestartableServer
  readonly replica: RestartableServer
  remove(): Promise<void>
}

const DATABASE = 'pronghorn'
const settings = { fsync: 'off', full_page_writes: 'off', shared_buffers: '16MB', max_connections: '40' }

/** Starts a primary with a migrated database, and a replica made from a copy of the primary's files. */
export async function startReplicatedPostgres(): Promise<ReplicatedPostgres> {
  const base = await mkdtemp(join(tmpdir(), 'pronghorn-replicas-'))
  const [primaryDir, replicaDir] = [join(base, 'primary'), join(base, 'replica')]
  // When the tests run as root, the servers run as another user, who needs access to the folder.
  await run('chmod', ['755', base])
  const first = await startEmbeddedPostgres({ ...testedServer, dataDir: primaryDir, settings })
  await createDatabase(first)
  await first.stop()
  await run('cp', ['-a', primaryDir, replicaDir])
  const signal = join(replicaDir, 'postgres', 'standby.signal')
  await writeFile(signal, '')
  await run('chown', ['--reference', join(replicaDir, 'postgres', 'PG_VERSION'), signal])
  const primary = await startServer(primaryDir, () => settings)
  const replica = await startServer(replicaDir, () => ({
    ...settings,
    primary_conninfo: conninfo(primary.address),
  }))
  return {
    primary,
    replica,
    async remove() {
      await replica.stop()
      await primary.stop()
      await rm(base, { recursive: true, force: true })
    },
  }
}

async function createDatabase({ host, port, user, password }: EmbeddedPostgres): Promise<void> {
  const address = { host, port, user, password }
  const admin = await connectDatabase({ ...address, database: 'postgres' }, { applicationName: 'test' })
  await admin.query(`CREATE DATABASE ${DATABASE}`)
  await admin.end()
  const client = await connectDatabase({ ...address, database: DATABASE }, { applicationName: 'test' })
  await migrate(client)
  await client.end()
}

async function startServer(
  dataDir: string,
  currentSettings: () => Record<string, string>,
): Promise<RestartableServer> {
  const start = () => startEmbeddedPostgres({ ...testedServer, dataDir, settings: currentSettings() })
  let server = await start()
  return {
    get address() {
      const { host, port, user, password } = server
      return { host, port, user, password, database: DATABASE }
    },
    stop: () => server.stop(),
    async start() {
      server = await start()
    },
  }
}

function conninfo({ host, port, user, password }: DatabaseAddress): string {
  return `host=${host} port=${port} user=${user} password=${password}`
}
