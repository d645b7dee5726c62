import type pg from 'pg'
import { databaseFailure } from '../../core/database/index.ts'
import type { DatabaseAddress } from '../../core/database/index.ts'
import { checkMigrations, isNewest, migrateRestored } from '../../core/database/restoring/index.ts'
import { FatalError, PronghornError, RetryableError } from '../../core/errors/index.ts'
import type { Manifest } from '../format/manifest.ts'
import { checkRestored } from './check-restored.ts'
import { QUERY_STAGE } from './definitions.ts'
import type { DumpSource } from './dump-source.ts'
import { FileQueue } from './file-queue.ts'
import { openFolderSource } from './folder-source.ts'
import { openHttpSource } from './http-source.ts'
import { fetchFile, loadFile } from './load-file.ts'
import { openManifest, readManifest } from './read-manifest.ts'
import { openSession, RestoreTarget } from './restore-target.ts'
import type { SignedManifest } from './restore-target.ts'

export interface RestoreOptions {
  readonly database: DatabaseAddress
  /** Chain of the configuration; the dump must be of the same chain. */
  readonly chainId: string
  /** HTTP or HTTPS URL of the dump, or its folder. */
  readonly from: string
  /** Number of database sessions that load files concurrently. */
  readonly jobs: number
  /** File with the Ed25519 public key of the publisher. */
  readonly keyFile?: string
  /** Name for the reader in this database; used only if the dump has a single reader. */
  readonly reader?: string
  /** Whether to discard an unfinished restore and to start again. */
  readonly anew: boolean
  readonly signal: AbortSignal
  readonly onProgress?: (progress: RestoreProgress) => void
}

export interface RestoreProgress {
  readonly phase: 'rows' | 'indexes'
  readonly done: number
  readonly of: number
  /** Number of rows that are in the tables now. */
  readonly rows: number
}

/** Result of a restore. */
export interface RestoreReport {
  readonly manifest: Manifest
  /** Readers of the database, with the names in this database. */
  readonly readers: Manifest['readers']
  /** Number of files that an earlier, interrupted run had loaded. */
  readonly resumedFiles: number
  /** Migrations that were applied because the dump lacks them. */
  readonly migrations: readonly number[]
  readonly seconds: number
}

/**
 * Restores a published dump into a database without data. An interrupted restore can be continued; no process serves
 * the database before the restore is complete.
 *
 * @throws FatalError `USAGE`, `DUMP_UNFIT`, `DUMP_UNTRUSTED`, `DUMP_DAMAGED`, `DATABASE_TOO_NEW`, `CHAIN_MISMATCH`,
 * `RESTORE_TARGET_FILLED`; RetryableError `DUMP_UNREACHABLE`, `RESTORE_UNFINISHED` after a stop; see
 * `databaseFailure`.
 */
export async function restore(options: RestoreOptions): Promise<RestoreReport> {
  const source = openSource(options.from)
  try {
    const target = await RestoreTarget.open(options.database)
    try {
      return await new Restore(options, source, target).run()
    } finally {
      await target.close().catch(() => undefined)
    }
  } catch (error) {
    if (options.signal.aborted)
      throw new RetryableError('RESTORE_UNFINISHED', 'the restore was stopped', { cause: error })
    if (error instanceof PronghornError) throw error
    throw databaseFailure(error, 'the database cannot be written', options.database)
  }
}

