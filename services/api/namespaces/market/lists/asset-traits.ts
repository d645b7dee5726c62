import { anyOf, bind, sql } from '../../../sql/index.ts'
import type { Sql } from '../../../sql/index.ts'
import type { AttributeFilter } from '../../../request/index.ts'
import { NEVER } from '../../../planner/filters/index.ts'
import type { ListingRequest } from './listing-request.ts'
import { hasTerm, termsOf } from './listing-request.ts'

/**
 * Names of the filters on assets that have a prefilter: the column `traits` of a listing has indexed terms of facts of
 * the listing's assets.
 */
export const assetTraits = new Set(['minter', 'initial_receiver', 'immutable_data'])

/**
 * Conditions on the column `traits` of a listing, which contains indexed terms of facts of the listing's assets. The
 * conditions are a prefilter: every listing that matches the filters on assets passes. A bundle can also pass if
 * different assets have the requested properties.
 * @param column `traits` of the listing, or the indexed terms that include the traits.
 * @param computed `once`: a subquery computes the terms of attribute filters, for checks of many rows. `when it is
 * planned`: the terms are constants, so that the planner can estimate the matching rows.
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
    // The column `traits` has no terms for attributes whose value is a list.
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
