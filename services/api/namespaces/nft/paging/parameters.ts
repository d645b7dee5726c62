import { choice, flag, int } from '../../../../core/parameters/index.ts'
import type { Values } from '../../../../core/endpoint/index.ts'

/** Page size when a request names none, unless the endpoint's maximum is smaller. */
const DEFAULT_PAGE_SIZE = 100

/** `page` and `limit`. @param maximum largest `limit`. */
export function paging(maximum: number) {
  return {
    page: int('Page, from 1.', { default: 1, minimum: 1 }),
    limit: int('Rows of a page.', { default: Math.min(DEFAULT_PAGE_SIZE, maximum), minimum: 1, maximum }),
  }
}

/** Values of {@link paging}. */
export type PageValues = Values<ReturnType<typeof paging>>

/** `order`. */
export function sortOrder(standard: 'asc' | 'desc') {
  return { order: choice('Direction of the sort.', ['asc', 'desc'], { default: standard }) }
}

/** Values of {@link sortOrder}, for endpoints with an order. */
export type OrderValues = Partial<Values<ReturnType<typeof sortOrder>>>

/** Parameters `order` and `sort`; the first sort is the default. With `lenient`, an unknown sort means the default. */
export function sorting(sorts: readonly [string, ...string[]], lenient = false) {
  return {
    ...sortOrder('desc'),
    sort: choice('Sort order of the rows.', sorts, { default: sorts[0], lenient }),
  }
}

/** Parameter `count`: the answer is the number of rows instead of the rows. */
export const counting = { count: flag('Answer with the number of matching rows, as a decimal string.') }

/** Whether the number of rows or the rows are requested. */
export type CountValues = Values<typeof counting>
