import type { Session, Sql } from '../database/index.ts'
import { bind, joinSql, PreparedNames, raw, sql } from '../database/index.ts'
import { readPageKeys } from '../lists/index.ts'
import type { PageResult, PageStatement } from '../lists/index.ts'

/** Parts of a statement for the keys of a page: WITH items, and columns of its single row. */
export interface Selection {
  readonly ctes: readonly Sql[]
  readonly columns: readonly Sql[]
}

/** The columns of a selection: packed texts, null for no rows. */
export type PageTexts = readonly (string | null)[]

/** Name of the relation that a selection reads the keys of a page from: `k`, and its place `n`. */
export const PAGE_KEYS = 'known'

/** Statements of pages that are prepared; each takes memory on every connection. */
const MAX_PREPARED = 300
const names = new PreparedNames(MAX_PREPARED)

/**
 * Reads a page: in one statement where that is prepared. Where the keys must be planned for their values, their statement
 * comes first: planning what is read of the records would take longer than reading it. Both see the same snapshot.
 * @param page query of the keys, `k`, and their places, `n`; a row whose `k` is null says that its row budget ran out,
 *   with the number of hits before as its place.
 * @param keyType SQL type of the keys.
 */
export function readPageTexts(
  session: Session,
  page: PageStatement,
  selection: Selection,
  keyType: string,
): Promise<PageResult<PageTexts>> {
  if (page.isFixed) return readFixedPage(session, page, selection)
  return session.snapshot(async () => {
    const found = await readPageKeys(session, page)
    if ('hits' in found) return found
    if (found.records.length === 0) return { records: selection.columns.map(() => null) }
    return readFixedPage(session, keysPage(found.records, keyType), selection)
  })
}

async function readFixedPage(
  session: Session,
  { keys, reason }: PageStatement,
  { ctes, columns }: Selection,
): Promise<PageResult<PageTexts>> {
  const items = [raw(`${PAGE_KEYS} AS MATERIALIZED (SELECT k, n FROM page WHERE ${HITS} IS NULL)`), ...ctes]
  const statement = sql`WITH page AS MATERIALIZED (${keys}), ${joinSql(items, ', ')}
    SELECT ${joinSql([raw(HITS), ...columns], ', ')}`
  const [row] = await session.query<[number | bigint | null, ...(string | null)[]]>({
    ...names.prepared(statement.render()),
    reason,
  })
  const [hits, ...texts] = row!
  return hits === null ? { records: texts } : { hits: Number(hits) }
}

/** Hits before the marker of a page whose row budget ran out; null for a page that is known. */
const HITS = '(SELECT min(n) FROM page WHERE k IS NULL)'

/** A page of given keys. @param type of the keys, for example `bigint`. */
export function keysPage(keys: readonly string[], type: string): PageStatement {
  const [key] = keys
  // The planner knows that one is one, but of a list not how long it is.
  const rows =
    keys.length === 1
      ? sql`SELECT ${bind(key!, type)} AS k, 1 AS n`
      : sql`SELECT k, n FROM ${boundKeys(keys, type)} WITH ORDINALITY AS u(k, n)`
  return { keys: rows, isFixed: true, reason: 'given keys' }
}

/** Numbers are bound as one text, which the driver then need not quote one by one. */
function boundKeys(keys: readonly string[], type: string): Sql {
  return sql`unnest(${bind(type === 'text' ? keys : `{${keys.join(',')}}`, `${type}[]`)})`
}

/** Reads what several selections select, each of keys of its own, in one statement. @returns the texts of each. */
export async function readTogether(
  session: Session,
  parts: readonly {
    readonly keys: readonly string[]
    readonly type: string
    readonly relation: string
    readonly selection: Selection
  }[],
): Promise<PageTexts[]> {
  const ctes = parts.flatMap(({ keys, type, relation, selection }) => [
    sql`${raw(relation)} AS MATERIALIZED (SELECT k, n FROM ${boundKeys(keys, type)} WITH ORDINALITY AS u(k, n))`,
    ...selection.ctes,
  ])
  const columns = parts.flatMap(({ selection }) => selection.columns)
  const statement = sql`WITH ${joinSql(ctes, ', ')} SELECT ${joinSql(columns, ', ')}`
  const [row] = await session.query<(string | null)[]>(names.prepared(statement.render()))
  let at = 0
  return parts.map(({ selection }) => row!.slice(at, (at += selection.columns.length)))
}

/** `name AS MATERIALIZED (query)`, for text of this program. */
export function cte(name: string, query: string): Sql {
  return raw(`${name} AS MATERIALIZED (${query})`)
}
