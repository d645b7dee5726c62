import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { FatalError } from '../../core/errors/index.ts'
import { findFreePort } from '../../core/http/listener/index.ts'
import { giveTo, pickServerAccount } from './account.ts'
import type { ServerAccount } from './account.ts'
import { locateBinaries } from './binaries.ts'
import { clearRemains, ensureCluster, USER } from './cluster.ts'
import { checkDataFolder } from './data-folder.ts'
import { holdFolder } from './folder-hold.ts'
import { startGuard } from './guard.ts'
import type { Guard } from './guard.ts'
import { pause } from './processes.ts'

/** Time-out of the start of PostgreSQL, ms. A busy machine needs minutes; a failed start is reported earlier. */
const START_TIMEOUT_MS = 300_000
const STOP_TIMEOUT_MS = 30_000
/** Message of PostgreSQL when it is ready; a standby is ready for read-only connections. */
const READY = /ready to accept (?:read-?.?only )?connections/
/** Messages of PostgreSQL if shared memory or a lock file of a killed PostgreSQL server still exists. */
const REMAINS = /pre-existing shared memory block|lock file "postmaster\.pid" already exists/
/** Messages of PostgreSQL if the disk is full. */
const NO_SPACE = /No space left on device|Disk quota exceeded/
/** Number of characters at the end of PostgreSQL's output that are stored for error messages. */
const KEPT_OUTPUT = 4_000
const RETRY_MS = 250

/** Login to the running PostgreSQL server. The members have the names of the options of a `pg` connection. */
export interface EmbeddedPostgres {
  readonly host: string
  readonly port: number
  readonly user: string
  readonly password: string
  /** Folder of the database files. */
  readonly dataDir: string
  readonly version: string
  /** Process id of the PostgreSQL server. */
  readonly pid: number
  /** Stops PostgreSQL; removes the folder of the database if it is temporary. May be called twice. */
  stop(): Promise<void>
}

export interface EmbeddedPostgresOptions {
  /** Folder of the database, reused by later runs. Default: a temporary folder, removed on stop. */
  readonly dataDir?: string
  /** npm package with the programs of another server version. Default: PostgreSQL 14, which Pronghorn installs. */
  readonly package?: string
  /** Settings of PostgreSQL for its command line, e.g. `{ shared_buffers: '256MB' }`. */
  readonly settings?: Readonly<Record<string, string>>
  /** Called when PostgreSQL exits although `stop` was not called. */
  readonly onUnexpectedExit?: (failure: FatalError) => void
}

/**
 * Starts a PostgreSQL server on a free loopback port, as root or as an ordinary user. The server stops with this
 * process, even if the process is killed.
 *
 * @throws FatalError `EMBEDDED_POSTGRES_FAILED` with the server's own messages if the server does not start;
 * `DATA_FOLDER_HELD` if another process uses the folder; `DATA_FOLDER_UNUSABLE` if the folder contains other files;
 * `DATA_FOLDER_DAMAGED` if the password file is missing, empty or unreadable; `DATABASE_VERSION` if the database in the
 * folder belongs to another PostgreSQL major version.
 */
export async function startEmbeddedPostgres(
  options: EmbeddedPostgresOptions = {},
): Promise<EmbeddedPostgres> {
  const account = await pickServerAccount()
  const binaries = await locateBinaries(account, options.package)
  const temporary = options.dataDir === undefined
  const given = options.dataDir ?? (await mkdtemp(join(tmpdir(), 'pronghorn-data-')))
  await mkdir(given, { recursive: true })
  // Symbolic links are resolved, so that all processes lock the same path.
  const base = await realpath(given)
  if (!temporary) await checkDataFolder(base, binaries.version)
  const hold = await holdFolder(base)
  const guard = startGuard(temporary ? base : null)
  const release = async () => {
    guard.dismiss()
    await hold.release()
    if (temporary) await rm(base, { recursive: true, force: true })
  }
  const dataDir = join(base, 'postgres')
  try {
    await giveTo(account, base)
    const password = await ensureCluster({ binaries, account, base, dataDir, temporary, guard })
    const port = await findFreePort()
    const settings = { ...serverSettings(temporary), ...options.settings, port: String(port) }
    const started = await startServer({ program: binaries.postgres, account, dataDir, settings, guard })
    let stopping: Promise<void> | null = null
    const { server, output } = started
    server.once('exit', (code, signal) => {
      guard.note('server', 0)
      if (stopping === null) options.onUnexpectedExit?.(unexpectedExit(code, signal, output()))
    })
    const pid = server.pid ?? 0
    const stop = () => (stopping ??= endServer(server).then(release))
    return { host: '127.0.0.1', port, user: USER, password, dataDir, version: binaries.version, pid, stop }
  } catch (error) {
    await release()
    throw error
  }
}

