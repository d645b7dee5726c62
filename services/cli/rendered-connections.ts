import { join } from 'node:path'
import { loadConfig } from '../core/config/index.ts'
import type { ConnectionsConfig } from '../core/config/connections/index.ts'
import { CONTAINER_FOLDER } from '../core/paths/index.ts'

/**
 * Reads the connections that render-config wrote for a service, and changes the file paths in them: the path of the
 * service's folder on the host is not the path in the service's container.
 * @throws ConfigError
 */
export function readRenderedConnections(folder: string): ConnectionsConfig {
  return relocate(loadConfig({ need: ['connections'], dir: folder, env: {} }).config.connections, folder)
}

/** Changes the paths of certificates and keys from the folder in the container to `folder`. */
export function relocate(connections: ConnectionsConfig, folder: string): ConnectionsConfig {
  const here = (path: string | undefined): string | undefined =>
    path?.startsWith(`${CONTAINER_FOLDER}/`) ? join(folder, path.slice(CONTAINER_FOLDER.length)) : path
  const { sqldb, kvstore } = connections
  const { ssl } = sqldb
  return {
    ...connections,
    sqldb: {
      ...sqldb,
      password_file: here(sqldb.password_file),
      ssl: {
        mode: ssl.mode,
        ca_file: here(ssl.ca_file),
        cert_file: here(ssl.cert_file),
        key_file: here(ssl.key_file),
      },
    },
    kvstore: kvstore && {
      ...kvstore,
      password_file: here(kvstore.password_file),
      tls:
        typeof kvstore.tls === 'object'
          ? { ...kvstore.tls, ca_file: here(kvstore.tls.ca_file) }
          : kvstore.tls,
    },
  }
}
