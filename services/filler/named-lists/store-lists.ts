import type pg from 'pg'
import type { NamedItems } from './read-lists.ts'
import type { ListSource } from './source.ts'

/** Counts of changed lists after a poll. */
export interface ListChanges {
  /** Number of lists that are new or have different items. */
  readonly written: number
  /** Number of lists that the source no longer returns. */
  readonly removed: number
}

const WRITE = `
  INSERT INTO chain.lists AS l (name, source, items, changed_at)
  SELECT name, $1, ARRAY(SELECT jsonb_array_elements_text(items)), now() FROM jsonb_to_recordset($2::jsonb) AS g(name text, items jsonb)
  ON CONFLICT (name, source) DO UPDATE SET items = EXCLUDED.items, changed_at = EXCLUDED.changed_at
  WHERE l.items <> EXCLUDED.items`

const NOTE = `
  INSERT INTO chain.list_sources AS s (source, reader, address, tried_at, read_at, problem)
  VALUES ($1, $2, $3, now(), CASE WHEN $4::text IS NULL THEN now() END, $4)
  ON CONFLICT (source) DO UPDATE SET address = EXCLUDED.address, tried_at = EXCLUDED.tried_at,
    read_at = coalesce(EXCLUDED.read_at, s.read_at), problem = EXCLUDED.problem`

/** Replaces the stored lists of a list source with `lists`, which the source has returned, in one transaction. */
export async function storeLists(
  client: pg.PoolClient,
  source: ListSource,
  lists: NamedItems,
): Promise<ListChanges> {
  await client.query('BEGIN')
  try {
    // Another filler process may poll the same list source at the same time.
    await client.query("SELECT pg_advisory_xact_lock(hashtextextended('pronghorn lists ' || $1, 0))", [
      source.key,
    ])
    const removed = await client.query('DELETE FROM chain.lists WHERE source = $1 AND name <> ALL($2)', [
      source.key,
      [...lists.keys()],
    ])
    const entries = Array.from(lists, ([name, items]) => ({ name, items }))
    const written = await client.query(WRITE, [source.key, JSON.stringify(entries)])
    await client.query(NOTE, [source.key, source.reader, source.address, null])
    await client.query('COMMIT')
    return { written: written.rowCount ?? 0, removed: removed.rowCount ?? 0 }
  } catch (error) {
    await client.query('ROLLBACK').catch(() => undefined)
    throw error
  }
}

/**
 * Stores the reason why the lists of a list source could not be read. The stored lists of the source stay unchanged.
 */
export async function noteProblem(client: pg.PoolClient, source: ListSource, problem: string): Promise<void> {
  await client.query(NOTE, [source.key, source.reader, source.address, problem])
}

/**
 * Deletes the lists of sources that these readers no longer configure. Lists of other readers and lists entered by
 * hand stay.
 */
export async function dropFormerSources(
  client: pg.PoolClient,
  readers: readonly string[],
  sources: readonly ListSource[],
): Promise<number> {
  const { rowCount } = await client.query(
    `WITH former AS (DELETE FROM chain.list_sources WHERE reader = ANY($1) AND source <> ALL($2) RETURNING source)
     DELETE FROM chain.lists l USING former WHERE l.source = former.source`,
    [readers, sources.map(({ key }) => key)],
  )
  return rowCount ?? 0
}
