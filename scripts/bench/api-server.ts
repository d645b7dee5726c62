/** Starts the API for a benchmark as a separate process. */
import type { DatabaseAddress } from '../../services/core/database/index.ts'
import { generatedChainId } from './generated/index.ts'
import { startServerProcess } from './server-process.ts'
import type { ServerProcess } from './server-process.ts'

/** API settings that a benchmark may change. */
export interface ApiSettings {
  /** `cache_life`, seconds. Default 0: answers are not cached. */
  readonly lifeSeconds?: number
  /** Whether the cache of record fragments is used. Default true. */
  readonly isCachingFragments?: boolean
  /** Whether the API warms up before it listens. Default true. */
  readonly isWarmedUp?: boolean
  /** `rate_limit.requests` per address and minute; undefined means no limit. */
  readonly requestsPerMinute?: number | undefined
}

/**
 * Starts an API on a generated database.
 * @param families comma list; the API serves the namespaces of these families.
 * @returns the process; its `url` is the URL of the first family's namespace.
 * @throws Error if the API exits before it listens.
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
