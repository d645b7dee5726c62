import type { Derivation } from '../../rows/operations.ts'
import { DAY_MS, priceDays, tokenDay } from './price-days.ts'
import { RECENT_MS, templatePrices, templateToken } from './template-prices.ts'
import { auctionTrades } from './trades.ts'

/** Work that became due since the previous block. */
interface Due {
  auction_id: bigint | null
  template_id: number | null
  token_symbol: string | null
  day: number | null
}

/**
 * Finds changes caused by block time alone: auctions that end, trades that stop counting as recent, sales listed long
 * enough to count, days that are over. One statement for all four, because it runs with every block. Trades and sales
 * that the unit itself writes are rechecked anyway.
 */
export const clock: Derivation<Due> = {
  kind: 'derivation',
  name: 'what time has changed',
  keys: 'none',
  sources: [],
  statement: `
    SELECT auction_id, NULL::integer AS template_id, NULL::text AS token_symbol, NULL::integer AS day FROM market.auctions
    WHERE state = 1 AND end_time > floor($2::bigint / 1000) AND end_time <= floor($1::bigint / 1000) AND buyer IS NOT NULL
    UNION
    SELECT NULL, template_id, token_symbol, NULL FROM market.trades
    WHERE trade_time > $2::bigint - ${RECENT_MS} AND trade_time <= $1::bigint - ${RECENT_MS} AND template_id IS NOT NULL
    UNION
    SELECT NULL, template_id, settlement_symbol, NULL FROM market.sales
    WHERE updated_at_time > $2::bigint - ${RECENT_MS} AND updated_at_time <= $1::bigint - ${RECENT_MS}
      AND state = 1 AND template_id IS NOT NULL
    UNION
    SELECT NULL, NULL, token_symbol, (trade_time / ${DAY_MS})::integer FROM market.trades
    WHERE trade_time >= $2::bigint / ${DAY_MS} * ${DAY_MS} AND trade_time < $1::bigint / ${DAY_MS} * ${DAY_MS}`,
  apply: (rows, sink) => {
    for (const { auction_id, template_id, token_symbol, day } of rows) {
      if (auction_id !== null) sink.recheck(auctionTrades, auction_id)
      else if (day !== null && token_symbol !== null) sink.recheck(priceDays, tokenDay(token_symbol, day))
      else if (template_id !== null && token_symbol !== null)
        sink.recheck(templatePrices, templateToken(template_id, token_symbol))
    }
  },
}
