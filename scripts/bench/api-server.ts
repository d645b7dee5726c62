/** Starts the api of a measurement in its own process. */
import type { DatabaseAddress } from '../../services/core/database/index.ts'
import { generatedChainId } from './generated/index.ts'
import { startServerProcess } from './server-process.ts'
import type { ServerProcess } from './server-process.ts'

/**
 * Starts an api on a generated database, with the namespaces of families (a comma list) and more variables in its
 * environment. Its `url` is that of the first family's namespace.
 * @param cachesOff comma list of the caches that are switched off.
 * @throws Error when it exits before it listens.
 */
export function startApiProcess(
  address: DatabaseAddress,
  families = 'assets',
  environment: Readonly<Record<string, string>> = {},
  cachesOff = '',
): Promise<ServerProcess> {
  const file = import.meta.filename.replace(/api-server\.(js|ts)$/, 'api-process.$1')
  return startServerProcess(
    file,
    [JSON.stringify(address), generatedChainId, families, cachesOff],
    environment,
  )
}
