import { countText } from './limit.ts'
import type { Limit } from './limit.ts'

/** Most elements that a client names in one list; what each costs shows in `docs/requests.md`. */
export const MAX_GIVEN_ITEMS = 10_000
/** Most elements of one list parameter, those of named lists included, which the operator has chosen. */
export const MAX_LIST_ITEMS = 50_000
/** Most named lists that one parameter may refer to. */
export const MAX_NAMED_LISTS = 50

/** Limits of lists, for people. */
export const listLimits: readonly Limit[] = [
  { counts: 'items of a list', per: 'parameter', value: countText(MAX_GIVEN_ITEMS), beyond: '400' },
  {
    counts: 'items of a list with those of named lists',
    per: 'parameter',
    value: countText(MAX_LIST_ITEMS),
    beyond: '400',
  },
  { counts: 'named lists', per: 'parameter', value: countText(MAX_NAMED_LISTS), beyond: '400' },
]
