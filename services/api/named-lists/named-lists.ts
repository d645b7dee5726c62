import type { RequestDatabase } from '../database/index.ts'
import type { NamedLists } from '../../core/endpoint/index.ts'

/** How a lookup was answered. */
export type ListLookup = 'kept' | 'read'

/** Named lists as requests see them. */
export interface KeptLists {
  /** Items of a list; none when nobody has a list of that name. */
  readonly find: NamedLists
  /** Forgets what is kept: the database may be another one now. */
  forget(): void
}

/** What `createNamedLists` may be told. */
export interface NamedListsOptions {
  readonly database: RequestDatabase
  readonly onLookup?: (lookup: ListLookup) => void
  readonly now?: () => number
}

/** Each process looks again after this time, so a changed list is in force everywhere a little later. */
const LIFE_MS = 10_000
/** Clients make up names, and lists may be long: only so many are kept. */
const MAX_KEPT = 500
const MAX_KEPT_ITEMS = 1_000_000
/** Longer names are nobody's. */
const MAX_NAME = 256

const ITEMS = `SELECT coalesce(array_agg(DISTINCT item), '{}') FROM chain.lists, unnest(items) AS item WHERE name = $1`

interface Kept {
  readonly items: readonly string[]
  readonly untilMs: number
}

/**
 * Looks lists up and keeps them for ten seconds. Requests that ask for the same list at the same time share one look.
 */
export function createNamedLists(options: NamedListsOptions): KeptLists {
  const { database, onLookup, now = Date.now } = options
  const kept = new Map<string, Kept>()
  const looking = new Map<string, Promise<readonly string[]>>()
  let keptItems = 0

  function drop(name: string): void {
    keptItems -= kept.get(name)?.items.length ?? 0
    kept.delete(name)
  }

  function keep(name: string, items: readonly string[]): void {
    drop(name)
    kept.set(name, { items, untilMs: now() + LIFE_MS })
    keptItems += items.length
    for (const oldest of kept.keys()) {
      if (kept.size <= MAX_KEPT && keptItems <= MAX_KEPT_ITEMS) break
      drop(oldest)
    }
  }

  async function look(name: string): Promise<readonly string[]> {
    onLookup?.('read')
    const rows = await database.run(
      (session) => session.query<[string[]]>({ name: 'named-list', text: ITEMS, values: [name] }),
      { caller: 'named list', isBrief: true },
    )
    return rows[0]?.[0] ?? []
  }

  return {
    async find(name) {
      if (name === '' || name.length > MAX_NAME) return []
      const found = kept.get(name)
      if (found && found.untilMs > now()) {
        onLookup?.('kept')
        return found.items
      }
      const running = looking.get(name)
      if (running) return running
      const started = look(name)
      looking.set(name, started)
      try {
        const items = await started
        // Whoever made everybody forget meanwhile does not want this answer kept.
        if (looking.get(name) === started) keep(name, items)
        return items
      } finally {
        if (looking.get(name) === started) looking.delete(name)
      }
    },
    forget() {
      kept.clear()
      looking.clear()
      keptItems = 0
    },
  }
}
