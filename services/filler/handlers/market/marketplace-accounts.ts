import type { Derivation, RowSink } from '../../rows/operations.ts'
import { tables } from './tables.ts'
import type { MarketplaceAccountRow, TradeRow } from './tables.ts'

/**
 * SQL for the times of the first and last trade in which an account is the seller or the buyer. If an undone trade held
 * the first or last time, the time is recomputed by a scan of the account's trades.
 */
function times(side: 'seller' | 'buyer', verb: 'sold' | 'bought', number: 'sells' | 'buys'): string {
  const marketplace = side === 'seller' ? 'maker_marketplace' : 'taker_marketplace'
  const ofAll = (extreme: string) => `(SELECT ${extreme}(t.trade_time) FROM market.trades t
      WHERE t.token_symbol = k.token_symbol AND t.${side} = k.account AND t.${marketplace} = k.marketplace)`
  const [first, last] = [
    `least(m.first_${verb}, k.first_${verb})`,
    `greatest(m.last_${verb}, k.last_${verb})`,
  ]
  return `
      CASE WHEN n.${number} = 0 THEN NULL WHEN k.first_un${verb} <= ${first} THEN ${ofAll('min')} ELSE ${first} END AS first_${verb},
      CASE WHEN n.${number} = 0 THEN NULL WHEN k.last_un${verb} >= ${last} THEN ${ofAll('max')} ELSE ${last} END AS last_${verb}`
}

/**
 * SQL aggregates over the events that `recheckParties` has scheduled for an account: time of the first and of the last
 * trade for each event. `unsold` and `unbought`: a trade was removed.
 */
const EVENT_TIMES = ['sold', 'unsold', 'bought', 'unbought']
  .map(
    (event) => `min(e.at) FILTER (WHERE e.event = '${event}') AS first_${event},
        max(e.at) FILTER (WHERE e.event = '${event}') AS last_${event}`,
  )
  .join(',\n        ')

/**
 * Derives the sales and purchases of each account through each marketplace by token: number, volume, first and last
 * time. Keys are texts that `recheckParties` creates: event, trade time, token, account, marketplace.
 */
export const marketplaceAccounts: Derivation<MarketplaceAccountRow> = {
  kind: 'derivation',
  name: 'accounts of marketplaces',
  keys: 'text',
  sources: [],
  statement: `
    SELECT k.token_symbol, k.marketplace, k.account, n.sells, n.sell_volume, n.buys, n.buy_volume,
      ${times('seller', 'sold', 'sells')},
      ${times('buyer', 'bought', 'buys')}
    FROM (
      SELECT split_part(key, ' ', 3) COLLATE "C" AS token_symbol, split_part(key, ' ', 5) COLLATE "C" AS marketplace,
        split_part(key, ' ', 4) COLLATE "C" AS account,
        ${EVENT_TIMES}
      FROM unnest($1::text[]) key
        CROSS JOIN LATERAL (SELECT split_part(key, ' ', 1) AS event, split_part(key, ' ', 2)::bigint AS at) e
      GROUP BY 1, 2, 3
    ) k
    CROSS JOIN LATERAL (
      SELECT coalesce(sum(p.sells), 0)::bigint AS sells, coalesce(sum(p.sell_volume), 0) AS sell_volume,
        coalesce(sum(p.buys), 0)::bigint AS buys, coalesce(sum(p.buy_volume), 0) AS buy_volume
      FROM market.party_stats p
      WHERE p.token_symbol = k.token_symbol AND p.marketplace = k.marketplace AND p.account = k.account
    ) n
    LEFT JOIN market.marketplace_accounts m
      ON m.token_symbol = k.token_symbol AND m.marketplace = k.marketplace AND m.account = k.account
    ORDER BY k.token_symbol, k.marketplace, k.account`,
  apply: (rows, sink) => {
    for (const row of rows) {
      const { token_symbol, marketplace, account } = row
      if (row.sells + row.buys > 0n) sink.upsert(tables.marketplaceAccounts, row)
      else sink.remove(tables.marketplaceAccounts, { token_symbol, marketplace, account })
    }
  },
}

/**
 * Schedules a recheck of the two accounts of a trade.
 * @param isAdded false if the trade was removed.
 */
export function recheckParties(trade: TradeRow, isAdded: boolean, sink: RowSink): void {
  const { trade_time, token_symbol, seller, buyer, maker_marketplace, taker_marketplace } = trade
  const key = (event: string, account: string, marketplace: string) =>
    [isAdded ? event : `un${event}`, trade_time, token_symbol, account, marketplace].join(' ')
  sink.recheck(marketplaceAccounts, key('sold', seller, maker_marketplace))
  sink.recheck(marketplaceAccounts, key('bought', buyer, taker_marketplace))
}
