import { join } from 'node:path'
import type { ConfigProblem } from '../../core/config/index.ts'
import type { Environment } from '../../core/config/environment/index.ts'
import { findVariable, settingVariables } from '../../core/config/environment/index.ts'

/** Where this program finds the operator's files and folders. */
export interface OperatorPlaces {
  /**
   * Folder in which Compose mounts every file or folder that a variable names, under the name of the variable.
   * Undefined outside of containers: paths are read as they are in the variables.
   */
  readonly mounted?: string | undefined
  /** Folder of the operator's certificate if `TLS_MODE` is `files` and `TLS_DIR` is not set. */
  readonly certificateFiles: string
  /** The project's folder; undefined if it is unknown. */
  readonly project?: string | undefined
}

/** Variables that name a folder of the host. */
const folders = ['CONFIG_FILES', 'TLS_DIR', 'DATA_LOCATION', 'BACKUP_DIR'] as const
/** Variables that name a file of the host. Variables of configuration keys are named after the key. */
const files = [
  'POSTGRES_SUPERUSER_PASSWORD_FILE',
  'BACKUP_HOOK',
  ...['SQLDB_SSL_CA_FILE', 'SQLDB_SSL_CERT_FILE', 'SQLDB_SSL_KEY_FILE', 'SQLDB_PASSWORD_FILE'],
  ...['KVSTORE_TLS_CA_FILE', 'KVSTORE_PASSWORD_FILE'],
] as const

/** Every variable that names a file or folder of the host. */
export const pathVariables: readonly string[] = [...folders, ...files]

/**
 * Every path that a path variable contains. `variable` is the name under which the path is mounted in containers,
 * `name` the name of the variable in `.env`.
 */
export function hostPaths(
  given: Environment,
): readonly { readonly variable: string; readonly name: string; readonly path: string }[] {
  return pathVariables.flatMap((variable) => {
    const setting = settingVariables.find(({ name }) => name === variable)
    if (setting === undefined) {
      const path = given[variable] ?? ''
      return path === '' ? [] : [{ variable, name: variable, path }]
    }
    const found = findVariable(setting, given)
    return found === undefined ? [] : [{ variable, name: found.name, path: found.text }]
  })
}

/** Path at which this program reads the file or folder of a variable. @param path its path on the host. */
export function placeOf(
  variable: string,
  path: string,
  { mounted }: Pick<OperatorPlaces, 'mounted'>,
): string {
  return mounted === undefined ? path : join(mounted, variable)
}

/** A problem of a host file, with the operator's path instead of the container path. */
export function withHostPath(problem: ConfigProblem, given: Environment): ConfigProblem {
  const path = hostPaths(given).find(({ name }) => name === problem.path)?.path
  return path === undefined ? problem : { ...problem, found: JSON.stringify(path) }
}
