import { rootCertificates } from 'node:tls'
import type { AppConfig } from '../../core/config/index.ts'
import { CONTAINER_FOLDER } from '../../core/paths/index.ts'

/** A file that `render` writes. */
export interface RenderedFile {
  /** Subfolder of the output folder: name of the service that reads the file, or `secrets`. */
  readonly service: string
  readonly name: string
  readonly text: string
  /**
   * File mode. A file may be readable for all: the service runs as another user, and no other service mounts the
   * folder.
   */
  readonly mode: number
}

/** Copy of the private key: libpq refuses a key file that other users may read. */
const PRIVATE_KEY = '/tmp/postgres-client.key'
/** Shell command that copies the private key of the database client to PRIVATE_KEY. */
export const PRIVATE_KEY_COMMAND = `(umask 077 && cat ${CONTAINER_FOLDER}/postgres-client.key >${PRIVATE_KEY})`

/**
 * Renders the encryption of database connections. `files` has a file of shell variables for the programs of PostgreSQL.
 * `parameters` is the query string of the PostgreSQL URL that Hasura uses.
 */
export function renderLibpq(
  ssl: AppConfig['connections']['sqldb']['ssl'],
  texts: ReadonlyMap<string, string>,
): { readonly files: readonly RenderedFile[]; readonly parameters: string } {
  if (ssl.mode === 'off') {
    return {
      files: [{ service: 'postgres', name: 'connection', text: 'export PGSSLMODE=prefer\n', mode: 0o444 }],
      parameters: '',
    }
  }
  const authorities = new Map(texts)
  // libpq has no default certificate authorities.
  if (ssl.mode === 'verify-full' && ssl.ca_file === undefined)
    authorities.set('postgres-ca.pem', rootCertificates.join('\n'))
  const parameters = {
    sslmode: ssl.mode,
    ...(ssl.mode === 'verify-full'
      ? { sslrootcert: ssl.ca_file ?? `${CONTAINER_FOLDER}/postgres-ca.pem` }
      : {}),
    ...(ssl.cert_file === undefined ? {} : { sslcert: ssl.cert_file, sslkey: PRIVATE_KEY }),
  }
  const lines = Object.entries(parameters).map(([name, value]) => `export PG${name.toUpperCase()}='${value}'`)
  const text = [...(ssl.cert_file === undefined ? [] : [PRIVATE_KEY_COMMAND]), ...lines, ''].join('\n')
  const files = [...authorities]
    .filter(([name]) => name.startsWith('postgres-'))
    .flatMap(([name, content]) =>
      ['postgres', 'hasura'].map((service) => ({ service, name, text: content, mode: 0o444 })),
    )
  return {
    files: [...files, { service: 'postgres', name: 'connection', text, mode: 0o444 }],
    parameters: `?${String(new URLSearchParams(parameters))}`,
  }
}
