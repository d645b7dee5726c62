import type { EmbeddedPostgresOptions } from '../../services/standalone/embedded-postgres/server.ts'

/** Packages of the servers that the tests run on, by version. */
const packages: Readonly<Record<string, string | undefined>> = { '18': 'embedded-postgres-18' }

/** Which PostgreSQL the suites run on: 14, or what PRONGHORN_TEST_POSTGRES names. */
export const testedServer: EmbeddedPostgresOptions = choose(process.env.PRONGHORN_TEST_POSTGRES ?? '14')

function choose(version: string): EmbeddedPostgresOptions {
  if (version === '14') return {}
  const name = packages[version]
  if (name === undefined) throw new Error(`PRONGHORN_TEST_POSTGRES: there is no server of version ${version}`)
  return { package: name }
}
