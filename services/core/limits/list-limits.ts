import { countText } from './limit.ts'
import type { Limit } from './limit.ts'

/** Maximum elements that a client may write in one list; `docs/requests.md` shows the cost per element. */
export const MAX_GIVEN_ITEMS = 10_000
/**
 * Maximum elements of one list parameter, including the items of named lists. Larger than MAX_GIVEN_ITEMS, because the
 * operator controls named lists.
 */
export const MAX_LIST_ITEMS = 50_000
/** Maximum named lists that one parameter may refer to. */
export const MAX_NAMED_LISTS = 50

/** Limits of lists, for the documentation. */
export const listLimits: readonly Limit[] = [
  { counts: 'items of a list', per: 'parameter', value: countText(MAX_GIVEN_ITEMS), beyond: '400' },
  {
    counts: 'items of a list, including the items of named lists',
    per: 'parameter',
    value: countText(MAX_LIST_ITEMS),
    beyond: '400',
  },
  { counts: 'named lists', per: 'parameter', value: countText(MAX_NAMED_LISTS), beyond: '400' },
]
