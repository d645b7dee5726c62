import type pg from 'pg'

/** Pages that the statements of a database have used since the statistics of the server were reset. */
export interface PageCounts {
  /** Page reads that PostgreSQL answered from `shared_buffers`. */
  readonly cached: number
  /** Pages read from the file system. The file system may have had these pages in memory. */
  readonly read: number
}

/** Reads the page counts of the current database. Sessions report their pages after a transaction, within a second. */
export async function readPageCounts(client: Pick<pg.Pool, 'query'>): Promise<PageCounts> {
  const { rows } = await client.query<PageCounts>(
    `SELECT blks_hit::float8 AS cached, blks_read::float8 AS read FROM pg_stat_database
      WHERE datname = current_database()`,
  )
  return rows[0]!
}

/** Time over which the share of cached pages is computed, ms. */
const WINDOW_MS = 60_000

/** Computes the share of pages found in the cache during the last minute. */
export class HitShare {
  readonly #window: { readonly atMs: number; readonly counts: PageCounts }[] = []

  /** @param atMs time at which `counts` were read, ms; not before the time of earlier counts. */
  note(counts: PageCounts, atMs: number): void {
    const last = this.#window.at(-1)
    const isReset = last !== undefined && counts.cached + counts.read < last.counts.cached + last.counts.read
    if (isReset) this.#window.length = 0
    this.#window.push({ atMs, counts })
    while (this.#window.length > 2 && this.#window[1]!.atMs <= atMs - WINDOW_MS) this.#window.shift()
  }

  /** Share of pages found in the cache, from 0 to 1; null before the second count, or if no page was used. */
  get share(): number | null {
    const [first, last] = [this.#window[0], this.#window.at(-1)]
    if (!first || !last) return null
    const cached = last.counts.cached - first.counts.cached
    const all = cached + last.counts.read - first.counts.read
    return all > 0 ? cached / all : null
  }
}
