import type { Derivation, RowSink } from '../../rows/operations.ts'
import { tables } from './tables.ts'
import type { TemplatePriceRow } from './tables.ts'

/** Trades younger than this count as recent. Sales listed for at least this long cap the suggested price. */
export const RECENT_MS = 3 * 86_400_000
/**
 * Minimum number of trades that count as recent: if fewer trades are younger than RECENT_MS, the latest LATEST_TRADES
 * trades count, whatever their age.
 */
const LATEST_TRADES = 5

export function templateToken(templateId: number, token: string): string {
  return `${templateId} ${token}`
}

const listed = `
  FROM market.sales s
  WHERE s.template_id = k.template_id AND s.settlement_symbol = k.token_symbol AND s.state = 1
    AND s.updated_at_time <= $2::bigint - ${RECENT_MS}
    AND NOT EXISTS (SELECT 1 FROM chain.code_accounts c WHERE c.account = s.seller)`

const recent = `
  SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY r.price) AS recent_median, round(avg(r.price))::bigint AS recent_average,
    min(r.collection_name) AS collection_name
  FROM (
    (SELECT t.price, t.collection_name FROM market.trades t
     WHERE t.template_id = k.template_id AND t.token_symbol = k.token_symbol AND t.trade_time > $2::bigint - ${RECENT_MS})
    UNION ALL
    (SELECT o.price, o.collection_name FROM (
      SELECT t.price, t.collection_name, row_number() OVER (ORDER BY t.trade_time DESC, t.kind DESC, t.listing_id DESC) AS place
      FROM market.trades t
      WHERE t.template_id = k.template_id AND t.token_symbol = k.token_symbol AND t.trade_time <= $2::bigint - ${RECENT_MS}
      ORDER BY t.trade_time DESC, t.kind DESC, t.listing_id DESC LIMIT ${LATEST_TRADES}
    ) o WHERE o.place <= ${LATEST_TRADES} - (
      SELECT count(*) FROM (SELECT 1 FROM market.trades t
      WHERE t.template_id = k.template_id AND t.token_symbol = k.token_symbol AND t.trade_time > $2::bigint - ${RECENT_MS} LIMIT ${LATEST_TRADES}) c))
  ) r`

/**
 * Derives template prices by token. All-time figures come from `market.template_points`, one row per distinct price
 * paid. The median is the lowest price that at least half of the trades do not exceed.
 */
export const templatePrices: Derivation<Omit<TemplatePriceRow, 'trades'> & { trades: bigint | null }> = {
  kind: 'derivation',
  name: 'prices of templates',
  keys: 'text',
  clock: true,
  sources: [],
  statement: `
    SELECT k.template_id, k.token_symbol, a.trades, a.volume, a.median, a.average, a.min, a.max, r.recent_median, r.recent_average,
      f.floor_price, least(r.recent_median, f.floor_price) AS suggested_median,
      least(r.recent_average, f.floor_price) AS suggested_average, r.collection_name, o.oracle_floors::text AS oracle_floors
    FROM (
      SELECT DISTINCT split_part(key, ' ', 1)::integer AS template_id, split_part(key, ' ', 2) COLLATE "C" AS token_symbol
      FROM unnest($1::text[]) key
    ) k
    CROSS JOIN LATERAL (
      SELECT max(p.total)::bigint AS trades, sum(p.price::numeric * p.trades) AS volume, min(p.price) AS min, max(p.price) AS max,
        min(p.price) FILTER (WHERE p.reached * 2 >= p.total) AS median,
        round(sum(p.price::numeric * p.trades) / nullif(max(p.total), 0))::bigint AS average
      FROM (
        SELECT t.price, t.trades, sum(t.trades) OVER (ORDER BY t.price) AS reached, sum(t.trades) OVER () AS total
        FROM market.template_points t WHERE t.template_id = k.template_id AND t.token_symbol = k.token_symbol
      ) p
    ) a
    CROSS JOIN LATERAL (${recent}) r
    CROSS JOIN LATERAL (SELECT (
      SELECT s.listing_price ${listed} AND s.listing_symbol = k.token_symbol ORDER BY s.listing_price LIMIT 1
    ) AS floor_price) f
    CROSS JOIN LATERAL (
      SELECT jsonb_object_agg(y.listing_symbol, w.price::text) AS oracle_floors
      FROM market.symbol_pairs y CROSS JOIN LATERAL (
        SELECT s.listing_price AS price ${listed} AND s.listing_symbol = y.listing_symbol ORDER BY s.listing_price LIMIT 1
      ) w WHERE y.settlement_symbol = k.token_symbol AND y.listing_symbol <> k.token_symbol
    ) o
    LEFT JOIN market.template_prices p ON p.template_id = k.template_id AND p.token_symbol = k.token_symbol
    WHERE (a.trades, a.volume, a.median, r.recent_median, r.recent_average, f.floor_price, o.oracle_floors, a.min, a.max)
      IS DISTINCT FROM (p.trades, p.volume, p.median, p.recent_median, p.recent_average, p.floor_price, p.oracle_floors, p.min, p.max)
    ORDER BY k.template_id, k.token_symbol`,
  apply: (rows, sink) => {
    for (const { trades, ...row } of rows) {
      const key = { template_id: row.template_id, token_symbol: row.token_symbol }
      if (trades === null) sink.remove(tables.templatePrices, key)
      else sink.upsert(tables.templatePrices, { ...row, trades })
    }
  },
}

interface Touched {
  template_id: number
  token_symbol: string
}

function recheck(rows: readonly Touched[], sink: RowSink): void {
  for (const row of rows) sink.recheck(templatePrices, templateToken(row.template_id, row.token_symbol))
}

/** Rechecks templates with listed sales of accounts that have become contracts: sales by contracts do not count. */
export const contractSellers: Derivation<Touched> = {
  kind: 'derivation',
  name: 'sellers that became contracts',
  keys: 'text',
  sources: [{ table: 'chain.code_accounts', columns: ['account'], key: 'account' }],
  statement: `
    SELECT DISTINCT template_id, settlement_symbol AS token_symbol FROM market.sales
    WHERE seller = ANY($1::text[]) AND state = 1 AND template_id IS NOT NULL`,
  apply: recheck,
}
