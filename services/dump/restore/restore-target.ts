import { setTimeout as delay } from 'node:timers/promises'
import type pg from 'pg'
import { connectDatabase, databaseFailure, refusePooledTransactions } from '../../core/database/index.ts'
import type { DatabaseAddress } from '../../core/database/index.ts'
import {
  checkServer,
  isNewest,
  publishSchema,
  recreateSchema,
  RESTORE_SCHEMA,
} from '../../core/database/restoring/index.ts'
import { FatalError } from '../../core/errors/index.ts'
import { excludeOthers, noticeKills } from '../exclusive-run.ts'
import { readPublishedTables } from '../publish/published-tables.ts'
import type { Manifest } from '../format/manifest.ts'
import { storeDefinitions } from './definitions.ts'

/** The unparsed bytes of a manifest, with its signature. */
export interface SignedManifest {
  readonly bytes: Buffer
  /** Text of the signature file; null if there is none. */
  readonly signature: string | null
}

const APPLICATION_NAME = 'pronghorn restore'
const LOCK = "pg_try_advisory_lock(hashtextextended('pronghorn restore', 0))"
/** A partition holds 2^33 global sequences; `chain.ensure_partition` uses the same size. */
const PARTITION_BITS = 33n
/**
 * With `synchronous_commit` off, a crash of PostgreSQL may lose the last transactions. A lost file is also missing in
 * `restore.files`, so the next run loads it again.
 */
const settings = { synchronous_commit: 'off', maintenance_work_mem: '256MB', jit: 'off' }
/** Time to wait until other sessions end, ms: services that wait for the end of a restore connect repeatedly. */
const OTHERS_MS = 2_000
const OTHERS_POLL_MS = 50

/** Tables whose rows the migrations insert. */
const FILLED_BY_MIGRATIONS = /\.log_actions$/

/** Opens a session that loads rows or builds indexes. */
export async function openSession(address: DatabaseAddress): Promise<pg.Client> {
  const client = await connectDatabase(address, {
    ...{ applicationName: APPLICATION_NAME, settings },
    isOfRestore: true,
  })
  await noticeKills(client)
  return client
}

/** The database that a restore fills; holds the lock that excludes other restores. */
export class RestoreTarget {
  readonly client: pg.Client

  private constructor(client: pg.Client) {
    this.client = client
  }

  /**
   * @throws FatalError `RESTORE_TARGET_FILLED`, `DATABASE_POOLER`, `DATABASE_VERSION`, `DATABASE_ENCODING`; see `databaseFailure`. */
  static async open(address: DatabaseAddress): Promise<RestoreTarget> {
    const client = await openSession(address).catch((cause: unknown) => {
      throw databaseFailure(cause, 'the database cannot be reached', address)
    })
    try {
      await checkServer(client)
      await refusePooledTransactions(client, address)
      if (!(await excludeOthers(client, LOCK)))
        throw new FatalError('RESTORE_TARGET_FILLED', 'another restore into this database is running')
    } catch (error) {
      await client.end()
      throw error
    }
    return new RestoreTarget(client)
  }

  close(): Promise<void> {
    return this.client.end()
  }

  /** The manifest of an unfinished restore; undefined if there is none. */
  async readRun(): Promise<SignedManifest | undefined> {
    if (!(await this.#exists(`${RESTORE_SCHEMA}.run`))) return undefined
    const { rows } = await this.client.query<SignedManifest>(
      'SELECT manifest AS bytes, signature FROM restore.run',
    )
    return rows[0]
  }

  /**
   * Replaces the empty schema by the schema of the dump, without indexes.
   *
   * @throws FatalError `RESTORE_TARGET_FILLED`, `DUMP_UNFIT`.
   */
  async begin({ bytes, signature }: SignedManifest, manifest: Manifest): Promise<void> {
    const { client } = this
    await this.refuseOthers()
    if ((await this.readRun()) === undefined) await this.#refuseData()
    await this.#transaction(async () => {
      await recreateSchema(client, manifest.migrations)
      await client.query('CREATE TABLE restore.run (manifest bytea NOT NULL, signature text)')
      await client.query('INSERT INTO restore.run (manifest, signature) VALUES ($1, $2)', [bytes, signature])
      await client.query('CREATE TABLE restore.files (path text COLLATE "C" PRIMARY KEY)')
      await this.#requireTables(manifest)
      const names = manifest.tables.map(({ name }) => name)
      // Deletes the rows that migrations insert, because the dump contains these rows too.
      await client.query(`TRUNCATE ${names.join(', ')}`)
      await storeDefinitions(client, names, await isNewest(manifest.migrations))
      for (const { name, partitions } of manifest.tables)
        for (const partition of partitions)
          await client.query('SELECT chain.ensure_partition($1::regclass, $2)', [
            name,
            BigInt(partition) << PARTITION_BITS,
          ])
    })
    // From this commit on, services refuse a database with an unfinished restore. `refuseOthers` finds sessions that
    // connected before.
    await this.refuseOthers()
  }

