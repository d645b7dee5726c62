import type { Derivation, RowSink } from '../../store/index.ts'
import { tables } from './tables.ts'
import type { MarketplaceAccountRow, TradeRow } from './tables.ts'

/** Times of the trades of a side: first and last of those that were added, from the trades themselves when one was undone. */
function times(side: 'seller' | 'buyer', marketplace: string, first: string, last: string): string {
  const ofAll = (extreme: string) => `(SELECT ${extreme}(t.trade_time) FROM market.trades t
      WHERE t.token_symbol = k.token_symbol AND t.${side} = k.account AND t.${marketplace} = k.marketplace)`
  return `
      CASE WHEN k.is_undone THEN ${ofAll('min')} ELSE least(m.${first}, k.${first}) END AS ${first},
      CASE WHEN k.is_undone THEN ${ofAll('max')} ELSE greatest(m.${last}, k.${last}) END AS ${last}`
}

/**
 * Who traded through which marketplace, and from when to when. Keys are texts created by `recheckParties`: what happened to
 * a trade, its time, token, account and marketplace.
 */
export const marketplaceAccounts: Derivation<MarketplaceAccountRow> = {
  kind: 'derivation',
  name: 'accounts of marketplaces',
  keys: 'text',
  sources: [],
  statement: `
    SELECT k.token_symbol, k.marketplace, k.account, n.sells, n.sell_volume, n.buys, n.buy_volume,
      ${times('seller', 'maker_marketplace', 'first_sold', 'last_sold')},
      ${times('buyer', 'taker_marketplace', 'first_bought', 'last_bought')}
    FROM (
      SELECT split_part(key, ' ', 3) COLLATE "C" AS token_symbol, split_part(key, ' ', 5) COLLATE "C" AS marketplace,
        split_part(key, ' ', 4) COLLATE "C" AS account, bool_or(e.event = 'undone') AS is_undone,
        min(e.at) FILTER (WHERE e.event = 'sold') AS first_sold, max(e.at) FILTER (WHERE e.event = 'sold') AS last_sold,
        min(e.at) FILTER (WHERE e.event = 'bought') AS first_bought, max(e.at) FILTER (WHERE e.event = 'bought') AS last_bought
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

/** Asks for the accounts of a trade to be looked at again. @param isAdded false: the trade is one no more. */
export function recheckParties(trade: TradeRow, isAdded: boolean, sink: RowSink): void {
  const { trade_time, token_symbol, seller, buyer, maker_marketplace, taker_marketplace } = trade
  const key = (event: string, account: string, marketplace: string) =>
    [isAdded ? event : 'undone', trade_time, token_symbol, account, marketplace].join(' ')
  sink.recheck(marketplaceAccounts, key('sold', seller, maker_marketplace))
  sink.recheck(marketplaceAccounts, key('bought', buyer, taker_marketplace))
}
