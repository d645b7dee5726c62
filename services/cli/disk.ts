import type { Environment } from '../core/config/environment/index.ts'

/**
 * A folder on the database's disk. Undefined if the server is not the bundled one: the compose file mounts the folder
 * anyway.
 */
export function diskOfDatabase(env: Environment, given: string | undefined): string | undefined {
  return env.POSTGRES_BUNDLED === 'false' ? undefined : given
}
