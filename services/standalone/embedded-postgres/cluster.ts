import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { chmod, readFile, readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { FatalError } from '../../core/errors/index.ts'
import { giveTo } from './account.ts'
import type { ServerAccount } from './account.ts'
import type { PostgresBinaries } from './binaries.ts'
import type { Guard } from './guard.ts'
import { isRunning, pause, serverProcessesIn } from './processes.ts'

/** Time-out of initdb, ms: a busy machine needs minutes, and a failure is reported at once anyway. */
const INITDB_TIMEOUT_MS = 600_000
const STOP_TIMEOUT_MS = 30_000
/** Messages of initdb when the disk is full. */
const NO_SPACE = /No space left on device|Disk quota exceeded/
/** Databases that initdb creates: template1, template0 and postgres. */
const FIRST_DATABASES = 3

/** Database user of the server. */
export const USER = 'pronghorn'

/** Location and user of a cluster to create. */
export interface ClusterPlace {
  readonly binaries: PostgresBinaries
  readonly account: ServerAccount | null
  /** Folder of the cluster; the database files are in a subfolder. */
  readonly base: string
  readonly dataDir: string
  readonly temporary: boolean
  readonly guard: Guard
}

/**
 * Creates the database files on first use. Returns the database password, which is stored next to the files, readable
 * by the owner only. initdb writes to a folder of another name, which is renamed at the end, so that an interrupted
 * initdb never leaves an incomplete database.
 *
 * @throws FatalError `EMBEDDED_POSTGRES_FAILED`, `DATABASE_VERSION`, `DATA_FOLDER_UNUSABLE`.
 */
export async function ensureCluster(place: ClusterPlace): Promise<string> {
  const { account, base, dataDir } = place
  const passwordFile = join(base, 'postgres.password')
  if (await isUnfinished(dataDir)) await rm(dataDir, { recursive: true, force: true })
  if (await exists(join(dataDir, 'PG_VERSION'))) {
    await checkVersion(dataDir, place.binaries.version)
    await endLeftOver(dataDir)
    return (await readFile(passwordFile, 'utf8')).trim()
  }
  const foreign = await readdir(dataDir).catch(() => [])
  if (foreign.length > 0) {
    const why = `${dataDir} has files and no PG_VERSION, so it is no database of PostgreSQL`
    throw new FatalError('DATA_FOLDER_UNUSABLE', `${why}; nothing was touched`)
  }
  const password = randomBytes(18).toString('base64url')
  await writeFile(passwordFile, `${password}\n`, { mode: 0o600 })
  await giveTo(account, passwordFile)
  const draft = `${dataDir}.new`
  await rm(draft, { recursive: true, force: true })
  try {
    await runInitdb(place, draft, passwordFile)
  } catch (cause) {
    await rm(draft, { recursive: true, force: true })
    // The server's account may be unable to enter a parent folder such as /root.
    const hint = account
      ? `; the server does not run as root but as user ${account.uid}, who must be able to reach the folder`
      : ''
    if (NO_SPACE.test(String(cause)))
      throw new FatalError('DISK_FULL', `no space left in ${base}`, {
        details: { doing: 'creating the database files' },
      })
    const message = `PostgreSQL could not create its files in ${dataDir}${hint}`
    throw new FatalError('EMBEDDED_POSTGRES_FAILED', message, { cause })
  }
  await chmod(draft, 0o700)
  await rename(draft, dataDir)
  return password
}

/** The files of one major version are of no use to another. */
async function checkVersion(dataDir: string, version: string): Promise<void> {
  const ours = version.split('.')[0]!
  const made = (await readFile(join(dataDir, 'PG_VERSION'), 'utf8')).trim()
  if (made === ours) return
  const message = `the database in ${dataDir} is of PostgreSQL ${JSON.stringify(made.slice(0, 20))}, this version of the program brings ${ours}`
  throw new FatalError('DATABASE_VERSION', message)
}

async function runInitdb(place: ClusterPlace, folder: string, passwordFile: string): Promise<void> {
  const { binaries, account, base, temporary, guard } = place
  const flags = [
    '-U',
    USER,
    '-A',
    'scram-sha-256',
    `--pwfile=${passwordFile}`,
    '-E',
    'UTF8',
    '--locale=C',
    '--lc-ctype=C.UTF-8',
  ]
  const child = spawn(binaries.initdb, ['-D', folder, ...flags, ...(temporary ? ['--no-sync'] : [])], {
    cwd: base,
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe'],
    timeout: INITDB_TIMEOUT_MS,
    ...(account ?? {}),
  })
  guard.note('initdb', child.pid ?? 0)
  let output = ''
  child.stderr.on('data', (chunk: Buffer) => (output = (output + chunk.toString('utf8')).slice(-2_000)))
  try {
    const [code, signal] = (await once(child, 'close')) as [number | null, string | null]
    if (code !== 0) throw new Error(`initdb ended with ${String(code ?? signal)}: ${output.trim()}`)
  } finally {
    guard.note('initdb', 0)
  }
}

/**
 * Whether an initdb was interrupted in this folder; earlier versions created the files in place. A folder in which a
 * server has run contains postmaster.opts and never counts as unfinished, nor does a folder with other files.
 */
async function isUnfinished(dataDir: string): Promise<boolean> {
  const files = await readdir(dataDir).catch(() => null)
  if (files === null || files.includes('postmaster.opts')) return false
  if (files.length > 0 && !files.some((name) => name.startsWith('pg_'))) return false
  const names = await readdir(join(dataDir, 'base')).catch(() => [])
  const databases = names.filter((name) => /^\d+$/.test(name)).length
  return databases < FIRST_DATABASES || !(await exists(join(dataDir, 'global', 'pg_control')))
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}

/** Reads process id and port from the server's lock file; NaN without a lock file. */
async function readLockFile(dataDir: string): Promise<{ readonly pid: number; readonly port: number }> {
  const file = await readFile(join(dataDir, 'postmaster.pid'), 'utf8').catch(() => '')
  const [pid, , , port] = file.split('\n')
  return { pid: Number(pid || NaN), port: Number(port || NaN) }
}

/** Port of the server that runs on these files; undefined if none runs. */
export async function findServerPort(dataDir: string): Promise<number | undefined> {
  const { pid, port } = await readLockFile(dataDir)
  const isThere = (await serverProcessesIn(dataDir)).includes(pid)
  return isThere && Number.isInteger(port) ? port : undefined
}

/**
 * Stops a server that outlived its program and still uses the files. The caller holds the folder, so the server is
 * ours.
 */
async function endLeftOver(dataDir: string): Promise<void> {
  const { pid } = await readLockFile(dataDir)
  if (!Number.isInteger(pid) || pid <= 1) return
  const command = await readFile(`/proc/${String(pid)}/cmdline`, 'utf8').catch(() => '')
  if (!command.includes(dataDir)) return
  signalTo(pid, 'SIGINT')
  const deadline = performance.now() + STOP_TIMEOUT_MS
  while (performance.now() < deadline && (await isRunning(pid))) await pause(50)
}

/**
 * Removes the remains of a killed server: first the processes that hold its shared memory; once they are gone, its
 * lock file. PostgreSQL respects the lock until the killed process has been reaped.
 */
export async function clearRemains(dataDir: string): Promise<void> {
  const remaining = await serverProcessesIn(dataDir)
  for (const pid of remaining) signalTo(pid, 'SIGQUIT')
  if (remaining.length === 0) await rm(join(dataDir, 'postmaster.pid'), { force: true })
}

function signalTo(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // The process has already ended.
  }
}
