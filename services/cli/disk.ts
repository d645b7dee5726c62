import type { Environment } from '../core/config/environment/index.ts'

/**
 * Folder on the disk of the database. Undefined for an external database server: the compose file mounts the
 * folder of the bundled server even if that server is not used.
 */
export function diskOfDatabase(env: Environment, given: string | undefined): string | undefined {
  return env.POSTGRES_BUNDLED === 'false' ? undefined : given
}
