import { createHash, randomBytes } from 'node:crypto'
import type { Pool, QueryResult } from 'pg'
import { inject } from 'vitest'
import { connectDatabase, createPool } from '../../services/core/database/index.ts'
import type { DatabaseAddress } from '../../services/core/database/index.ts'
import { testedServer } from './tested-server.ts'

/** A database that one test uses alone. */
export interface TestDatabase {
  readonly address: DatabaseAddress
  /** Drops the database; open connections are cut. */
  drop(): Promise<void>
}

let pool: Pool | undefined

/**
 * Runs a statement on the maintenance database. The worker process does not close its connections, because a new
 * connection takes about 40 ms of processor time, as much as the copy of a database (measured 2026-11-29).
 */
function administrate(statement: string, values: readonly string[] = []): Promise<QueryResult> {
  pool ??= createPool(inject('postgres'), { applicationName: 'test', max: 2 })
  return pool.query(statement, [...values])
}

/**
 * Creates a copy of a database that several suites start from. The first caller fills the original; all test files of
 * a run share the original and never connect to it.
 *
 * @param content key of the content: equal keys must stand for equal content.
 */
export async function copySharedDatabase(
  content: string,
  fill: (address: DatabaseAddress) => Promise<void>,
): Promise<TestDatabase> {
  const name = `shared_${createHash('sha256').update(content).digest('hex').slice(0, 16)}`
  if (!(await isThere(name))) await createShared(name, fill)
  return createTestDatabase(name)
}

async function isThere(database: string): Promise<boolean> {
  const { rowCount } = await administrate('SELECT FROM pg_database WHERE datname = $1', [database])
  return rowCount === 1
}

/** Creates and fills a database in one worker process, while the others wait. */
async function createShared(name: string, fill: (address: DatabaseAddress) => Promise<void>): Promise<void> {
  const admin = await connectDatabase(inject('postgres'), { applicationName: 'test' })
  try {
    // The end of the database session releases the lock.
    await admin.query('SELECT pg_advisory_lock(hashtextextended($1, 0))', [name])
    if (await isThere(name)) return
    const { address } = await createTestDatabase()
    await fill(address)
    await administrate(`ALTER DATABASE ${address.database} ALLOW_CONNECTIONS false`)
    await administrate(`ALTER DATABASE ${address.database} RENAME TO ${name}`)
  } finally {
    await admin.end()
  }
}

/**
 * PostgreSQL 18 copies the files of a database only on request; otherwise it writes the copy to the WAL. The copy of the
 * migrated template takes 37 ms of processor time then, instead of 60 to 220 ms (measured 2026-11-29).
 */
const strategy = testedServer.package === undefined ? '' : ' STRATEGY FILE_COPY'

/** Creates a database from the migrated template; `template: 'template0'` makes an empty one. */
export async function createTestDatabase(template = 'pronghorn_template'): Promise<TestDatabase> {
  const database = `test_${randomBytes(8).toString('hex')}`
  await administrate(`CREATE DATABASE ${database} TEMPLATE ${template}${strategy}`)
  return {
    address: { ...inject('postgres'), database },
    async drop() {
      await administrate(`DROP DATABASE IF EXISTS ${database} WITH (FORCE)`)
    },
  }
}
