import { countText } from '../../../../core/limits/index.ts'
import type { Limit } from '../../../../core/limits/index.ts'
import { invalidParameter } from '../../../request/index.ts'
import type { PageWindow } from '../../../planner/sources/index.ts'
import type { OrderValues, PageValues } from './parameters.ts'

/**
 * Maximum number of rows that a page skips, because PostgreSQL reads every skipped row. In the order of a key,
 * PostgreSQL reads the skipped rows from the index alone. In other orders, PostgreSQL may have to collect and sort all
 * rows first, so MAX_OFFSET is lower than MAX_OFFSET_BY_KEY.
 */
const MAX_OFFSET_BY_KEY = 1_000_000
const MAX_OFFSET = 100_000
/** Page limits, for the documentation. */
export const pageLimits: readonly Limit[] = [
  {
    counts: 'rows that a page skips',
    per: 'request',
    value: `${countText(MAX_OFFSET)} rows; ${countText(MAX_OFFSET_BY_KEY)} rows if the list is in the order of its key; no limit for lists that do not have the parameters \`lower_bound\` and \`upper_bound\``,
    beyond: '400, which says from which page on `lower_bound` or `upper_bound` continue',
  },
]

/** Names of the sorts whose order is the order of the key. */
const KEY_SORT = /^created$|^minted$|_id$|_name$/

/** Values of the parameters `page`, `limit`, `order` and `sort`. */
type PagedValues = PageValues & OrderValues & { readonly sort?: string }

/**
 * Rows to skip and rows to take.
 * @param key key of a list that has `lower_bound` and `upper_bound`. If undefined, every offset is accepted, because
 * the client has no bound to continue the list with. The time limit of the request then limits the offset.
 * @throws RequestError 400 for a page beyond the maximum offset. The message says how to continue without skipping
 * rows.
 */
export function pageWindow(values: PagedValues, key?: string): PageWindow {
  const { page, limit, sort = 'created' } = values
  const offset = (page - 1) * limit
  const isByKey = KEY_SORT.test(sort)
  const most = isByKey ? MAX_OFFSET_BY_KEY : MAX_OFFSET
  if (offset <= most || key === undefined) return { offset, limit }
  const last = Math.floor(most / limit) + 1
  const reach = `in this order, only pages 1 to ${last} (${limit} rows each) are served`
  throw invalidParameter(
    'page',
    `${reach}; ${isByKey && isOrderOf(key, sort) ? continuation(values, key) : narrowing(key)}`,
  )
}

/** Whether a sort has the order of the key. Ids ascend in the order of creation; names do not. */
function isOrderOf(key: string, sort: string): boolean {
  return key.endsWith('_id') || key === sort
}

/**
 * Advice for a request of a page beyond the maximum offset: continue the list after the last page with a bound on the
 * key.
 */
function continuation(values: PagedValues, key: string): string {
  const isUpwards = directionOf(values) === 'ASC'
  const bound = isUpwards ? `lower_bound=<last ${key} + 1>` : `upper_bound=<last ${key}>`
  return `then continue with page=1 and ${bound}`
}

function narrowing(key: string): string {
  // The key of payouts is no member of their record, so the message names the sort `created` instead of the key.
  const sort = KEY_SORT.test(key) ? key : 'created'
  return `more filters make the list shorter, or sort by ${sort} and continue with lower_bound or upper_bound`
}

/** Sort direction of a request, as SQL. */
export function directionOf({ order }: OrderValues): 'ASC' | 'DESC' {
  return order === 'asc' ? 'ASC' : 'DESC'
}
