import { TooMuchAtOnce } from './sizes/index.ts'
import type { Session } from '../database/index.ts'
import type { Sql } from '../sql/index.ts'
import { bind, joinSql, PreparedNames, raw, sql } from '../sql/index.ts'
import { readPageKeys } from '../planner/index.ts'
import type { PageResult, PageStatement } from '../planner/index.ts'

/** Parts of a statement for the keys of a page: WITH items, and columns of its single row. */
export interface Selection {
  readonly ctes: readonly Sql[]
  readonly columns: readonly Sql[]
  /** SQL of whether they are too much to be read at once; without it they never are. */
  readonly tooMuch?: string
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
 * @throws TooMuchAtOnce.
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
  const [row] = await session.query<[number | bigint | null, boolean | null, ...(string | null)[]]>({
    ...whole,
    reason: page.reason,
  })
  const [hits, isTooMuch, ...texts] = row!
  if (isTooMuch === true) throw new TooMuchAtOnce()
  return hits === null ? { records: texts } : { hits: Number(hits) }
}

function wholePage(keys: Sql, selection: Selection): Sql {
  const { items, columns, from } = guarded([selection])
  const known = raw(`${PAGE_KEYS} AS MATERIALIZED (SELECT k, n FROM page WHERE ${HITS} IS NULL)`)
  return sql`WITH page AS MATERIALIZED (${keys}), ${joinSql([known, ...items], ', ')}
    SELECT ${joinSql([raw(HITS), ...columns], ', ')} ${from}`
}

/** WITH items, columns and FROM of selections: the first column says whether they are too much, and the others are null then. */
function guarded(selections: readonly Selection[]): { items: Sql[]; columns: Sql[]; from: Sql } {
  const items = selections.flatMap(({ ctes }) => ctes)
  const columns = selections.flatMap((selection) => selection.columns)
  const conditions = selections.flatMap(({ tooMuch }) => tooMuch ?? [])
  if (conditions.length === 0) return { items, columns: [raw('NULL::boolean'), ...columns], from: raw('') }
  // Subqueries without outer references are run when their value is wanted, so not below a CASE that does not reach them.
  // A sum over no rows is null.
  const guard = cte('guard', `SELECT coalesce(${conditions.join(' OR ')}, false) AS is_too_much`)
  return {
    items: [...items, guard],
    columns: [
      raw('guard.is_too_much'),
      ...columns.map((column) => sql`CASE WHEN NOT guard.is_too_much THEN ${column} END`),
    ],
    from: raw('FROM guard'),
  }
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

/**
 * Reads what several selections select, each of keys of its own, in one statement.
 * @returns the texts of each. @throws TooMuchAtOnce.
 */
export async function readTogether(
  session: Session,
  parts: readonly {
    readonly keys: readonly string[]
    readonly type: string
    readonly relation: string
    readonly selection: Selection
  }[],
): Promise<PageTexts[]> {
  const keys = parts.map(
    // Numbers are bound as one text, which the driver then need not quote one by one.
    ({ keys, type, relation }) =>
      sql`${raw(relation)} AS MATERIALIZED (SELECT k, n FROM unnest(${bind(
        type === 'text' ? keys : `{${keys.join(',')}}`,
        `${type}[]`,
      )}) WITH ORDINALITY AS u(k, n))`,
  )
  const { items, columns, from } = guarded(parts.map(({ selection }) => selection))
  const statement = sql`WITH ${joinSql([...keys, ...items], ', ')} SELECT ${joinSql(columns, ', ')} ${from}`
  const [row] = await session.query<[boolean | null, ...(string | null)[]]>(
    keysNames.prepared(statement.render()),
  )
  const [isTooMuch, ...texts] = row!
  if (isTooMuch === true) throw new TooMuchAtOnce()
  let at = 0
  return parts.map(({ selection }) => texts.slice(at, (at += selection.columns.length)))
}

/** `name AS MATERIALIZED (query)`, for text of this program. */
export function cte(name: string, query: string): Sql {
  return raw(`${name} AS MATERIALIZED (${query})`)
}
