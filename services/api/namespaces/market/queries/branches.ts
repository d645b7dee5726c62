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
  if (branches.length === 1 && only && only.value !== NO_VALUE) {
    const order = orderText(only, direction, key)
    return { key, from: only.from ?? from, conditions: [...conditions, ...only.conditions], order, bindings }
  }
  const window = pageWindow(values) ?? { offset: 0, limit: 0 }
  const parts = branches.map((branch) => {
    const order = orderText(branch, direction, key)
    return (
      `(SELECT ${key} AS k, ${branch.value} AS v FROM ${branch.from ?? from} ` +
      `${whereClause([...conditions, ...branch.conditions])} ORDER BY ${order} LIMIT ${window.offset + window.limit})`
    )
  })
  return {
    key: 'u.k',
    from: `(${parts.join(' UNION ALL ')}) u`,
    conditions: [],
    order: `u.v ${direction} NULLS LAST, u.k`,
    bindings,
  }
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

/** The branches of a sort by a column that may be null. */
export function nullableBranches(column: string): readonly Branch[] {
  return [
    { conditions: [`${column} IS NOT NULL`], value: column, order: [column] },
    { conditions: [`${column} IS NULL`], value: NO_VALUE, order: [] },
  ]
}

/** The only branch of a sort by a column that is never null. */
export function plainBranch(column: string): readonly Branch[] {
  return [{ conditions: [], value: column, order: [column] }]
}