interface ServerStart {
  readonly program: string
  readonly account: ServerAccount | null
  readonly dataDir: string
  readonly settings: Readonly<Record<string, string>>
  readonly guard: Guard
}

/** Starts PostgreSQL; retries while processes or the lock file of a killed PostgreSQL server still exist. */
async function startServer(start: ServerStart): Promise<{ server: ChildProcess; output: () => string }> {
  const { program, account, dataDir, settings, guard } = start
  const flags = Object.entries(settings).flatMap(([key, value]) => ['-c', `${key}=${value}`])
  const deadline = performance.now() + START_TIMEOUT_MS
  for (;;) {
    const server = spawn(program, ['-D', dataDir, ...flags], {
      cwd: dataDir,
      stdio: ['ignore', 'ignore', 'pipe'],
      detached: true,
      ...(account ?? {}),
    })
    guard.note('server', server.pid ?? 0)
    try {
      return { server, output: await untilReady(server) }
    } catch (error) {
      await endServer(server)
      guard.note('server', 0)
      if (!hasRemains(error) || performance.now() > deadline) throw error
      await clearRemains(dataDir)
      await pause(RETRY_MS)
    }
  }
}

/** Whether PostgreSQL did not start because of shared memory or a lock file of a killed server. */
function hasRemains(error: unknown): boolean {
  return error instanceof FatalError && REMAINS.test(String(error.details.output))
}

function serverSettings(temporary: boolean): Record<string, string> {
  return {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    max_connections: '120',
    shared_buffers: '128MB',
    max_wal_size: '2GB',
    checkpoint_timeout: '15min',
    // Nothing is flushed to the disk: a temporary database need not survive a power cut.
    ...(temporary ? { fsync: 'off', full_page_writes: 'off', synchronous_commit: 'off' } : {}),
  }
}

/** Waits until PostgreSQL is ready. Returns a function that returns the end of PostgreSQL's output. */
async function untilReady(server: ChildProcess): Promise<() => string> {
  let output = ''
  const tail = () => output
  await new Promise<void>((resolve, reject) => {
    const fail = (reason: string) => {
      clearTimeout(timer)
      const code = NO_SPACE.test(output) ? 'DISK_FULL' : 'EMBEDDED_POSTGRES_FAILED'
      const details = { doing: 'starting PostgreSQL', output: lastLines(output) }
      reject(new FatalError(code, `PostgreSQL ${reason}`, { details }))
    }
    const timer = setTimeout(() => fail('was not ready in time'), START_TIMEOUT_MS)
    server.once('error', (error) => fail(error.message))
    // Waits for `close`: at `exit`, the end of PostgreSQL's output may not have been read yet.
    server.once('close', () => fail('ended while starting'))
    server.stderr?.on('data', (chunk: Buffer) => {
      output = (output + chunk.toString('utf8')).slice(-KEPT_OUTPUT)
      if (!READY.test(output)) return
      clearTimeout(timer)
      resolve()
    })
  })
  return tail
}

/** Number of PostgreSQL's last lines of output that an error shows. */
const SHOWN_LINES = 8

/** The last complete lines of PostgreSQL's output. */
function lastLines(output: string): string[] {
  const lines = output.trim().split('\n')
  // Only the last KEPT_OUTPUT characters are stored, so the first line may lack its beginning.
  const whole = output.length >= KEPT_OUTPUT ? lines.slice(1) : lines
  return whole.slice(-SHOWN_LINES)
}

function unexpectedExit(code: number | null, signal: string | null, output: string): FatalError {
  const how = code === null ? `signal ${String(signal)}` : `exit code ${code}`
  // PostgreSQL exits with 0 only after a request to stop.
  const what = code === 0 ? 'was stopped by another program' : 'ended unexpectedly'
  return new FatalError('EMBEDDED_POSTGRES_FAILED', `PostgreSQL ${what} (${how})`, {
    details: { output: lastLines(output) },
  })
}

async function endServer(server: ChildProcess): Promise<void> {
  if (server.pid === undefined || server.exitCode !== null || server.signalCode !== null) return
  const ended = once(server, 'exit')
  server.kill('SIGINT')
  const timer = setTimeout(() => server.kill('SIGQUIT'), STOP_TIMEOUT_MS)
  await ended
  clearTimeout(timer)
}
