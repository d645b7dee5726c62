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
}

/** Rows that are sorted by one value, from several branches. */
export interface BranchedQuery {
  readonly from: string
  /** Key column of the row, for example `l.sale_id`; ties are broken by it, ascending. */
  readonly key: string
  readonly conditions: readonly string[]
  readonly branches: readonly Branch[]
  readonly bindings: Bindings
  /**
   * All rows that meet the conditions are read before they are sorted: they are few, and found by an index. Sets of
   * further conditions of which a row meets at most one, each served by an index of its own; none for no more conditions.
   */
  readonly foundBy?: readonly (readonly string[])[]
}

/** The value of rows that have none. */
export const NO_VALUE = 'NULL'

/**
 * The page as the first rows of all branches. Each branch reads no more rows than the page can need, in the order of
 * its index; nulls come last in both directions.
 */
export function mergeBranches(query: BranchedQuery, values: Values): PageQuery {
  const { from, key, conditions, branches, bindings, foundBy } = query
  const direction = directionOf(values)
  const [only] = branches
  if (branches.length === 1 && only && !foundBy) {
    const order = orderText(only, direction, key)
    return { key, from: only.from ?? from, conditions: [...conditions, ...only.conditions], order, bindings }
  }
  const window = pageWindow(values) ?? { offset: 0, limit: 0 }
  const parts = branches.map((branch) => {
    const order = orderText(branch, direction, key)
    const rows = foundBy
      ? `found l ${whereClause(branch.conditions)}`
      : `${branch.from ?? from} ${whereClause([...conditions, ...branch.conditions])}`
    return `(SELECT ${key} AS k, ${branch.value} AS v FROM ${rows} ORDER BY ${order} LIMIT ${window.offset + window.limit})`
  })
  const found = foundBy ? `WITH found AS MATERIALIZED (${foundRows(query, foundBy)}) ` : ''
  return merged(`(${found}${parts.join(' UNION ALL ')}) u`, direction, bindings)
}

function foundRows({ from, conditions }: BranchedQuery, foundBy: readonly (readonly string[])[]): string {
  const ways = foundBy.length === 0 ? [[]] : foundBy
  return ways
    .map((way) => `SELECT l.* FROM ${from} ${whereClause([...conditions, ...way])}`)
    .join(' UNION ALL ')
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
  const stretches = branches.map((branch) => {
    const rows = `FROM ${from} ${whereClause([...fixed, ...branch.conditions])}`
    const order = `ORDER BY ${orderText(branch, direction, key)}`
    return {
      text: `SELECT ${key} AS k, ${branch.value} AS v FROM (SELECT l.* ${rows} ${order} LIMIT ${length}) l
        ${whereClause(conditions)} ${order} LIMIT ${reach}`,
      beyond: `EXISTS (SELECT ${rows} ${order} LIMIT 1 OFFSET ${length})`,
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

function orderText({ value, order }: Branch, direction: string, key: string): string {
  if (value === NO_VALUE) return key
  return [...order.map((column) => `${column} ${direction}`), key].join(', ')
}

/** The same rows without an order, to be counted. */
export function countBranches(
  query: Omit<BranchedQuery, 'branches'>,
  alternatives: readonly (readonly string[])[],
): PageQuery {
  const { from, key, conditions, bindings } = query
  const ways = alternatives.map((way) => `(${way.join(' AND ')})`)
  const either = ways.length === 0 ? [] : [`(${ways.join(' OR ')})`]
  return { key, from, conditions: [...conditions, ...either], order: key, bindings }
}

/** Every branch, cut by each of several sets of conditions of which a row meets at most one. */
export function cutBranches(
  branches: readonly Branch[],
  alternatives: readonly (readonly string[])[],
): readonly Branch[] {
  if (alternatives.length === 0) return branches
  return branches.flatMap((branch) =>
    alternatives.map((more) => ({ ...branch, conditions: [...branch.conditions, ...more] })),
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
