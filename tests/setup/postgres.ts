import type { TestProject } from 'vitest/node'
import { connectDatabase, migrate } from '../../services/core/database/index.ts'
import type { DatabaseAddress } from '../../services/core/database/index.ts'
import { startEmbeddedPostgres } from '../../services/standalone/index.ts'
import { testedServer } from './tested-server.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Maintenance database of the test run's server. */
    postgres: DatabaseAddress
  }
}

/** Name of the migrated database from which test databases are copied. */
export const TEMPLATE = 'pronghorn_template'

/** Starts one PostgreSQL server for the whole test run and creates the migrated template database. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  // Autovacuum is off: tests run ANALYZE themselves, and nothing else may change statistics or use a database while it
  // is copied.
  const settings = { max_connections: '200', autovacuum: 'off' }
  const server = await startEmbeddedPostgres({ ...testedServer, settings })
  const { host, port, user, password } = server
  const maintenance: DatabaseAddress = { host, port, user, password, database: 'postgres' }
  const admin = await connectDatabase(maintenance, { applicationName: 'test-setup' })
  await admin.query(`CREATE DATABASE ${TEMPLATE}`)
  await admin.end()
  const template = await connectDatabase(
    { ...maintenance, database: TEMPLATE },
    { applicationName: 'test-setup' },
  )
  await migrate(template)
  await template.end()
  project.provide('postgres', maintenance)
  return () => server.stop()
}
