import { readFileSync } from 'node:fs'
import type { ConnectionOptions } from 'node:tls'
import { FatalError } from '../errors/index.ts'

/** Encryption of connections to PostgreSQL, with the keys of `sqldb.ssl`. */
export interface DatabaseSsl {
  /** `require` accepts any certificate; `verify-full` requires a certificate for the host from a trusted authority. */
  readonly mode: 'off' | 'require' | 'verify-full'
  /** File with the certificates of trusted authorities. Default: the authorities that Node.js trusts. */
  readonly ca_file?: string | undefined
  readonly cert_file?: string | undefined
  readonly key_file?: string | undefined
}

/**
 * Converts the settings to the `ssl` option of `pg`. The files are read for each new pool.
 * @throws FatalError `CONFIG_INVALID` if a file cannot be read.
 */
export function sslOptions(ssl: DatabaseSsl | undefined): false | ConnectionOptions {
  if (ssl === undefined || ssl.mode === 'off') return false
  return {
    rejectUnauthorized: ssl.mode === 'verify-full',
    ...contentOf('ca', ssl.ca_file),
    ...contentOf('cert', ssl.cert_file),
    ...contentOf('key', ssl.key_file),
  }
}

function contentOf(key: 'ca' | 'cert' | 'key', file: string | undefined): ConnectionOptions {
  if (file === undefined) return {}
  try {
    return { [key]: readFileSync(file, 'utf8') }
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? 'unreadable'
    throw new FatalError('CONFIG_INVALID', `sqldb.ssl.${key}_file: ${file} cannot be read (${code})`, {
      cause,
    })
  }
}
