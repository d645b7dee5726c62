import type { ServerConfig } from '../../core/config/schema/index.ts'
import type { KeyValueStore } from '../../core/kvstore/index.ts'
import type { Logger } from '../../core/log/index.ts'
import type { RequestDatabase } from '../database/index.ts'
import type { ServerInfo } from '../documentation/index.ts'
import type { HealthSettings, HealthState } from '../health/index.ts'
import type { RootRoute } from '../http/index.ts'
import type { HistoryRange } from './data.ts'
import type { ProgressHistory } from './history.ts'
import { cacheSizes } from './cached-sizes.ts'
import { pageRoutes } from './routes.ts'
import { describeNamespaces, takeSnapshot } from './snapshot.ts'
import { measureTables } from './table-sizes.ts'

/** The JSON of the page is cached for this time, ms: many open pages cost one snapshot. */
const DATA_LIFE_MS = 1_000

/** Dependencies of the console. */
export interface ConsoleParts {
  readonly info: ServerInfo
  readonly revision: string | undefined
  readonly health: HealthSettings
  readonly state: () => HealthState
  readonly history: ProgressHistory
  readonly database: RequestDatabase
  readonly kvstore: KeyValueStore
  readonly namespaces: ServerConfig['namespaces']
  /** Path of a namespace's event stream; undefined if it has none. */
  readonly eventsOf: (entry: ServerConfig['namespaces'][number]) => string | undefined
  /** Port of the state service on this host; undefined until it is known. */
  readonly statePort: () => number | undefined
  readonly logger: Logger
}

/**
 * Routes of the console: the page at `/`, its data below `/status`. It shows state that the process has in memory.
 * Only table sizes are queried, rarely, and only while a console is open.
 */
export function consoleRoutes(parts: ConsoleParts): RootRoute[] {
  const { database, kvstore, logger, history } = parts
  const sizes = cacheSizes({
    measure: () => measureTables(database),
    kvstore,
    isAvailable: () => database.available,
    logger,
  })
  const facts = {
    ...parts.info,
    revision: parts.revision,
    health: parts.health,
    namespaces: describeNamespaces(parts.namespaces, parts.eventsOf),
    statePort: parts.statePort,
  }
  const texts = new Map<HistoryRange, { readonly text: string; readonly endMs: number }>()
  const dataText = (range: HistoryRange): string => {
    const nowMs = performance.now()
    const known = texts.get(range)
    if (known && nowMs < known.endMs) return known.text
    const data = takeSnapshot(facts, {
      state: parts.state(),
      history,
      range,
      database: sizes.current(),
      nowMs: Date.now(),
    })
    const text = JSON.stringify(data)
    // Without sizes, do not cache: the running measurement finishes shortly.
    if (data.database !== null) texts.set(range, { text, endMs: nowMs + DATA_LIFE_MS })
    return text
  }
  // Loading the page starts the measurement, so that sizes are ready when the page requests them.
  return pageRoutes(dataText, () => void sizes.current())
}
