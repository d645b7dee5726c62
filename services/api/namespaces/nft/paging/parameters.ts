import { choice, flag, int, ids, named, text, texts } from '../../../../core/parameters/index.ts'
import type { Values, Parameter } from '../../../../core/endpoint/index.ts'

/** Page size when a request names none, unless the endpoint's maximum is smaller. */
const DEFAULT_PAGE_SIZE = 100

/**
 * Parameters `page` and `limit`.
 * @param maximum largest `limit`.
 */
export function paging(maximum: number) {
  return {
    page: int('Page number, from 1.', { default: 1, minimum: 1 }),
    limit: int('Maximum number of rows of the page.', {
      default: Math.min(DEFAULT_PAGE_SIZE, maximum),
      minimum: 1,
      maximum,
    }),
  }
}

/** Values of the parameters `page` and `limit`. */
export type PageValues = Values<ReturnType<typeof paging>>

/** Parameter `order`. */
export function sortOrder(standard: 'asc' | 'desc') {
  return { order: choice('Direction of the sort.', ['asc', 'desc'], { default: standard }) }
}

/** Value of the parameter `order`; undefined for endpoints without this parameter. */
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

/** Value of the parameter `count`: whether to answer with the number of rows instead of the rows. */
export type CountValues = Values<typeof counting>

/**
 * Parameters `before` and `after`.
 * @param compared name of the time that both parameters bound.
 */
export function timeBounds(compared: string) {
  return {
    before: int(`The ${compared} is before this time, ms since 1970.`, { minimum: 1 }),
    after: int(`The ${compared} is after this time, ms since 1970.`, { minimum: 1 }),
  }
}

/** Parameters `before` and `after` of lists with the sorts `created` and `updated`. */
export const createdOrUpdated = timeBounds('creation time (update time if sort is updated)')

/**
 * Parameters `ids`, `lower_bound`, `upper_bound`, `before` and `after`, and a parameter with the name of the key
 * column, such as `offer_id`.
 */
function boundaries<K extends string, L, B>(
  key: K,
  isFilter: boolean,
  list: (description: string) => Parameter<L>,
  bound: (description: string) => Parameter<B>,
) {
  const own = named(
    key,
    list(
      `${key} is one of the given values; if the parameter ids is given too, a value of either list matches.`,
    ),
  )
  return {
    ids: list(`${key} is one of the given values${isFilter ? `; ignored if ${key} is given` : ''}.`),
    ...(isFilter ? ({} as typeof own) : own),
    lower_bound: bound(`${key} is at least this value.`),
    upper_bound: bound(`${key} is below this value.`),
    ...timeBounds('creation time'),
  }
}

/**
 * Parameters `ids`, `lower_bound`, `upper_bound`, `before` and `after` of a list with a numeric key, and a parameter
 * with the name of the key column, such as `offer_id`.
 * @param isFilter whether another part of the endpoint already declares the parameter with the name of the key column.
 */
export function idBoundaries<K extends string>(key: K, isFilter = false) {
  return boundaries(key, isFilter, ids, (description) => int(description, { minimum: 1 }))
}

/**
 * Parameters `ids`, `lower_bound`, `upper_bound`, `before` and `after` of a list with a text key, and a parameter with
 * the name of the key column, such as `collection_name`.
 * @param isFilter whether another part of the endpoint already declares the parameter with the name of the key column.
 */
export function textBoundaries<K extends string>(key: K, isFilter = false) {
  const list = (description: string) => texts(description, 'named', {})
  return boundaries(key, isFilter, list, (description) => text(description, { minimum: 1 }))
}

/** Values of the parameters of `idBoundaries` and `textBoundaries`. */
export interface BoundaryValues {
  readonly ids?: readonly (bigint | string)[] | undefined
  readonly lower_bound?: number | string | undefined
  readonly upper_bound?: number | string | undefined
  readonly before?: number | undefined
  readonly after?: number | undefined
}
