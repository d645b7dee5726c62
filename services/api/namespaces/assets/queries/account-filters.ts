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

/** What accounts are to the assets. */
export type AccountColumn = 'a.owner' | 'a.burned_by_account'

/** Parameters of a request that ask about assets. */
export function assetFilters(values: Values, column: AccountColumn): string[] {
  // No valid offer has a burned asset.
  const hidesOffers = column === 'a.owner' && values.bool('hide_offers') === true
  return values.names().filter((name) => !OF_ACCOUNTS.has(name) && (name !== 'hide_offers' || hidesOffers))
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
 */
export function leftOut(
  filter: string,
  column: AccountColumn,
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
      return offered()
    default:
      return undefined
  }
}

/** Counts what is left out of all accounts at once. */
function counted(from: string): LeftOut {
  return {
    from,
    match: {
      with: `l AS MATERIALIZED ${from}`,
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

/**
 * Assets in valid offers: of these every asset is with the side that gives it, so that the offers tell the owners. They
 * may name assets that are not known here. In the order of their ids the assets are found side by side.
 */
function offered(): LeftOut {
  return {
    from: `(SELECT a.owner AS account, count(*) AS assets
      FROM (SELECT DISTINCT ON (x.asset_id) x.asset_id
          FROM (SELECT * FROM assets.open_offer_assets ORDER BY asset_id, offer_id OFFSET 0) x
          WHERE x.offer_id IN (SELECT p.offer_id FROM assets.offers p WHERE p.state = 0)
          ORDER BY x.asset_id OFFSET 0) x
        JOIN assets.assets a USING (asset_id)
      WHERE a.owner IS NOT NULL GROUP BY 1)`,
    match: {
      with: `p AS MATERIALIZED (SELECT p.* FROM assets.offers p WHERE p.state = 0),
        l AS MATERIALIZED (SELECT g.account, count(*) AS assets
          FROM (SELECT DISTINCT g.account, g.id
              FROM (${given('sender')} UNION ALL ${given('recipient')}) g ORDER BY g.id OFFSET 0) g
          WHERE EXISTS (SELECT FROM assets.assets a WHERE a.asset_id = g.id) GROUP BY 1)`,
      join: 'LEFT JOIN l ON l.account = k.account',
      count: 'k.assets - coalesce(l.assets, 0)',
    },
  }
}

/** What accounts, `k`, give in offers, `p`, as one side of them. */
function given(side: 'sender' | 'recipient'): string {
  return `SELECT p.${side} AS account, unnest(p.${side}_asset_ids) AS id FROM p
    WHERE p.${side}_asset_ids <> '{}' AND (p.${side} IN (SELECT k.account FROM k)) IS TRUE`
}
