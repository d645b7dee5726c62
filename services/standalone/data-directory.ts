import { constants } from 'node:fs'
import { access, mkdir, readFile, realpath, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { FatalError } from '../core/errors/index.ts'
import type { DatabaseAddress } from '../core/database/index.ts'
import { findServerPort, startEmbeddedPostgres, USER } from './embedded-postgres/index.ts'

/** Database of a standalone run. */
export const DATABASE = 'pronghorn'

/**
 * Creates a data directory, with its parents, or checks that an existing one can be written.
 * @returns its absolute path.
 * @throws FatalError `DATA_FOLDER_UNUSABLE`.
 */
export async function prepareDataDirectory(given: string): Promise<string> {
  const path = resolve(given)
  try {
    // Not `recursive`: below /proc that never ends.
    await createWithParents(path)
    if (!(await stat(path)).isDirectory()) throw new Error('it is a file')
    await access(path, constants.W_OK | constants.X_OK)
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new FatalError('DATA_FOLDER_UNUSABLE', `the data directory ${path} cannot be used: ${why}`)
  }
  return path
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

/** A database that was opened by its data directory. */
export interface OpenedDirectory {
  readonly address: DatabaseAddress
  close(): Promise<void>
}

/**
 * Opens the database of a data directory: that of the standalone run that uses it, or one that is started for the time
 * being.
 * @throws FatalError `DATA_FOLDER_UNUSABLE` when there is none; see also `startEmbeddedPostgres`.
 */
export async function openDataDirectory(given: string): Promise<OpenedDirectory> {
  const path = resolve(given)
  if (!(await exists(join(path, 'postgres', 'PG_VERSION')))) {
    const hint = '`pronghorn standalone --data DIR` creates one'
    throw new FatalError('DATA_FOLDER_UNUSABLE', `there is no database in ${path}; ${hint}`)
  }
  const base = await realpath(path)
  const running = await runningAddress(base)
  if (running) return { address: running, close: () => Promise.resolve() }
  const server = await startEmbeddedPostgres({ dataDir: base })
  const { host, port, user, password } = server
  return { address: { host, port, user, password, database: DATABASE }, close: () => server.stop() }
}

async function runningAddress(base: string): Promise<DatabaseAddress | undefined> {
  const port = await findServerPort(join(base, 'postgres'))
  if (port === undefined) return undefined
  const password = (await readFile(join(base, 'postgres.password'), 'utf8')).trim()
  return { host: '127.0.0.1', port, user: USER, password, database: DATABASE }
}
