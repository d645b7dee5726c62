import { execFile, spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { FatalError } from '../../core/errors/index.ts'
import { giveTo, pickServerAccount } from './account.ts'
import type { ServerAccount } from './account.ts'
import { locateBinaries } from './binaries.ts'
import type { PostgresBinaries } from './binaries.ts'

const run = promisify(execFile)
const START_TIMEOUT_MS = 60_000
const STOP_TIMEOUT_MS = 30_000
const USER = 'pronghorn'
/** What a server says when it is ready; a standby only reads. */
const READY = /ready to accept (?:read-?.?only )?connections/

/** How to reach a running server; the keys are those of a `pg` connection. */
export interface EmbeddedPostgres {
  readonly host: string
  readonly port: number
  readonly user: string
  readonly password: string
  /** Folder of the database files. */
  readonly dataDir: string
  readonly version: string
  /** Process id of the server. */
  readonly pid: number
  /** Ends the server and, when the folder was temporary, removes it. Safe to call twice. */
  stop(): Promise<void>
}

/** What `startEmbeddedPostgres` takes. */
export interface EmbeddedPostgresOptions {
  /** Folder that keeps the database between runs. Without it a temporary one is used and removed at stop. */
  readonly dataDir?: string
  /** npm package with another server's programs; without it, the PostgreSQL 14 that Pronghorn comes with. */
  readonly package?: string
  /** Settings added to the server's command line, e.g. `{ shared_buffers: '256MB' }`. */
  readonly settings?: Readonly<Record<string, string>>
  /** Called when the server ends without having been asked to. */
  readonly onUnexpectedExit?: (detail: string) => void
}

/**
 * Starts a PostgreSQL server of its own on a free loopback port, as root or as an ordinary user.
 *
 * @throws FatalError `EMBEDDED_POSTGRES_FAILED` with the server's own words when it does not start.
 */
export async function startEmbeddedPostgres(
  options: EmbeddedPostgresOptions = {},
): Promise<EmbeddedPostgres> {
  const account = await pickServerAccount()
  const binaries = await locateBinaries(account, options.package)
  const temporary = options.dataDir === undefined
  const base = options.dataDir ?? (await mkdtemp(join(tmpdir(), 'pronghorn-data-')))
  await mkdir(base, { recursive: true })
  await giveTo(account, base)
  const dataDir = join(base, 'postgres')
  const password = await ensureCluster(binaries, account, base, dataDir, temporary)
  const port = await freePort()
  const settings = { ...serverSettings(temporary), ...options.settings }
  const server = spawn(
    binaries.postgres,
    [
      '-D',
      dataDir,
      '-p',
      String(port),
      ...Object.entries(settings).flatMap(([key, value]) => ['-c', `${key}=${value}`]),
    ],
    { cwd: dataDir, stdio: ['ignore', 'ignore', 'pipe'], detached: true, ...(account ?? {}) },
  )
  const output = await untilReady(server)
  let stopping = false
  server.once('exit', (code, signal) => {
    if (!stopping)
      options.onUnexpectedExit?.(`code ${String(code)}, signal ${String(signal)}: ${output().slice(-500)}`)
  })
  return {
    host: '127.0.0.1',
    port,
    user: USER,
    password,
    dataDir,
    version: binaries.version,
    pid: server.pid ?? 0,
    async stop() {
      if (!stopping) {
        stopping = true
        await endServer(server)
        if (temporary) await rm(base, { recursive: true, force: true })
      }
    },
  }
}

function serverSettings(temporary: boolean): Record<string, string> {
  return {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    max_connections: '120',
    shared_buffers: '128MB',
    max_wal_size: '2GB',
    checkpoint_timeout: '15min',
    // A database that is thrown away needs no promise about power cuts.
    ...(temporary ? { fsync: 'off', full_page_writes: 'off', synchronous_commit: 'off' } : {}),
  }
}

/** Makes the database files on first use; returns the password, which is kept beside them, readable to the owner. */
async function ensureCluster(
  binaries: PostgresBinaries,
  account: ServerAccount | null,
  base: string,
  dataDir: string,
  temporary: boolean,
): Promise<string> {
  const passwordFile = join(base, 'postgres.password')
  if ((await stat(join(dataDir, 'PG_VERSION')).catch(() => null)) !== null) {
    await endLeftOver(dataDir)
    return (await readFile(passwordFile, 'utf8')).trim()
  }
  const password = randomBytes(18).toString('base64url')
  await writeFile(passwordFile, `${password}\n`, { mode: 0o600 })
  await giveTo(account, passwordFile)
  const flags = ['-U', USER, '-A', 'scram-sha-256', `--pwfile=${passwordFile}`, '-E', 'UTF8', '--locale=C']
  try {
    await run(binaries.initdb, ['-D', dataDir, ...flags, ...(temporary ? ['--no-sync'] : [])], {
      cwd: base,
      timeout: START_TIMEOUT_MS,
      ...(account ?? {}),
    })
  } catch (cause) {
    await rm(dataDir, { recursive: true, force: true })
    // The account cannot enter a folder such as /root, whatever the permissions of what is in it.
    const hint = account
      ? `; the server does not run as root but as user ${account.uid}, who must be able to reach the folder`
      : ''
    throw new FatalError(
      'EMBEDDED_POSTGRES_FAILED',
      `PostgreSQL could not create its files in ${dataDir}${hint}`,
      { cause },
    )
  }
  await chmod(dataDir, 0o700)
  return password
}

/** A server that outlived its program (killed without a chance to stop it) still holds the files: end it first. */
async function endLeftOver(dataDir: string): Promise<void> {
  const file = await readFile(join(dataDir, 'postmaster.pid'), 'utf8').catch(() => null)
  const pid = Number(file?.split('\n')[0])
  if (!Number.isInteger(pid) || pid <= 1) return
  const command = await readFile(`/proc/${String(pid)}/cmdline`, 'utf8').catch(() => '')
  if (!command.includes(dataDir)) return
  process.kill(pid, 'SIGINT')
  const deadline = Date.now() + STOP_TIMEOUT_MS
  while (Date.now() < deadline && isRunning(pid)) await new Promise((resolve) => setTimeout(resolve, 50))
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as AddressInfo
  probe.close()
  await once(probe, 'close')
  return port
}

/** Waits for the server's own word that it is ready; returns a function that gives its last output. */
async function untilReady(server: ChildProcess): Promise<() => string> {
  let output = ''
  const tail = () => output
  await new Promise<void>((resolve, reject) => {
    const fail = (reason: string) =>
      reject(
        new FatalError('EMBEDDED_POSTGRES_FAILED', `PostgreSQL ${reason}: ${output.trim().slice(-1000)}`),
      )
    const timer = setTimeout(() => fail('was not ready in time'), START_TIMEOUT_MS)
    server.once('error', (error) => fail(error.message))
    server.once('exit', () => fail('ended while starting'))
    server.stderr?.on('data', (chunk: Buffer) => {
      output = (output + chunk.toString('utf8')).slice(-4000)
      if (!READY.test(output)) return
      clearTimeout(timer)
      resolve()
    })
  })
  return tail
}

async function endServer(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return
  const ended = once(server, 'exit')
  server.kill('SIGINT')
  const timer = setTimeout(() => server.kill('SIGQUIT'), STOP_TIMEOUT_MS)
  await ended
  clearTimeout(timer)
}
