import type { RequestDatabase } from '../database/index.ts'
import type { NamedLists } from '../../core/endpoint/index.ts'

/** Source of the items that a lookup of a named list returned: the cache or the database. */
export type ListLookup = 'cached' | 'read'

/** Cache of the named lists (of collections, accounts, ...) of the database. */
export interface CachedLists {
  /** Returns the items of a named list; undefined for an unknown list. */
  readonly find: NamedLists
  /** Drops all cached lists, because the API may now use another database. */
  forget(): void
}

export interface NamedListsOptions {
  readonly database: RequestDatabase
  readonly onLookup?: (lookup: ListLookup) => void
  readonly now?: () => number
}

/**
 * Time after which a cached list is read again, ms. A change of a list takes effect in all processes within this time.
 */
const LIFE_MS = 10_000
/** Maximum number of cached lists. The cache is limited, because clients can send any names and lists may be long. */
const MAX_CACHED = 500
/** Maximum number of items of all cached lists together. */
const MAX_CACHED_ITEMS = 1_000_000
/** Maximum length of the name of a list, characters. A list with a longer name counts as unknown, without a query. */
const MAX_NAME = 256

const ITEMS = `SELECT coalesce(array_agg(DISTINCT item) FILTER (WHERE item IS NOT NULL), '{}')
  FROM chain.lists LEFT JOIN LATERAL unnest(items) AS item ON true WHERE name = $1 HAVING count(*) > 0`

interface Cached {
  readonly items: readonly string[] | undefined
  readonly untilMs: number
}

/** Reads named lists and caches them for `LIFE_MS`. Concurrent requests for the same list share one read. */
export function createNamedLists(options: NamedListsOptions): CachedLists {
  const { database, onLookup, now = Date.now } = options
  const cached = new Map<string, Cached>()
  const looking = new Map<string, Promise<readonly string[] | undefined>>()
  let cachedItems = 0

  function drop(name: string): void {
    cachedItems -= cached.get(name)?.items?.length ?? 0
    cached.delete(name)
  }

  function store(name: string, items: readonly string[] | undefined): void {
    drop(name)
    cached.set(name, { items, untilMs: now() + LIFE_MS })
    cachedItems += items?.length ?? 0
    for (const oldest of cached.keys()) {
      if (cached.size <= MAX_CACHED && cachedItems <= MAX_CACHED_ITEMS) break
      drop(oldest)
    }
  }

  async function look(name: string): Promise<readonly string[] | undefined> {
    onLookup?.('read')
    const rows = await database.run(
      (session) => session.query<[string[]]>({ name: 'named-list', text: ITEMS, values: [name] }),
      { caller: 'named list', isBrief: true },
    )
    return rows[0]?.[0]
  }

  return {
    async find(name) {
      if (name === '' || name.length > MAX_NAME) return undefined
      const found = cached.get(name)
      if (found && found.untilMs > now()) {
        onLookup?.('cached')
        return found.items
      }
      const running = looking.get(name)
      if (running) return running
      const started = look(name)
      looking.set(name, started)
      try {
        const items = await started
        // If the cache was cleared during the read, the result may be outdated: do not cache the result.
        if (looking.get(name) === started) store(name, items)
        return items
      } finally {
        if (looking.get(name) === started) looking.delete(name)
      }
    },
    forget() {
      cached.clear()
      looking.clear()
      cachedItems = 0
    },
  }
}
