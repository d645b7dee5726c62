import type { Bindings } from '../../../database/index.ts'
import type { Values } from '../../../endpoint/index.ts'

/** Parameters that ask about accounts, not about their assets, and those that change nothing. */
const OF_ACCOUNTS = new Set([
  'page',
  'limit',
  'count',
  'owner',
  'match_owner',
  'ids',
  'burned_by_account',
  'lower_bound',
  'upper_bound',
  'before',
  'after',
  'account_blacklist',
  // What has an owner is not burned, and the other way round.
  'burned',
])

/** Parameters that the counters of collections answer. */
export const OF_COLLECTIONS = new Set(['collection_name', 'collection_whitelist', 'collection_blacklist'])

/** Parameters of a request that ask about assets. */
export function assetFilters(values: Values): string[] {
  return values
    .names()
    .filter((name) => !OF_ACCOUNTS.has(name) && (name !== 'hide_offers' || values.bool(name) === true))
}

/**
 * Where a filter leaves out few assets: a FROM item of accounts with the number of those. Undefined for other filters.
 * @param column what accounts are to the assets: `a.owner` or `a.burned_by_account`.
 */
export function leftOut(
  filter: string,
  column: string,
  values: Values,
  bindings: Bindings,
): string | undefined {
  switch (filter) {
    case 'collection_blacklist': {
      const list = values.texts(filter)!
      return list.length > 0 && column === 'a.owner'
        ? `(SELECT h.account, sum(h.assets) AS assets FROM assets.collection_accounts h
            WHERE h.collection_name = ANY(${bindings.bind(list, 'text[]')}) GROUP BY 1)`
        : undefined
    }
    case 'is_transferable':
      return values.bool(filter) === true ? ofTemplates(column, 'NOT t.transferable') : undefined
    case 'is_burnable':
      return values.bool(filter) === true ? ofTemplates(column, 'NOT t.burnable') : undefined
    case 'hide_offers':
      return `(SELECT ${column} AS account, count(DISTINCT a.asset_id) AS assets
          FROM assets.offers p JOIN assets.open_offer_assets x USING (offer_id) JOIN assets.assets a USING (asset_id)
          WHERE p.state = 0 AND ${column} IS NOT NULL GROUP BY 1)`
    default:
      return undefined
  }
}

function ofTemplates(column: string, condition: string): string {
  return `(SELECT ${column} AS account, count(*) AS assets
      FROM assets.templates t JOIN assets.assets a USING (template_id)
      WHERE ${condition} AND ${column} IS NOT NULL GROUP BY 1)`
}
