import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { FatalError } from '../../core/errors/index.ts'
import { giveTo } from './account.ts'
import type { ServerAccount } from './account.ts'
import type { PostgresBinaries } from './binaries.ts'
import { createDraft, createPassword, hasDatabase, readPassword, removeDraft } from './data-folder.ts'
import type { Guard } from './guard.ts'
import { isRunning, pause, serverProcessesIn } from './processes.ts'

/**
 * Time-out of initdb, ms. A busy machine needs minutes. A long time-out does no harm: initdb reports failures at once.
 */
const INITDB_TIMEOUT_MS = 600_000
const STOP_TIMEOUT_MS = 30_000
/** Messages of initdb when the disk is full. */
const NO_SPACE = /No space left on device|Disk quota exceeded/

/** Superuser of the embedded PostgreSQL. */
export const USER = 'pronghorn'

/** Where initdb creates the database files, and the operating-system account that runs initdb. */
export interface ClusterPlace {
  readonly binaries: PostgresBinaries
  readonly account: ServerAccount | null
  /** Data folder; the database files are in its subfolder `dataDir`. */
  readonly base: string
  readonly dataDir: string
  readonly temporary: boolean
  readonly guard: Guard
}

/**
 * Creates the database files on first use, in a folder that `checkDataFolder` accepts. Returns the database password,
 * which is stored next to the files. initdb works in a draft folder, from which the files are moved at the end, so that
 * an interrupted initdb never leaves an incomplete database.
 *
 * @throws FatalError `EMBEDDED_POSTGRES_FAILED`, `DISK_FULL`.
 */
export async function ensureCluster(place: ClusterPlace): Promise<string> {
  const { account, base, dataDir } = place
  await removeDraft(base)
  if (await hasDatabase(base)) {
    await endLeftOver(dataDir)
    return readPassword(base)
  }
  const passwordFile = await createPassword(base)
  await giveTo(account, passwordFile)
  const draft = await createDraft(base)
  await giveTo(account, draft.folder)
  try {
    await runInitdb(place, draft.files, passwordFile)
  } catch (cause) {
    await removeDraft(base)
    // The account of PostgreSQL may be unable to enter a parent folder such as /root.
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
  await chmod(draft.files, 0o700)
  await rename(draft.files, dataDir)
  await removeDraft(base)
  return readPassword(base)
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

/** Reads process id and port from PostgreSQL's lock file, postmaster.pid; NaN without this file. */
async function readLockFile(dataDir: string): Promise<{ readonly pid: number; readonly port: number }> {
  const file = await readFile(join(dataDir, 'postmaster.pid'), 'utf8').catch(() => '')
  const [pid, , , port] = file.split('\n')
  return { pid: Number(pid || NaN), port: Number(port || NaN) }
}

/** Port of the PostgreSQL server that uses the database files; undefined if no server runs. */
export async function findServerPort(dataDir: string): Promise<number | undefined> {
  const { pid, port } = await readLockFile(dataDir)
  const isThere = (await serverProcessesIn(dataDir)).includes(pid)
  return isThere && Number.isInteger(port) ? port : undefined
}

/**
 * Stops a PostgreSQL server that outlived its program and still uses the database files. The caller has the lock of the
 * data folder, so no other program uses the server.
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
 * Removes the remains of a killed PostgreSQL server: first the processes with its shared memory, then, after their end,
 * the file postmaster.pid. PostgreSQL itself respects postmaster.pid until the killed process has been reaped.
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
