import type { Session } from '../database/index.ts'
import type { Sql } from '../sql/index.ts'
import { bind, joinSql, PreparedNames, raw, sql } from '../sql/index.ts'
import { readPageKeys } from '../planner/index.ts'
import type { PageResult, PageStatement } from '../planner/index.ts'

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
const pageNames = new PreparedNames(300)
/** Statements of given keys, one for each kind of record or for what is read together: all of them are prepared. */
const keysNames = new PreparedNames(200)

/**
 * Reads a page: in one statement where that is prepared. Otherwise the statement of its keys comes first: planning what is
 * read of the records for their values too takes longer than reading it. Both see the same snapshot.
 * @param page query of the keys, `k`, and their places, `n`; a row whose `k` is null says that its row budget ran out,
 *   with the number of hits before as its place.
 * @param keyType SQL type of the keys.
 */
export async function readPageTexts(
  session: Session,
  page: PageStatement,
  selection: Selection,
  keyType: string,
): Promise<PageResult<PageTexts>> {
  const whole = page.isFixed ? pageNames.prepared(wholePage(page.keys, selection).render()) : undefined
  if (whole?.name === undefined) {
    return session.snapshot(async () => {
      const found = await readPageKeys(session, page)
      if ('hits' in found) return found
      return { records: await readKeysTexts(session, found.records, selection, keyType) }
    })
  }
  const [row] = await session.query<[number | bigint | null, ...(string | null)[]]>({
    ...whole,
    reason: page.reason,
  })
  const [hits, ...texts] = row!
  return hits === null ? { records: texts } : { hits: Number(hits) }
}

function wholePage(keys: Sql, { ctes, columns }: Selection): Sql {
  const items = [raw(`${PAGE_KEYS} AS MATERIALIZED (SELECT k, n FROM page WHERE ${HITS} IS NULL)`), ...ctes]
  return sql`WITH page AS MATERIALIZED (${keys}), ${joinSql(items, ', ')}
    SELECT ${joinSql([raw(HITS), ...columns], ', ')}`
}

/** Hits before the marker of a page whose row budget ran out; null for a page that is known. */
const HITS = '(SELECT min(n) FROM page WHERE k IS NULL)'

/** Reads what a selection selects of given keys, in one statement. @param keyType SQL type of the keys. */
export async function readKeysTexts(
  session: Session,
  keys: readonly string[],
  selection: Selection,
  keyType: string,
): Promise<PageTexts> {
  if (keys.length === 0) return selection.columns.map(() => null)
  const [texts] = await readTogether(session, [{ keys, type: keyType, relation: PAGE_KEYS, selection }])
  return texts!
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
    // Numbers are bound as one text, which the driver then need not quote one by one.
    sql`${raw(relation)} AS MATERIALIZED (SELECT k, n FROM unnest(${bind(
      type === 'text' ? keys : `{${keys.join(',')}}`,
      `${type}[]`,
    )}) WITH ORDINALITY AS u(k, n))`,
    ...selection.ctes,
  ])
  const columns = parts.flatMap(({ selection }) => selection.columns)
  const statement = sql`WITH ${joinSql(ctes, ', ')} SELECT ${joinSql(columns, ', ')}`
  const [row] = await session.query<(string | null)[]>(keysNames.prepared(statement.render()))
  let at = 0
  return parts.map(({ selection }) => row!.slice(at, (at += selection.columns.length)))
}

/** `name AS MATERIALIZED (query)`, for text of this program. */
export function cte(name: string, query: string): Sql {
  return raw(`${name} AS MATERIALIZED (${query})`)
}
