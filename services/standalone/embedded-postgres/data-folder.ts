import { randomBytes } from 'node:crypto'
import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { FatalError } from '../../core/errors/index.ts'

/** Draft folder, in which initdb works, and the mark: a file in it that proves that Pronghorn created the folder. */
const DRAFT = 'pronghorn.new'
const DRAFT_MARK = 'made-by-pronghorn'
const DATABASE = 'postgres'
const PASSWORD_FILE = 'postgres.password'
/** Lock file of `holdFolder`, or, with a hexadecimal suffix, the temporary file that becomes the lock file. */
const LOCK_NAME = /^pronghorn\.lock(?:\.[0-9a-f]{12})?$/
/**
 * Folder in which initdb worked in earlier versions. Never removed: nothing proves that Pronghorn created the folder.
 */
const FORMER_DRAFT = 'postgres.new'
/** Content of the password file that `createPassword` writes; empty if the writing was interrupted. */
const PASSWORD = /^(?:[\w-]{24}\n)?$/
/** Folder that ext file systems have at the top of a disk; a data folder may contain it. */
const LOST_AND_FOUND = 'lost+found'

/**
 * Checks, without changing anything, that a folder is a data directory or may become one: the folder is empty, has a
 * database with its password, or has only files of an interrupted start.
 *
 * @param version version of the PostgreSQL that is to run.
 * @throws FatalError `DATA_FOLDER_UNUSABLE` if the folder contains other files; `DATA_FOLDER_DAMAGED` if the password
 * file is missing, empty or unreadable; `DATABASE_VERSION` if the database belongs to another PostgreSQL major version.
 */
export async function checkDataFolder(base: string, version: string): Promise<void> {
  if (await hasDatabase(base)) {
    await checkVersion(join(base, DATABASE), version)
    await readPassword(base)
    return
  }
  const names = (await namesIn(base)).filter((name) => name !== LOST_AND_FOUND)
  for (const name of names) {
    if (await isOfUnfinishedStart(base, name)) continue
    // Every version writes the password file before it starts initdb: without a password file, `postgres.new` is not a
    // draft folder of Pronghorn.
    if (name === FORMER_DRAFT && names.includes(PASSWORD_FILE)) continue
    const path = JSON.stringify(await firstPath(base, name))
    const message = `the data directory ${base} holds ${path} and no database of Pronghorn; nothing was touched`
    throw new FatalError('DATA_FOLDER_UNUSABLE', message)
  }
}

/** Whether the folder has a finished database: only a finished initdb has its files moved to the folder `postgres`. */
export function hasDatabase(base: string): Promise<boolean> {
  return exists(join(base, DATABASE, 'PG_VERSION'))
}

async function isOfUnfinishedStart(base: string, name: string): Promise<boolean> {
  if (LOCK_NAME.test(name)) return true
  if (name === PASSWORD_FILE) return PASSWORD.test(await readFile(join(base, name), 'utf8').catch(() => ''))
  return name === DRAFT && isOurDraft(base)
}

/**
 * Whether Pronghorn created the draft folder: it contains the file DRAFT_MARK, or it is empty because a start was
 * interrupted before it wrote this file.
 */
async function isOurDraft(base: string): Promise<boolean> {
  const names = await namesIn(join(base, DRAFT)).catch(() => null)
  return names !== null && (names.length === 0 || names.includes(DRAFT_MARK))
}

/**
 * Removes the folder in which an interrupted initdb worked. The file DRAFT_MARK is removed last, so that an interrupted
 * removal can be repeated.
 */
export async function removeDraft(base: string): Promise<void> {
  if (!(await isOurDraft(base))) return
  await rm(join(base, DRAFT, DATABASE), { recursive: true, force: true })
  await rm(join(base, DRAFT), { recursive: true })
}

/** Creates the folder for initdb. @returns paths of the folder, and of the database files that initdb creates there. */
export async function createDraft(
  base: string,
): Promise<{ readonly folder: string; readonly files: string }> {
  const folder = join(base, DRAFT)
  await mkdir(folder, { mode: 0o700 })
  await writeFile(join(folder, DRAFT_MARK), '')
  return { folder, files: join(folder, DATABASE) }
}

/** Creates the database password, in a file that only the owner can read. @returns the path of the file. */
export async function createPassword(base: string): Promise<string> {
  const path = join(base, PASSWORD_FILE)
  await writeFile(path, `${randomBytes(18).toString('base64url')}\n`, { mode: 0o600 })
  return path
}

/**
 * Reads the database password.
 * @throws FatalError `DATA_FOLDER_DAMAGED` if the file is missing, empty or unreadable.
 */
export async function readPassword(base: string): Promise<string> {
  const path = join(base, PASSWORD_FILE)
  const text = (await readOwnFile(path))?.trim()
  if (text) return text
  const fault = text === undefined ? 'missing' : 'empty'
  throw new FatalError(
    'DATA_FOLDER_DAMAGED',
    `${path}, the file with the password of the database, is ${fault}`,
  )
}

/**
 * Reads a file of a data directory; null if there is none.
 * @throws FatalError `DATA_FOLDER_DAMAGED` if it is unreadable.
 */
export async function readOwnFile(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return null
    throw new FatalError('DATA_FOLDER_DAMAGED', `${path} cannot be read: ${message}`)
  }
}

/** Path of the first entry of a folder, below `base`; the name of the folder itself if it is empty or a file. */
async function firstPath(base: string, name: string): Promise<string> {
  const [first] = await namesIn(join(base, name)).catch(() => [])
  return first === undefined ? name : `${name}/${first}`
}

async function namesIn(folder: string): Promise<string[]> {
  return (await readdir(folder)).sort()
}

/** Compares major versions: PostgreSQL cannot read the database files of another major version. */
async function checkVersion(dataDir: string, version: string): Promise<void> {
  const ours = version.split('.')[0]!
  const made = (await readFile(join(dataDir, 'PG_VERSION'), 'utf8')).trim()
  if (made === ours) return
  const message = `the database in ${dataDir} is of PostgreSQL ${JSON.stringify(made.slice(0, 20))}, this version of Pronghorn contains PostgreSQL ${ours}`
  throw new FatalError('DATABASE_VERSION', message)
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}
