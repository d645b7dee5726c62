import type pg from 'pg'

/** Type of the relation to which a page belongs. */
export type Access = 'index' | 'heap' | 'TOAST'

/** Number of distinct pages of a relation. */
export interface TouchedRelation {
  /** Name with schema; partitions count as their table or index. */
  readonly relation: string
  readonly access: Access
  readonly pages: number
}

/** Tables and indexes of the contracts, by filenode: `pg_buffercache` identifies relations by filenode. */
const RELATIONS = `
  WITH named AS (
    SELECT c.oid, c.relkind, c.reltoastrelid, n.nspname || '.' || coalesce(p.relname, c.relname) AS relation
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
      LEFT JOIN pg_inherits h ON h.inhrelid = c.oid LEFT JOIN pg_class p ON p.oid = h.inhparent
    WHERE n.nspname IN ('assets', 'market', 'oracle') AND c.relkind IN ('r', 'i'))
  SELECT pg_relation_filenode(oid)::text AS file, relation, CASE relkind WHEN 'i' THEN 'index' ELSE 'heap' END AS access
  FROM named
  UNION ALL
  SELECT pg_relation_filenode(x.oid)::text, d.relation, 'TOAST' FROM named d
    JOIN LATERAL (SELECT d.reltoastrelid UNION ALL SELECT i.indexrelid FROM pg_index i WHERE i.indrelid = d.reltoastrelid) x(oid)
      ON d.reltoastrelid <> 0`

/**
 * Number of the main fork (the data file) of a relation in PostgreSQL. Visibility maps and free space maps are other
 * forks, and do not count: a page of a visibility map stands for 32,672 pages of its table.
 */
const MAIN_FORK = 0

/**
 * Counts the distinct pages that requests touch: empties the page cache of the server before a request, and lists the
 * cached pages after it. A page counts once, however often the request reads it. Needs PostgreSQL 18.
 *
 * A sequential scan of a table above a quarter of `shared_buffers` reuses few pages of the cache, so most of its pages
 * do not count.
 */
export class PageMeter {
  readonly #client: pg.ClientBase
  readonly #relations: ReadonlyMap<string, Pick<TouchedRelation, 'relation' | 'access'>>

  private constructor(
    client: pg.ClientBase,
    relations: ReadonlyMap<string, Pick<TouchedRelation, 'relation' | 'access'>>,
  ) {
    this.#client = client
    this.#relations = relations
  }

  /** @param client connection of a superuser. */
  static async open(client: pg.ClientBase): Promise<PageMeter> {
    await client.query('CREATE EXTENSION IF NOT EXISTS pg_buffercache')
    const { rows } = await client.query<{ file: string; relation: string; access: Access }>(RELATIONS)
    return new PageMeter(
      client,
      new Map(rows.map(({ file, relation, access }) => [file, { relation, access }])),
    )
  }

  /** Empties the page cache of PostgreSQL. */
  async empty(): Promise<void> {
    await this.#client.query('SELECT pg_buffercache_evict_all()')
  }

  /**
   * Pages that are in the page cache, by relation. Pages of system catalogs do not count, because each session caches
   * the contents of the catalogs.
   */
  async read(): Promise<TouchedRelation[]> {
    const { rows } = await this.#client.query<{ file: string; pages: number }>(
      `SELECT relfilenode::text AS file, count(*)::integer AS pages FROM pg_buffercache
        WHERE reldatabase = (SELECT oid FROM pg_database WHERE datname = current_database()) AND relforknumber = ${MAIN_FORK}
        GROUP BY 1`,
    )
    const touched = new Map<string, TouchedRelation>()
    for (const { file, pages } of rows) {
      const known = this.#relations.get(file)
      if (!known) continue
      const key = `${known.relation} ${known.access}`
      touched.set(key, { ...known, pages: pages + (touched.get(key)?.pages ?? 0) })
    }
    return [...touched.values()]
  }
}
