import type { Session, Sql } from '../database/index.ts'
import { bind, joinSql, PreparedNames, raw, sql } from '../database/index.ts'

/** What a statement reads for the keys of a page: WITH items, and columns of its single row. */
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
 * Reads a page in one statement.
 * @param page query of the keys, `k`, and their places, `n`; a row whose `k` is null says that it gave up.
 * @returns `unknown` when it gave up.
 */
export async function readPageTexts(
  session: Session,
  page: Sql,
  { ctes, columns }: Selection,
): Promise<PageTexts | 'unknown'> {
  const items = [raw(`${PAGE_KEYS} AS MATERIALIZED (SELECT k, n FROM page WHERE NOT ${IS_UNKNOWN})`), ...ctes]
  const statement = sql`WITH page AS MATERIALIZED (${page}), ${joinSql(items, ', ')}
    SELECT ${joinSql([raw(IS_UNKNOWN), ...columns], ', ')}`
  const [row] = await session.query<[boolean, ...(string | null)[]]>(names.prepared(statement.render()))
  const [isUnknown, ...texts] = row!
  return isUnknown ? 'unknown' : texts
}

const IS_UNKNOWN = 'EXISTS (SELECT FROM page WHERE k IS NULL)'

/** A page of given keys. @param type of the keys, for example `bigint`. */
export function keysPage(keys: readonly string[], type: string): Sql {
  const [key] = keys
  // The planner knows that one is one, but of a list not how long it is.
  if (keys.length === 1) return sql`SELECT ${bind(key!, type)} AS k, 1 AS n`
  return sql`SELECT k, n FROM ${boundKeys(keys, type)} WITH ORDINALITY AS u(k, n)`
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
