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

/** Cache lifetime of the page's JSON, ms. Any number of open pages costs one snapshot per lifetime. */
const DATA_LIFE_MS = 1_000

export interface ConsoleParts {
  readonly info: ServerInfo
  readonly revision: string | undefined
  readonly health: HealthSettings
  readonly state: () => HealthState
  readonly history: ProgressHistory
  readonly database: RequestDatabase
  readonly kvstore: KeyValueStore
  readonly namespaces: ServerConfig['namespaces']
  /** Returns the path of a namespace's event stream, or undefined if the namespace has no stream. */
  readonly eventsOf: (entry: ServerConfig['namespaces'][number]) => string | undefined
  /** Returns the port of the state service on this host, or undefined until the port is known. */
  readonly statePort: () => number | undefined
  readonly logger: Logger
}

/**
 * Routes of the console: the page at `/`, and its data below `/status`. The data comes from the memory of the process.
 * Only the table sizes are queried from the database, rarely, and only while a console is open.
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
    // Without table sizes the page's JSON is not cached, because the running measurement will finish shortly.
    if (data.database !== null) texts.set(range, { text, endMs: nowMs + DATA_LIFE_MS })
    return text
  }
  // Loading the console page starts the measurement, so that the table sizes are ready when the page requests its data.
  return pageRoutes(dataText, () => void sizes.current())
}
