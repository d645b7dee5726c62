import { randomBytes } from 'node:crypto'
import { link, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { FatalError } from '../../core/errors/index.ts'
import { isRunning, startOf } from './processes.ts'

const LOCK_FILE = 'pronghorn.lock'
/** Interval at which a process touches its lock file, ms: processes on other hosts see only the time of the file. */
const TOUCH_MS = 5_000
/**
 * A process on another host (or in another container) that has not touched its lock file for this time counts as dead,
 * ms.
 */
const GONE_AFTER_MS = 20_000
const MAX_TRIES = 20

/** The lock of this process on a data folder. */
export interface FolderHold {
  release(): Promise<void>
}

interface Holder {
  readonly pid: number
  /**
   * Start time of the process in ticks since boot; null if unknown. Distinguishes the process from a later process
   * with the same pid.
   */
  readonly started: string | null
  readonly host: string
}

/**
 * Locks a data folder for this process, and takes over the lock of a dead process.
 *
 * @throws FatalError `DATA_FOLDER_HELD` that names the process with the lock.
 */
export async function holdFolder(folder: string): Promise<FolderHold> {
  const file = join(folder, LOCK_FILE)
  const self: Holder = {
    pid: process.pid,
    started: await startOf(process.pid),
    host: hostname(),
  }
  const text = `${JSON.stringify(self)}\n`
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    if (await create(file, text)) return touched(file)
    await takeOver(file, folder)
  }
  throw new FatalError('DATA_FOLDER_HELD', `other processes are locking ${folder} at this moment`)
}

function touched(file: string): FolderHold {
  const timer = setInterval(() => {
    const now = new Date()
    utimes(file, now, now).catch(() => undefined)
  }, TOUCH_MS)
  timer.unref()
  return {
    async release() {
      clearInterval(timer)
      await rm(file, { force: true })
    },
  }
}

/** Creates the lock file atomically with its content; false if it already exists. */
async function create(file: string, text: string): Promise<boolean> {
  const draft = `${file}.${randomBytes(6).toString('hex')}`
  await writeFile(draft, text, { mode: 0o600 })
  try {
    await link(draft, file)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  } finally {
    await rm(draft, { force: true })
  }
}

/** Removes the lock file if the process that created it is dead. Throws if that process is alive. */
async function takeOver(file: string, folder: string): Promise<void> {
  const text = await readFile(file, 'utf8').catch(() => null)
  if (text === null) return
  const holder = parseHolder(text)
  if (holder !== null && (await isAlive(holder, file))) {
    throw new FatalError(
      'DATA_FOLDER_HELD',
      `process ${holder.pid} on ${holder.host} is using ${folder}; nothing was touched`,
    )
  }
  // Another process may have replaced the lock file since it was read: move it aside, and put it back if the content
  // differs.
  const aside = `${file}.${randomBytes(6).toString('hex')}`
  if (
    !(await rename(file, aside).then(
      () => true,
      () => false,
    ))
  )
    return
  if ((await readFile(aside, 'utf8')) !== text) await link(aside, file).catch(() => undefined)
  await rm(aside, { force: true })
}

function parseHolder(text: string): Holder | null {
  try {
    const { pid, started, host } = JSON.parse(text) as Partial<Holder>
    return Number.isSafeInteger(pid) && typeof host === 'string'
      ? { pid: pid!, started: started ?? null, host }
      : null
  } catch {
    return null
  }
}

async function isAlive({ pid, started, host }: Holder, file: string): Promise<boolean> {
  if (host !== hostname()) {
    const { mtimeMs } = await stat(file).catch(() => ({ mtimeMs: 0 }))
    return Date.now() - mtimeMs < GONE_AFTER_MS
  }
  return (await isRunning(pid)) && (started === null || (await startOf(pid)) === started)
}
