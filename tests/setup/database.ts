import { randomBytes } from 'node:crypto'
import { inject } from 'vitest'
import { connectDatabase } from '../../services/core/database/index.ts'
import type { DatabaseAddress } from '../../services/core/database/index.ts'

/** A separate database for a test. */
export interface TestDatabase {
  readonly address: DatabaseAddress
  /** Drops it; remaining connections are cut. */
  drop(): Promise<void>
}

/** Copies the migrated template (or makes an empty database with `template: 'template0'`). */
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
