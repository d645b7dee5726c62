import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto'
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
  await admin.query(`ALTER ROLE ${user} PASSWORD '${quickVerifier(password)}'`)
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

/**
 * Verifier of a password for SCRAM-SHA-256 with one iteration. With PostgreSQL's 4,096 iterations a client takes 3.7 ms
 * of processor time for a connection, with one iteration 2.0 ms (measured 2026-11-30), and the tests make thousands of
 * connections.
 */
function quickVerifier(password: string): string {
  const salt = randomBytes(16)
  const salted = pbkdf2Sync(password, salt, 1, 32, 'sha256')
  const sign = (text: string) => createHmac('sha256', salted).update(text).digest()
  const storedKey = createHash('sha256').update(sign('Client Key')).digest('base64')
  return `SCRAM-SHA-256$1:${salt.toString('base64')}$${storedKey}:${sign('Server Key').toString('base64')}`
}
