import { anyOf, bind, sql } from '../../../sql/index.ts'
import type { Sql } from '../../../sql/index.ts'
import type { AttributeFilter } from '../../../request/index.ts'
import { NEVER } from '../../../planner/filters/index.ts'
import type { ListingRequest } from './listing-request.ts'
import { hasTerm, termsOf } from './listing-request.ts'

/**
 * Names of the filters on assets that the column `traits` of a listing prefilters: indexed terms of the facts of its
 * assets.
 */
export const assetTraits = new Set(['minter', 'initial_receiver', 'immutable_data'])

/**
 * Prefilter of the filters on assets by the column `traits` of a listing: indexed terms of the facts of its assets.
 * Every matching listing passes. Some other bundles pass as well, because their traits do not say which asset has which
 * property.
 * @param column traits of the listing, or the indexed terms that include them.
 * @param computed `once`: traits of attribute filters are computed in a subquery, for checks of many rows. `when it is
 * planned`: the traits are constants, so that the planner can estimate them.
 */
export function traitConditions(
  { values }: ListingRequest,
  attributes: readonly AttributeFilter[],
  column: Sql,
  computed: 'once' | 'when it is planned',
): Sql[] {
  const ofAccounts = (
    [
      ['minter', 'minter'],
      ['initial_receiver', 'receiver'],
    ] as const
  ).flatMap(([parameter, kind]) => {
    const accounts = values[parameter]
    if (!accounts) return []
    return [accounts.length === 0 ? NEVER : hasTerm(column, termsOf(kind, accounts))]
  })
  const ofData = attributes.flatMap(({ family, containments }) => {
    if (family !== 'immutable_data' || containments.length === 0) return []
    // The column `traits` contains no terms of attributes that are lists.
    const isList = (containment: string): boolean =>
      Object.values(JSON.parse(containment) as object).some((value) => typeof value === 'object')
    if (containments.some(isList)) return []
    const conditions = containments.map((containment) => {
      const traits = sql`market.data_traits(${bind(containment, 'jsonb')})`
      return computed === 'once' ? sql`${column} @> (SELECT ${traits})` : sql`${column} @> ${traits}`
    })
    return [anyOf(conditions)]
  })
  return [...ofAccounts, ...ofData]
}
