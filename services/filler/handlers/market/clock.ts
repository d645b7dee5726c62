import type { Derivation } from '../../rows/operations.ts'
import { DAY_MS, priceDays, tokenDay } from './price-days.ts'
import { RECENT_MS, templatePrices, templateToken } from './template-prices.ts'
import { auctionTrades } from './trades.ts'

/** A derived value that became outdated by block time: an auction, the prices of a template, or the prices of a day. */
interface Due {
  auction_id: bigint | null
  template_id: number | null
  token_symbol: string | null
  day: number | null
}

/**
 * Finds changes that block time alone causes: auctions that end, trades that stop counting as recent, sales that have
 * been listed long enough to cap a suggested price, days that end. A single statement finds all four, because the
 * derivation runs with every block. Trades and sales that the unit writes are rechecked without this derivation.
 */
export const clock: Derivation<Due> = {
  kind: 'derivation',
  name: 'changes caused by block time',
  keys: 'none',
  sources: [],
  statement: `
    SELECT auction_id, NULL::integer AS template_id, NULL::text AS token_symbol, NULL::integer AS day FROM market.auctions
    WHERE state = 1 AND end_time > $2::bigint / 1000 AND end_time <= $1::bigint / 1000 AND buyer IS NOT NULL
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
