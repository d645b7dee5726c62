import { countText } from '../../../../core/limits/index.ts'
import type { Limit } from '../../../../core/limits/index.ts'
import { invalidParameter } from '../../../request/index.ts'
import type { PageWindow } from '../../../planner/sources/index.ts'
import type { OrderValues, PageValues } from './parameters.ts'

/**
 * Most rows that are skipped: every one of them is read. In the order of a key an index alone is; in any other order the
 * rows may have to be found and sorted first.
 */
const MAX_OFFSET_BY_KEY = 1_000_000
const MAX_OFFSET = 100_000
/** Limits of pages, for people. */
export const pageLimits: readonly Limit[] = [
  {
    counts: 'rows that a page skips',
    per: 'request',
    value: `${countText(MAX_OFFSET)}; ${countText(MAX_OFFSET_BY_KEY)} in the order of a key`,
    beyond: '400, which names `lower_bound`, `upper_bound`, `before`, `after`',
  },
]

/** Sorts by the key, or by what has the order of the key. */
const KEY_SORT = /^created$|^minted$|_id$|_name$/

/**
 * Rows to skip and to take.
 * @throws RequestError 400 for a page that is too far out; it names the parameters that continue without skipping.
 */
export function pageWindow({
  page,
  limit,
  sort = 'created',
}: PageValues & { readonly sort?: string }): PageWindow {
  const offset = (page - 1) * limit
  const most = KEY_SORT.test(sort) ? MAX_OFFSET_BY_KEY : MAX_OFFSET
  if (offset <= most) return { offset, limit }
  throw invalidParameter(
    'page',
    `it begins after row ${most} of this order; continue with lower_bound, upper_bound, before or after instead`,
  )
}

/** Sort direction of a request, as SQL. */
export function directionOf({ order }: OrderValues): 'ASC' | 'DESC' {
  return order === 'asc' ? 'ASC' : 'DESC'
}
