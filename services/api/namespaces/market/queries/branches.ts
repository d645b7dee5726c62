import type { Bindings } from '../../../database/index.ts'
import { whereClause } from '../../../database/index.ts'
import type { Values } from '../../../endpoint/index.ts'
import type { PageQuery } from '../../paging/index.ts'
import { directionOf, pageWindow } from '../../paging/index.ts'

/** What a query is made for: rows in order, or their number. */
export type Purpose = 'page' | 'count'

/** Rows of a list that one index has in the order of the page. No row is in two branches. */
export interface Branch {
  /** FROM item, when it is not that of the query. */
  readonly from?: string
  readonly conditions: readonly string[]
  /** What the page is sorted by, as an expression. Null: the row comes last. */
  readonly value: string
  /** What the rows of the branch are sorted by, all in one direction: the value itself, or what grows with it. */
  readonly order: readonly string[]
  /**
   * Makes a condition that all rows meet whose value is not beyond a limit, an expression, in a direction: one that bounds
   * the branch's index.
   */
  readonly within?: (limit: string, direction: 'ASC' | 'DESC') => string
}

/** Rows that are sorted by one value, from several branches. */
export interface BranchedQuery {
  readonly from: string
  /** Key column of the row, for example `l.sale_id`; ties are broken by it, ascending. */
  readonly key: string
  readonly conditions: readonly string[]
  readonly branches: readonly Branch[]
  readonly bindings: Bindings
}

/** The value of rows that have none. */
export const NO_VALUE = 'NULL'

/**
 * The page as the first rows of all branches. Each branch reads no more rows than the page can need, in the order of
 * its index; nulls come last in both directions.
 */
export function mergeBranches(query: BranchedQuery, values: Values): PageQuery {
  const { from, key, conditions, branches, bindings } = query
  const direction = directionOf(values)
  const [only] = branches
  if (branches.length === 1 && only) {
    const order = orderText(only, direction, key)
    return { key, from: only.from ?? from, conditions: [...conditions, ...only.conditions], order, bindings }
  }
  const window = pageWindow(values) ?? { offset: 0, limit: 0 }
  const parts = branches.map((branch) => {
    const order = orderText(branch, direction, key)
    const where = whereClause([...conditions, ...branch.conditions])
    return `(SELECT ${key} AS k, ${branch.value} AS v FROM ${branch.from ?? from} ${where}
      ORDER BY ${order} LIMIT ${window.offset + window.limit})`
  })
  return merged(`(${parts.join(' UNION ALL ')}) u`, direction, bindings)
}

/** Further conditions on the row of a listing, of which there are several sets: a row meets at most one. */
export interface Alternative {
  /** Served by an index of their own. */
  readonly conditions: readonly string[]
  /** Makes a FROM item `l` of the rows that meet these, for when all are sorted; it binds values. */
  readonly from?: () => string
  /** No other index is to be read beside it: what else is asked is checked when these rows have been read. */
  readonly isAlone?: boolean
  /** They name templates, `wanted` where these are known to be of the wanted collections. */
  readonly templates?: 'wanted' | 'given'
}

/** Rows that are all read before they are sorted: they are few, and indexes find them. */
export interface SortedQuery extends Omit<BranchedQuery, 'branches'> {
  readonly order: ListOrder
  /** None: no more conditions. */
  readonly alternatives: readonly Alternative[]
  /** The column that has the assets. */
  readonly assets: string
  /** Binds the conditions on the collection, which templates imply. */
  readonly ofCollections: () => readonly string[]
  /** Conditions on the assets of a row that nearly all rows meet: they are checked in order, until the page is full. */
  readonly late: readonly string[]
}

/** The page as the first of all rows that match, those without a value last. */
export function sortMatching(query: SortedQuery, values: Values): PageQuery {
  const { from, key, conditions, order, alternatives, ofCollections, assets, late, bindings } = query
  const direction = directionOf(values)
  const placed = [...conditions, ...placeConditions(order)]
  const columns = [`${key} AS k`, `${valueOf(order)} AS v`, ...(late.length === 0 ? [] : [assets])]
  const ways: readonly Alternative[] = alternatives.length === 0 ? [{ conditions: [] }] : alternatives
  const collections = ways.every(({ templates }) => templates === 'wanted') ? [] : ofCollections()
  // Templates have few listings, and a collection many: its index is of no use beside theirs.
  const checked = collections.map((each) => `(${each}) IS TRUE`)
  const parts = ways.map(({ conditions: own, from: ownRows, isAlone, templates }) => {
    const further = templates === undefined ? collections : templates === 'given' ? checked : []
    const others = whereClause([...placed, ...further])
    const rows = isAlone
      ? `(SELECT l.* FROM ${from} ${whereClause(own)} OFFSET 0) l ${others}`
      : ownRows
        ? `${ownRows()} ${others}`
        : `${from} ${whereClause([...placed, ...further, ...own])}`
    return `SELECT ${columns.join(', ')} FROM ${rows}`
  })
  // OFFSET 0 keeps the order out of the plan of the rows.
  const matching = `SELECT * FROM (${parts.join(' UNION ALL ')}) m OFFSET 0`
  if (late.length === 0) return merged(`(${matching}) u`, direction, bindings)
  const sorted = `(SELECT * FROM (${matching}) m ORDER BY m.v ${direction} NULLS LAST, m.k OFFSET 0) l`
  return {
    key: 'l.k',
    from: sorted,
    conditions: late,
    order: `l.v ${direction} NULLS LAST, l.k`,
    bindings,
  }
}

