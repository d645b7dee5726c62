import { createHash, randomBytes } from 'node:crypto'
import { inject } from 'vitest'
import { connectDatabase } from '../../services/core/database/index.ts'
import type { DatabaseAddress } from '../../services/core/database/index.ts'

/** A database of its own for a test. */
export interface TestDatabase {
  readonly address: DatabaseAddress
  /** Drops the database; open connections are cut. */
  drop(): Promise<void>
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
  const admin = await connectDatabase(inject('postgres'), { applicationName: 'test' })
  try {
    // One worker process fills the original while the others wait; the end of the session releases the lock.
    await admin.query('SELECT pg_advisory_lock(hashtextextended($1, 0))', [name])
    const { rowCount } = await admin.query('SELECT FROM pg_database WHERE datname = $1', [name])
    if (rowCount === 0) {
      const { address } = await createTestDatabase()
      await fill(address)
      await admin.query(`ALTER DATABASE ${address.database} ALLOW_CONNECTIONS false`)
      await admin.query(`ALTER DATABASE ${address.database} RENAME TO ${name}`)
    }
  } finally {
    await admin.end()
  }
  return createTestDatabase(name)
}

/** Creates a database from the migrated template; `template: 'template0'` makes an empty one. */
export async function createTestDatabase(template = 'pronghorn_template'): Promise<TestDatabase> {
  const maintenance = inject('postgres')
  const database = `test_${randomBytes(8).toString('hex')}`
  const admin = await connectDatabase(maintenance, { applicationName: 'test' })
  try {
    await admin.query(`CREATE DATABASE ${database} TEMPLATE ${template}`)
  } finally {
    await admin.end()
  }
  return {
    address: { ...maintenance, database },
    async drop() {
      const again = await connectDatabase(maintenance, { applicationName: 'test' })
      await again.query(`DROP DATABASE IF EXISTS ${database} WITH (FORCE)`)
      await again.end()
    },
  }
}
