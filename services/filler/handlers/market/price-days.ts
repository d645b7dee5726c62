import type { Derivation } from '../../rows/operations.ts'
import { tables } from './tables.ts'
import type { PriceDayRow } from './tables.ts'

export const DAY_MS = 86_400_000

/**
 * Key of a day's prices.
 * @param day days since 1970.
 */
export function tokenDay(token: string, day: number): string {
  return `${day} ${token}`
}

/**
 * Derives the prices of single assets by day and token, once the day is over. Queries read the running day from its
 * trades, so that no block has to sort all trades of the day. A trade that is added to or removed from a past day
 * triggers a recheck.
 */
export const priceDays: Derivation<Omit<PriceDayRow, 'trades'> & { trades: bigint | null }> = {
  kind: 'derivation',
  name: 'prices of days',
  keys: 'text',
  sources: [],
  statement: `
    SELECT k.token_symbol, k.day, nullif(t.trades, 0) AS trades, t.volume, t.median
    FROM (
      SELECT DISTINCT split_part(key, ' ', 2) COLLATE "C" AS token_symbol, split_part(key, ' ', 1)::integer AS day
      FROM unnest($1::text[]) key
    ) k
    CROSS JOIN LATERAL (
      SELECT count(*) AS trades, sum(t.price) AS volume, percentile_disc(0.5) WITHIN GROUP (ORDER BY t.price) AS median
      FROM market.trades t WHERE t.token_symbol = k.token_symbol AND t.asset_count = 1
        AND t.trade_time >= k.day::bigint * ${DAY_MS} AND t.trade_time < (k.day::bigint + 1) * ${DAY_MS}
    ) t
    ORDER BY k.token_symbol, k.day`,
  apply: (rows, sink) => {
    for (const { trades, ...row } of rows) {
      const { token_symbol, day } = row
      if (trades === null) sink.remove(tables.priceDays, { token_symbol, day })
      else sink.upsert(tables.priceDays, { ...row, trades })
    }
  },
}