/** @throws FatalError `USAGE` for an address that is neither a folder nor an HTTP or HTTPS URL. */
function openSource(from: string): DumpSource {
  if (from !== '' && !/^[a-z][a-z0-9+.-]*:\/\//i.test(from)) return openFolderSource(from)
  const url = URL.canParse(from) ? new URL(from) : undefined
  const isHttp = url?.protocol === 'http:' || url?.protocol === 'https:'
  // A percent sign in a user name or password must begin an escape.
  if (url === undefined || !isHttp || /%(?![0-9a-f]{2})/i.test(url.username + url.password))
    throw new FatalError(
      'USAGE',
      'the address of a dump must be a folder or an http or https URL, such as https://nft.example/dump',
    )
  return openHttpSource(from)
}

class Restore {
  readonly #options: RestoreOptions
  readonly #source: DumpSource
  readonly #target: RestoreTarget
  /** Stops all sessions of the restore after one of them failed. */
  readonly #stop = new AbortController()
  readonly #signal: AbortSignal
  #rows = 0

  constructor(options: RestoreOptions, source: DumpSource, target: RestoreTarget) {
    this.#options = options
    this.#source = source
    this.#target = target
    this.#signal = AbortSignal.any([options.signal, this.#stop.signal])
  }

  async run(): Promise<RestoreReport> {
    const started = performance.now()
    const signed = await this.#begin()
    const manifest = await openManifest(signed, this.#options)
    const resumedFiles = await this.#load(manifest)
    const check: Task = (session) => checkRestored(session, manifest)
    // If the dump lacks migrations, seals are checked after these migrations, which may add columns that seals cover.
    const isCheckedFirst = await isNewest(manifest.migrations)
    await this.#build((stage) => stage < QUERY_STAGE, isCheckedFirst ? [check] : [])
    const migrations = await migrateRestored(this.#target.client)
    await this.#build((stage) => stage >= QUERY_STAGE, isCheckedFirst ? [] : [check])
    await this.#target.finish(() => this.#nameReader(manifest))
    const [reader, ...others] = manifest.readers
    const readers = [{ ...reader!, name: this.#options.reader ?? reader!.name }, ...others]
    return { manifest, readers, resumedFiles, migrations, seconds: (performance.now() - started) / 1000 }
  }

  /** Continues an unfinished restore with its stored manifest, or begins a new one. */
  async #begin(): Promise<SignedManifest> {
    const target = this.#target
    await target.refuseOthers()
    const run = this.#options.anew ? undefined : await target.readRun()
    if (run !== undefined) return run
    const signed = await readManifest(this.#source, this.#signal, this.#options.keyFile !== undefined)
    const manifest = await openManifest(signed, this.#options)
    await checkMigrations(manifest.migrations)
    await target.begin(signed, manifest)
    return signed
  }

  /** Loads the files of the dump. @returns the number of files that an earlier run had loaded. */
  async #load(manifest: Manifest): Promise<number> {
    const loaded = await this.#target.readLoaded()
    const queue = new FileQueue(manifest, loaded)
    const files = manifest.tables.flatMap((table) => table.files)
    let done = 0
    for (const { path, bytes, rows } of files) {
      if (!loaded.has(path)) continue
      done += bytes
      this.#rows += rows
    }
    const of = files.reduce((sum, { bytes }) => sum + bytes, 0)
    this.#report('rows', done, of)
    await this.#eachSession(async (session) => {
      const fetchNext = () => {
        const next = queue.take()
        if (next === undefined) return undefined
        const packed = fetchFile(this.#source, next.file, this.#signal)
        // The download of the next file runs while the current file is loaded. If loading fails, nothing awaits the
        // download, and without this handler a failed download would be an unhandled rejection.
        packed.catch(() => undefined)
        return { next, packed }
      }
      for (let current = fetchNext(); current !== undefined && !this.#signal.aborted;) {
        const packed = await current.packed
        const following = fetchNext()
        await loadFile(session, current.next, packed)
        queue.end(current.next)
        done += current.next.file.bytes
        this.#rows += current.next.file.rows
        this.#report('rows', done, of)
        current = following
      }
    })
    return loaded.size
  }

  /** Runs the stored statements stage by stage, each once; `checks` run concurrently with the first stage. */
  async #build(isWanted: (stage: number) => boolean, checks: readonly Task[]): Promise<void> {
    const { rows } = await this.#target.client.query<Statement>(
      `SELECT d.id, d.stage, d.statement FROM restore.definitions d LEFT JOIN pg_class c ON c.oid = to_regclass(d.table_name)
       ORDER BY d.stage, pg_table_size(c.oid) DESC NULLS LAST, d.id`,
    )
    const wanted = rows.filter(({ stage }) => isWanted(stage))
    const stages = [...new Set(wanted.map(({ stage }) => stage))].map((stage) =>
      wanted
        .filter((each) => each.stage === stage)
        .map(
          (each): Task =>
            (session) =>
              runOnce(session, each),
        ),
    )
    const [first = [], ...later] = stages
    const of = checks.length + wanted.length
    let done = 0
    this.#report('indexes', done, of)
    for (const tasks of [[...checks, ...first], ...later])
      await this.#eachSession(async (session) => {
        for (let task = tasks.shift(); task && !this.#signal.aborted; task = tasks.shift()) {
          await task(session)
          this.#report('indexes', ++done, of)
        }
      })
  }

  /** Runs a task on each of the sessions; the first failure stops the others. */
  async #eachSession(task: Task): Promise<void> {
    const sessions = await Promise.all(
      Array.from({ length: this.#options.jobs }, () => openSession(this.#options.database)),
    )
    let failure: unknown
    await Promise.all(
      sessions.map((session) =>
        task(session).catch((error: unknown) => {
          failure ??= error
          this.#stop.abort()
        }),
      ),
    )
    await Promise.all(sessions.map((session) => session.end().catch(() => undefined)))
    if (failure !== undefined) throw failure as Error
    if (this.#options.signal.aborted)
      throw new RetryableError('RESTORE_UNFINISHED', 'the restore was stopped')
  }

  /** Renames the reader of the dump to the configured name. */
  async #nameReader({ readers }: Manifest): Promise<void> {
    const { reader: name } = this.#options
    const { client } = this.#target
    if (name === undefined || readers[0]!.name === name) return
    const { rows } = await client.query<{ name: string; column: string }>(
      `SELECT c.oid::regclass::text AS name, a.attname AS column FROM pg_class c
       JOIN pg_attribute a ON a.attrelid = c.oid JOIN pg_namespace n ON n.oid = c.relnamespace
       WHERE n.nspname IN ('chain', 'state') AND c.relkind = 'r'
         AND (a.attname = 'reader' OR c.oid = 'chain.readers'::regclass AND a.attname = 'name')`,
    )
    for (const { name: table, column } of rows)
      await client.query(`UPDATE ${table} SET ${column} = $1 WHERE ${column} = $2`, [name, readers[0]!.name])
  }

  #report(phase: RestoreProgress['phase'], done: number, of: number): void {
    this.#options.onProgress?.({ phase, done, of, rows: this.#rows })
  }
}

type Task = (session: pg.Client) => Promise<void>

interface Statement {
  readonly id: number
  readonly stage: number
  readonly statement: string
}

async function runOnce(session: pg.Client, { id, statement }: Statement): Promise<void> {
  await session.query('BEGIN')
  try {
    await session.query(statement)
    await session.query('DELETE FROM restore.definitions WHERE id = $1', [id])
    await session.query('COMMIT')
  } catch (error) {
    await session.query('ROLLBACK').catch(() => undefined)
    const { code } = error as { readonly code?: unknown }
    if (typeof code === 'string' && code.startsWith('23'))
      throw new FatalError(
        'DUMP_DAMAGED',
        `the rows of the dump violate a constraint, so this statement fails: ${statement}`,
        {
          cause: error,
        },
      )
    throw error
  }
}