  /** Reads the paths of the files that are loaded, also by earlier runs. */
  async readLoaded(): Promise<Set<string>> {
    const { rows } = await this.client.query<{ path: string }>('SELECT path FROM restore.files')
    return new Set(rows.map(({ path }) => path))
  }

  /** Refuses a database that other programs use: they would see tables without rows. */
  async refuseOthers(): Promise<void> {
    const deadline = performance.now() + OTHERS_MS
    for (;;) {
      const names = await this.#readOthers()
      if (names.length === 0) return
      if (performance.now() > deadline)
        throw new FatalError(
          'RESTORE_TARGET_FILLED',
          `${names.length} connections use the database: ${names.join(', ')}`,
        )
      await delay(OTHERS_POLL_MS)
    }
  }

  /** Application names of the other sessions of the database. */
  async #readOthers(): Promise<string[]> {
    // `backend_type` of sessions of other roles is null, unless this role may read pg_stat_activity entirely.
    const { rows } = await this.client.query<{ name: string }>(
      `SELECT coalesce(nullif(application_name, ''), 'process ' || pid) AS name FROM pg_stat_activity
       WHERE datname = current_database() AND application_name <> $1 AND usesysid IS NOT NULL
         AND coalesce(backend_type, 'client backend') = 'client backend' ORDER BY 1`,
      [APPLICATION_NAME],
    )
    return rows.map(({ name }) => name)
  }

  /**
   * Completes the restore: services accept the database from this commit on. `statements` run in the same transaction.
   */
  async finish(statements: () => Promise<void>): Promise<void> {
    await this.#transaction(async () => {
      // The sessions of a restore have `synchronous_commit` off, but the final commit must be on the disk.
      await this.client.query('SET LOCAL synchronous_commit = on')
      await statements()
      await publishSchema(this.client)
    })
  }

  async #transaction(task: () => Promise<void>): Promise<void> {
    await this.client.query('BEGIN')
    try {
      await task()
      await this.client.query('COMMIT')
    } catch (error) {
      await this.client.query('ROLLBACK').catch(() => undefined)
      throw error
    }
  }

  async #exists(table: string): Promise<boolean> {
    const { rows } = await this.client.query<{ found: boolean }>(
      'SELECT to_regclass($1) IS NOT NULL AS found',
      [table],
    )
    return rows[0]!.found
  }

  async #refuseData(): Promise<void> {
    for (const [table, what] of [
      ['chain.readers', "'reader ' || name || ' at block ' || block_num"],
      ['chain.imports', "'an import for reader ' || reader"],
      ['access.api_keys', "'API key ' || key_id"],
    ] as const) {
      if (!(await this.#exists(table))) continue
      const { rows } = await this.client.query<{ what: string }>(
        `SELECT ${what} AS what FROM ${table} ORDER BY 1`,
      )
      if (rows.length > 0)
        throw new FatalError(
          'RESTORE_TARGET_FILLED',
          `the database holds ${rows.map((row) => row.what).join(', ')}`,
        )
    }
    const filled = await this.#readFilledTables()
    if (filled.length > 0)
      throw new FatalError('RESTORE_TARGET_FILLED', `the database has rows in ${filled.join(', ')}`)
  }

  /** Names of the published tables with rows, without the tables that the migrations fill. */
  async #readFilledTables(): Promise<string[]> {
    const tables = (await readPublishedTables(this.client)).filter(
      ({ name }) => !FILLED_BY_MIGRATIONS.test(name),
    )
    if (tables.length === 0) return []
    const { client } = this
    const parts = tables.map(({ name }) => {
      const dot = name.indexOf('.')
      const table = [name.slice(0, dot), name.slice(dot + 1)]
        .map((part) => client.escapeIdentifier(part))
        .join('.')
      return `SELECT ${client.escapeLiteral(name)} AS name WHERE EXISTS (SELECT FROM ${table})`
    })
    const { rows } = await client.query<{ name: string }>(parts.join(' UNION ALL '))
    return rows.map(({ name }) => name)
  }

  /** Checks that dump and schema have the same tables with the same columns. */
  async #requireTables({ tables }: Manifest): Promise<void> {
    const own = await readPublishedTables(this.client)
    const listed = (all: readonly { readonly name: string; readonly columns: readonly string[] }[]) =>
      all.map(({ name, columns }) => `${name} (${columns.join(', ')})`)
    const [theirs, ours] = [listed(tables), listed(own)]
    const differing = [
      ...theirs.filter((table) => !ours.includes(table)),
      ...ours.filter((table) => !theirs.includes(table)),
    ]
    if (differing.length > 0)
      throw new FatalError(
        'DUMP_UNFIT',
        `the tables or columns of the dump do not match its migrations: ${differing.join('; ')}`,
      )
  }
}
