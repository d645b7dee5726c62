import { anyOf, bind, sql } from '../../../sql/index.ts'
import type { Sql } from '../../../sql/index.ts'
import type { AttributeFilter } from '../../../request/index.ts'
import { NEVER } from '../../../planner/filters/index.ts'
import type { ListingRequest } from './listing-request.ts'
import { hasTerm, termsOf } from './listing-request.ts'

/**
 * Names of the filters on assets that the column `traits` of a listing covers. The column has an indexed term for each
 * minter, initial receiver and immutable attribute of the listing's assets.
 */
export const assetTraits = new Set(['minter', 'initial_receiver', 'immutable_data'])

/**
 * Conditions on the column `traits` of a listing. The column has indexed terms for the minters, the initial receivers
 * and the immutable attributes of the listing's assets. The conditions are a prefilter: every listing that matches the
 * filters on assets passes. A bundle also passes if different assets have the requested properties.
 * @param column SQL of the terms to check: the column `traits`, or all indexed terms of the listing, which include the
 * traits.
 * @param computed when the terms of attribute filters are computed. `once`: in a subquery, which saves time if many
 * rows are checked. `when it is planned`: as constants, so that PostgreSQL can estimate the matching rows.
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
    // The column `traits` has no terms for attributes whose value is a list, so a filter on such a value has no
    // condition on `traits`.
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
