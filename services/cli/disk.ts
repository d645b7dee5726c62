import type { Environment } from '../core/config/environment/index.ts'

/** The folder on the disk of the database; undefined where the compose file mounts one and the server is another. */
export function diskOfDatabase(env: Environment, given: string | undefined): string | undefined {
  return env.POSTGRES_BUNDLED === 'false' ? undefined : given
}