/** The row has a place in the order. */
export function placeConditions({ branches, last }: ListOrder): string[] {
  if (last || branches.some(({ conditions }) => conditions.length === 0)) return []
  return [`((${branches.map(({ conditions }) => conditions.join(' AND ')).join(') OR (')}))`]
}

/** What a row is sorted by, whichever branch it is in. */
export function valueOf({ branches }: ListOrder): string {
  const [only] = branches
  if (branches.length === 1 && only) return only.value
  const cases = branches
    .filter(({ value }) => value !== NO_VALUE)
    .map(({ conditions, value }) => `WHEN ${conditions.join(' AND ')} THEN ${value}`)
  return `CASE ${cases.join(' ')} END`
}

function merged(from: string, direction: string, bindings: Bindings): PageQuery {
  return { key: 'u.k', from, conditions: [], order: `u.v ${direction} NULLS LAST, u.k`, bindings }
}

/** Rows that are looked for in a stretch of every branch. */
export interface StretchedQuery extends BranchedQuery {
  /** Conditions that the rows of a stretch meet before it is cut off; `conditions` are those that are looked for in it. */
  readonly fixed: readonly string[]
  /** Rows of a stretch. */
  readonly length: number
}

/**
 * The page as far as a stretch at the beginning of every branch tells it. No rows where it does not: when a branch has
 * too few in its stretch, and goes on behind it.
 */
export function stretchBranches(query: StretchedQuery, values: Values): PageQuery {
  const { from, key, fixed, conditions, branches, bindings, length } = query
  const direction = directionOf(values)
  const window = pageWindow(values) ?? { offset: 0, limit: 0 }
  const reach = window.offset + window.limit
  const stretches = branches.map((branch, at) => {
    // No row behind the last of a full page is on it, whichever branch it is in.
    const last = direction === 'ASC' ? 'max' : 'min'
    const full = `(SELECT ${last}(s0.v) FROM s0 HAVING count(*) = ${reach})`
    const within = at > 0 && branch.within ? [branch.within(full, direction)] : []
    const rows = `FROM ${from} ${whereClause([...fixed, ...branch.conditions, ...within])}`
    const order = `ORDER BY ${orderText(branch, direction, key)}`
    return {
      text: `SELECT ${key} AS k, ${branch.value} AS v FROM (SELECT l.* ${rows} ${order} LIMIT ${length}) l
        ${whereClause(conditions)} ${order} LIMIT ${reach}`,
      // Without the other conditions an index alone tells; where that is wrong, it is so on the safe side.
      beyond: `EXISTS (SELECT FROM ${from} ${whereClause([...branch.conditions, ...within])}
        ORDER BY ${branch.order[0] ?? key} ${direction} LIMIT 1 OFFSET ${length})`,
    }
  })
  const names = stretches.map((_, at) => `s${at}`)
  const tells = stretches.map(
    ({ beyond }, at) => `((SELECT count(*) FROM s${at}) = ${reach} OR NOT ${beyond})`,
  )
  const union = names.map((name) => `SELECT * FROM ${name}`).join(' UNION ALL ')
  // Of a single branch a page that is full is right.
  const told = branches.length === 1 ? [] : tells
  return merged(
    `(WITH ${stretches.map(({ text }, at) => `s${at} AS MATERIALIZED (${text})`).join(', ')}
      SELECT r.k, r.v FROM (${union}) r ${whereClause(told)}) u`,
    direction,
    bindings,
  )
}

/** ORDER BY of a branch, without the keyword. */
export function orderText({ value, order }: Branch, direction: string, key: string): string {
  if (value === NO_VALUE) return key
  return [...order.map((column) => `${column} ${direction}`), key].join(', ')
}

/** The same rows without an order, to be counted. */
export function countBranches(
  query: Omit<BranchedQuery, 'branches'>,
  alternatives: readonly Alternative[],
): PageQuery {
  const { from, key, conditions, bindings } = query
  return { key, from, conditions: [...conditions, ...anyOf(alternatives)], order: key, bindings }
}

/** The row meets one of the sets of conditions, as a condition. */
export function anyOf(alternatives: readonly Alternative[]): string[] {
  if (alternatives.length === 0) return []
  return [`(${alternatives.map(({ conditions }) => `(${conditions.join(' AND ')})`).join(' OR ')})`]
}

/** Every branch, cut by each of several sets of conditions of which a row meets at most one. */
export function cutBranches(
  branches: readonly Branch[],
  alternatives: readonly Alternative[],
): readonly Branch[] {
  if (alternatives.length === 0) return branches
  return branches.flatMap((branch) =>
    alternatives.map((way) => ({ ...branch, conditions: [...branch.conditions, ...way.conditions] })),
  )
}

/** Rows in an order; those without a value come last, whatever the direction. */
export interface ListOrder {
  readonly branches: readonly Branch[]
  readonly last?: Branch
}

/** The order by a column that may be null. */
export function nullableOrder(column: string, order: readonly string[] = [column]): Required<ListOrder> {
  return {
    branches: [{ conditions: [`${column} IS NOT NULL`], value: column, order }],
    last: { conditions: [`${column} IS NULL`], value: NO_VALUE, order: [] },
  }
}

/** The order by a column that is never null. */
export function plainOrder(column: string): ListOrder {
  return { branches: [{ conditions: [], value: column, order: [column] }] }
}
