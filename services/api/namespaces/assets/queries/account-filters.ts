import type { Bindings } from '../../../database/index.ts'
import type { Values } from '../../../endpoint/index.ts'
import type { AccountMatch } from './account-ranking.ts'

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

/** A filter that leaves out few assets. */
export interface LeftOut {
  /** FROM item of accounts with the number of assets that are left out, none without any. */
  readonly from: string
  /** What is left of the assets of each account. */
  readonly match: AccountMatch
}

/**
 * What a filter leaves out of the assets of accounts; undefined for filters that leave out many.
 * @param column what accounts are to the assets: `a.owner` or `a.burned_by_account`.
 */
export function leftOut(
  filter: string,
  column: string,
  values: Values,
  bindings: Bindings,
): LeftOut | undefined {
  switch (filter) {
    case 'collection_blacklist': {
      const list = values.texts(filter)!
      if (list.length === 0 || column !== 'a.owner') return undefined
      const within = `h.collection_name = ANY(${bindings.bind(list, 'text[]')})`
      return {
        from: `(SELECT h.account, sum(h.assets) AS assets FROM assets.collection_accounts h WHERE ${within} GROUP BY 1)`,
        match: {
          join: `CROSS JOIN LATERAL (SELECT coalesce(sum(h.assets), 0)::bigint AS assets
            FROM assets.collection_accounts h WHERE h.account = k.account AND ${within}) l`,
          count: 'k.assets - l.assets',
        },
      }
    }
    case 'is_transferable':
      return values.bool(filter) === true ? counted(ofTemplates(column, 'NOT t.transferable')) : undefined
    case 'is_burnable':
      return values.bool(filter) === true ? counted(ofTemplates(column, 'NOT t.burnable')) : undefined
    case 'hide_offers':
      return counted(offered(column))
    default:
      return undefined
  }
}

/** Counts what is left out of all accounts at once. */
function counted(from: string): LeftOut {
  return {
    from,
    match: {
      with: `l AS MATERIALIZED ${from},`,
      join: 'LEFT JOIN l ON l.account = k.account',
      count: 'k.assets - coalesce(l.assets, 0)',
    },
  }
}

function ofTemplates(column: string, condition: string): string {
  return `(SELECT ${column} AS account, count(*) AS assets
      FROM assets.templates t JOIN assets.assets a USING (template_id)
      WHERE ${condition} AND ${column} IS NOT NULL GROUP BY 1)`
}

/** Assets in valid offers. In the order of their ids they are found side by side. */
function offered(column: string): string {
  return `(SELECT ${column} AS account, count(*) AS assets
      FROM (SELECT DISTINCT ON (x.asset_id) x.asset_id
          FROM (SELECT * FROM assets.open_offer_assets ORDER BY asset_id, offer_id OFFSET 0) x
          WHERE x.offer_id IN (SELECT p.offer_id FROM assets.offers p WHERE p.state = 0)
          ORDER BY x.asset_id OFFSET 0) x
        JOIN assets.assets a USING (asset_id)
      WHERE ${column} IS NOT NULL GROUP BY 1)`
}
