import { setTimeout as delay } from 'node:timers/promises'
import type pg from 'pg'

/** Size and use of an index. */
export interface IndexUse {
  readonly name: string
  /** Schema-qualified name of the table. */
  readonly table: string
  /** Whether the index belongs to a primary key or unique constraint, and so cannot be dropped. */
  readonly isKey: boolean
  readonly definition: string
  readonly bytes: number
  /** Size of the index divided by all rows of the table, bytes: rows that a partial index leaves out count, too. */
  readonly bytesPerRow: number
  /** Number of scans during the run. */
  readonly scans: number
  /** Number of scans by kind of request. */
  readonly kinds: Readonly<Record<string, number>>
}

interface IndexRow {
  readonly name: string
  readonly table: string
  readonly isKey: boolean
  readonly definition: string
  readonly bytes: number
  readonly rows: number
  readonly scans: number
}

/** Selects all indexes. Indexes of partitions are summed under their parent's name. */
const INDEXES = `
  SELECT n.nspname || '.' || coalesce(p.relname, c.relname) AS name,
    min(coalesce(pi.indrelid, i.indrelid)::regclass::text) AS "table",
    bool_or(EXISTS (SELECT FROM pg_constraint k WHERE k.conindid = coalesce(p.oid, c.oid))) AS "isKey",
    min(pg_get_indexdef(coalesce(p.oid, c.oid))) AS definition, sum(pg_relation_size(c.oid))::float8 AS bytes,
    sum(greatest(t.reltuples, 0))::float8 AS rows, sum(coalesce(pg_stat_get_numscans(c.oid), 0))::float8 AS scans
  FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid AND c.relkind = 'i' JOIN pg_namespace n ON n.oid = c.relnamespace
    JOIN pg_class t ON t.oid = i.indrelid
    LEFT JOIN pg_inherits h ON h.inhrelid = c.oid LEFT JOIN pg_class p ON p.oid = h.inhparent
    LEFT JOIN pg_index pi ON pi.indexrelid = p.oid
  WHERE n.nspname IN ('assets', 'market', 'oracle', 'tools', 'chain') GROUP BY n.nspname, coalesce(p.relname, c.relname) ORDER BY 1`

/**
 * Longest delay, ms, until the server has a session's statistics: sessions report them twice a second, and only while
 * in use.
 */
const REPORTED_MS = 600

/** Counts the scans of each index by kind of request. */
export class IndexScans {
  readonly #client: pg.ClientBase
  readonly #touch: () => Promise<void>
  readonly #kinds = new Map<string, Record<string, number>>()
  #last = new Map<string, number>()

  /** @param touch uses every session of the API, so that each reports its statistics. */
  constructor(client: pg.ClientBase, touch: () => Promise<void>) {
    this.#client = client
    this.#touch = touch
  }

  /** Starts counting: earlier scans do not count. */
  async begin(): Promise<void> {
    this.#last = new Map((await this.#read()).map(({ name, scans }) => [name, scans]))
  }

  /** Assigns the index scans since the previous call of `take` (or since `begin`) to a kind of request. */
  async take(kind: string): Promise<void> {
    for (const { name, scans } of await this.#read()) {
      const more = scans - (this.#last.get(name) ?? 0)
      this.#last.set(name, scans)
      if (more <= 0) continue
      const kinds = this.#kinds.get(name) ?? {}
      kinds[kind] = more
      this.#kinds.set(name, kinds)
    }
  }

  /** All indexes, ordered by name. */
  async list(): Promise<IndexUse[]> {
    return (await this.#indexes()).map(({ name, table, isKey, definition, bytes, rows }) => {
      const kinds = this.#kinds.get(name) ?? {}
      const scans = Object.values(kinds).reduce((sum, count) => sum + count, 0)
      const bytesPerRow = rows === 0 ? 0 : Math.round((bytes / rows) * 10) / 10
      return { name, table, isKey, definition, bytes, bytesPerRow, scans, kinds }
    })
  }

  async #read(): Promise<IndexRow[]> {
    await delay(REPORTED_MS)
    await this.#touch()
    await delay(REPORTED_MS)
    return this.#indexes()
  }

  async #indexes(): Promise<IndexRow[]> {
    return (await this.#client.query<IndexRow>(INDEXES)).rows
  }
}
