/** Starts the api of a measurement in its own process. */
import type { DatabaseAddress } from '../../services/core/database/index.ts'
import { generatedChainId } from './generated/index.ts'
import { startServerProcess } from './server-process.ts'
import type { ServerProcess } from './server-process.ts'

/** Settings of the api that a measurement may change. */
export interface ApiSettings {
  /** `cache_life`, default 0: answers are not cached. */
  readonly lifeSeconds?: number
  /** Default true. */
  readonly isCachingFragments?: boolean
  /** `rate_limit.requests` of each address a minute; without it there is no limit. */
  readonly requestsPerMinute?: number | undefined
}

/**
 * Starts an api on a generated database, with the namespaces of families (a comma list) and more variables in its
 * environment. Its `url` is that of the first family's namespace.
 * @throws Error when it exits before it listens.
 */
export function startApiProcess(
  address: DatabaseAddress,
  families = 'assets',
  environment: Readonly<Record<string, string>> = {},
  settings: ApiSettings = {},
): Promise<ServerProcess> {
  const file = import.meta.filename.replace(/api-server\.(js|ts)$/, 'api-process.$1')
  return startServerProcess(
    file,
    [JSON.stringify(address), generatedChainId, families, JSON.stringify(settings)],
    environment,
  )
}
