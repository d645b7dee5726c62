import type { EmbeddedPostgresOptions } from '../../services/standalone/embedded-postgres/server.ts'

/** PostgreSQL 18. On platforms other than Linux x64 npm installs only version 14, which is used instead. */
export const newerServer: EmbeddedPostgresOptions =
  process.platform === 'linux' && process.arch === 'x64' ? { package: 'embedded-postgres-18' } : {}

/** PostgreSQL version of the test suites: 14, or the version in PRONGHORN_TEST_POSTGRES. */
export const testedServer: EmbeddedPostgresOptions = choose(process.env.PRONGHORN_TEST_POSTGRES ?? '14')

function choose(version: string): EmbeddedPostgresOptions {
  if (version === '14') return {}
  if (version === '18') return newerServer
  throw new Error(`PRONGHORN_TEST_POSTGRES: there is no server of version ${version}`)
}
