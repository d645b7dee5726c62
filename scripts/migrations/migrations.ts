/**
 * Checks that landed migrations never change: an installation that has applied a migration refuses to start if its
 * content differs.
 *
 * `npm run migrations:check` compares the migrations with the list of landed migrations and, if the git history is
 * available, the list with its own earlier versions. `write` adds unlisted migrations to the list; it never changes an
 * entry.
 */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { packageRoot } from '../../services/core/paths/index.ts'

/** Folder of the migrations, below the package root. */
const FOLDER = 'services/core/database/migrations'
/** Name of the list of landed migrations, in the format of `sha256sum`. */
const LIST = 'landed.sha256'
/** Migrations before version 1.0.0. Older versions of the list contain these migrations, but no database needs them. */
const BEFORE_FIRST_RELEASE = /^0\d{3}_/
const MIGRATION = /^\d{4}_.*\.sql$/
const ENTRY = /^([0-9a-f]{64}) {2}(\S+)$/
const GIT_OUTPUT_BYTES = 64 * 1024 * 1024

/** SHA-256 of each landed migration, by its file name. */
export type Landed = ReadonlyMap<string, string>

export interface MigrationReport {
  /**
   * One text for each landed migration that is changed or missing, and for each entry of the list that a later commit
   * changed or removed.
   */
  readonly problems: readonly string[]
  /** Migrations that are not in the list yet, ascending. */
  readonly unlisted: readonly string[]
  /** Number of commits of the list that were compared; 0 without git history. */
  readonly commits: number
}

/**
 * Parses a list of landed migrations.
 * @throws Error with the malformed line, or with the file that is listed twice.
 */
export function parseLanded(text: string): Landed {
  const landed = new Map<string, string>()
  for (const [index, line] of text.split('\n').entries()) {
    if (line === '') continue
    const [, checksum, file] = ENTRY.exec(line) ?? []
    if (checksum === undefined || file === undefined) {
      throw new Error(`${LIST}, line ${index + 1}: not a checksum, two spaces and a file name`)
    }
    if (landed.has(file)) throw new Error(`${LIST}, line ${index + 1}: ${file} is listed twice`)
    landed.set(file, checksum)
  }
  return landed
}

/** Compares the migrations below `root` with the list, and the list with its git history, if there is one. */
export function checkMigrations(root: string = packageRoot): MigrationReport {
  const files = readMigrations(root)
  const landed = readLanded(root)
  const problems = [...landed].flatMap(([file, checksum]) => {
    const found = files.get(file)
    if (found === undefined) return [`${file} has landed and is missing. Restore it: ${restore(file)}`]
    if (found === checksum) return []
    return [
      `${file} has landed and was changed: installations that applied it would stop at MIGRATION_FAILED. ` +
        `Restore it (${restore(file)}) and put the change into a new migration.`,
    ]
  })
  const history = readHistory(root)
  for (const { commit, list } of history) {
    for (const [file, checksum] of list) {
      if (landed.get(file) === checksum || BEFORE_FIRST_RELEASE.test(file)) continue
      const fault = landed.has(file) ? 'changed' : 'removed'
      problems.push(
        `${LIST}: the entry of ${file}, as listed in commit ${commit.slice(0, 12)}, was ${fault}.`,
      )
    }
  }
  return {
    problems: [...new Set(problems)],
    unlisted: [...files.keys()].filter((file) => !landed.has(file)),
    commits: history.length,
  }
}

/**
 * Adds the unlisted migrations to the list.
 * @returns their names.
 * @throws Error with the problems of `checkMigrations`; the list is then unchanged.
 */
export function listMigrations(root: string = packageRoot): readonly string[] {
  const { problems, unlisted } = checkMigrations(root)
  if (problems.length > 0) throw new Error(problems.join('\n'))
  const files = readMigrations(root)
  const all = [...readLanded(root), ...unlisted.map((file) => [file, files.get(file)!] as const)]
  const lines = all.sort(([one], [other]) => (one < other ? -1 : 1)).map(([file, sum]) => `${sum}  ${file}\n`)
  writeFileSync(join(root, FOLDER, LIST), lines.join(''))
  return unlisted
}

function restore(file: string): string {
  return `git log --oneline -- ${FOLDER}/${file}, then git checkout COMMIT -- ${FOLDER}/${file}`
}

/** SHA-256 of every migration, by its file name, ascending. */
function readMigrations(root: string): Map<string, string> {
  const folder = join(root, FOLDER)
  const names = readdirSync(folder).filter((file) => MIGRATION.test(file))
  return new Map(names.sort().map((file) => [file, sha256(readFileSync(join(folder, file)))]))
}

function readLanded(root: string): Landed {
  try {
    return parseLanded(readFileSync(join(root, FOLDER, LIST), 'utf8'))
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ENOENT') throw cause
    return new Map()
  }
}

/** The list of landed migrations in each commit, newest first; empty without git or its history. */
function readHistory(root: string): readonly { readonly commit: string; readonly list: Landed }[] {
  const path = `${FOLDER}/${LIST}`
  const commits = git(root, ['log', '--format=%H', '--', path])?.split('\n').filter(Boolean) ?? []
  return commits.flatMap((commit) => {
    const text = git(root, ['show', `${commit}:./${path}`])
    return text === null ? [] : [{ commit, list: parseLanded(text) }]
  })
}

function git(root: string, args: readonly string[]): string | null {
  try {
    return execFileSync('git', ['-C', root, ...args], {
      encoding: 'utf8',
      maxBuffer: GIT_OUTPUT_BYTES,
      stdio: ['ignore', 'pipe', 'ignore'],
    })
  } catch {
    return null
  }
}

function sha256(content: Buffer): string {
  return createHash('sha256').update(content).digest('hex')
}

function main(mode: string | undefined): number {
  if (mode === 'write') {
    for (const file of listMigrations()) process.stdout.write(`${file} is listed as landed.\n`)
    return 0
  }
  if (mode !== 'check') {
    process.stderr.write('usage: migrations check | write\n')
    return 2
  }
  const { problems, unlisted, commits } = checkMigrations()
  for (const problem of problems) process.stderr.write(`${problem}\n`)
  for (const file of unlisted)
    process.stdout.write(
      `${file} is not in the list of landed migrations. When it lands: npm run migrations:write\n`,
    )
  if (problems.length > 0) return 1
  process.stdout.write(
    `Landed migrations are unchanged (compared with ${commits} earlier versions of ${LIST}).\n`,
  )
  return 0
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  try {
    process.exitCode = main(process.argv[2])
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`)
    process.exitCode = 1
  }
}
