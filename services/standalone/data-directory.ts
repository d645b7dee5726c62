import { constants } from 'node:fs'
import { access, mkdir, realpath, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { FatalError } from '../core/errors/index.ts'
import type { DatabaseAddress } from '../core/database/index.ts'
import {
  findServerPort,
  hasDatabase,
  readPassword,
  startEmbeddedPostgres,
  USER,
} from './embedded-postgres/index.ts'

/** Name of a standalone run's database. */
export const DATABASE = 'pronghorn'

/**
 * Creates a data directory and its parents, or checks that an existing one can be read and written.
 * @returns the path without links.
 * @throws FatalError `DATA_FOLDER_UNUSABLE`.
 */
export async function prepareDataDirectory(given: string): Promise<string> {
  const path = resolve(given)
  try {
    // Creates one folder at a time: `mkdir` with `recursive` never returns below /proc.
    await createWithParents(path)
    if (!(await stat(path)).isDirectory()) throw new Error('it is a file')
    await access(path, constants.R_OK | constants.W_OK | constants.X_OK)
    return await realpath(path)
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new FatalError('DATA_FOLDER_UNUSABLE', `the data directory ${path} cannot be used: ${why}`)
  }
}

async function createWithParents(path: string): Promise<void> {
  if (await exists(path)) return
  const parent = dirname(path)
  if (parent !== path) await createWithParents(parent)
  await mkdir(path).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  })
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}

/** Login to the database of a data directory, and the function that ends its use. */
export interface OpenedDirectory {
  readonly address: DatabaseAddress
  close(): Promise<void>
}

/**
 * Opens the database of a data directory: connects to the standalone run that uses it, or starts PostgreSQL until
 * `close`.
 * @throws FatalError `DATA_FOLDER_MISSING` if the directory has no database; see also `startEmbeddedPostgres`.
 */
export async function openDataDirectory(given: string): Promise<OpenedDirectory> {
  const path = resolve(given)
  if (!(await hasDatabase(path)))
    throw new FatalError('DATA_FOLDER_MISSING', `there is no database in ${path}`)
  const base = await realpath(path)
  const running = await runningAddress(base)
  if (running) return { address: running, close: () => Promise.resolve() }
  const server = await startEmbeddedPostgres({ dataDir: base })
  const { host, port, user, password } = server
  return { address: { host, port, user, password, database: DATABASE }, close: () => server.stop() }
}

/** Rewords the error that a file of the data directory is missing, or cannot be read or written. */
export function explainFileError(error: unknown, dataDir: string): FatalError | undefined {
  if (!(error instanceof Error) || !('path' in error) || typeof error.path !== 'string') return undefined
  if (!error.path.startsWith(join(dataDir, '/'))) return undefined
  return new FatalError('DATA_FOLDER_DAMAGED', `the data directory ${dataDir} is damaged: ${error.message}`)
}

async function runningAddress(base: string): Promise<DatabaseAddress | undefined> {
  const port = await findServerPort(join(base, 'postgres'))
  if (port === undefined) return undefined
  return { host: '127.0.0.1', port, user: USER, password: await readPassword(base), database: DATABASE }
}
