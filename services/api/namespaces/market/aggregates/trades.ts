import type { Session } from '../../../database/index.ts'
import type { Sql } from '../../../sql/index.ts'
import { bind, bindIds, raw, sql, where } from '../../../sql/index.ts'
import type { PlainRecord } from '../../../records/fields/index.ts'
import { assetSaleRecord, priceDayRecord, tradeRecord } from '../records/trade-records.ts'
import { oneOf, oneOfIds } from '../../nft/conditions/index.ts'
import { directionOf } from '../../nft/paging/index.ts'
import type { MarketSetup } from '../setup.ts'
import { DAY_MS } from './trade-range.ts'
import { TRADE_DAY } from './trade-sums.ts'
import type { TradeValues, assetSaleParameters } from '../parameters.ts'
import type { Values } from '../../../../core/endpoint/index.ts'

/** Maximum number of trades in an answer. The limit is fixed, because the endpoints have no pages. */
const MAX_TRADES = 500

/** SQL conditions on the trades (alias `k`): trades of single assets that match the request. */
function singleTrades(values: TradeValues): Sql[] {
  const { asset_id: assets, burned } = values
  return [
    raw('k.asset_count = 1'),
    ...oneOf('k.collection_name', values.collection_name),
    ...oneOf('k.schema_name', values.schema_name),
    ...oneOf('k.token_symbol', values.symbol),
    ...(values.template_id === null ? [raw('k.template_id IS NULL')] : []),
    ...oneOfIds('k.template_id', values.template_id),
    ...(assets ? [sql`k.asset_id = ANY(${bindIds(assets)})`] : []),
    ...(burned === undefined ? [] : [raw(burned ? 'k.asset_burned' : 'NOT k.asset_burned')]),
  ]
}

/** Runs a query that returns all rows packed into one text. Unpacks the rows and returns them as a JSON array. */
async function listOf(
  session: Session,
  record: PlainRecord,
  query: Sql,
  given?: Parameters<PlainRecord['read']>[1],
): Promise<string> {
  const rows = await session.query<[string | null]>(query.render())
  return `[${record.read(rows[0]![0], given).join(',')}]`
}

/** The latest MAX_TRADES trades of single assets as JSON text, in ascending order of time. */
export function latestTrades(session: Session, values: TradeValues): Promise<string> {
  return listOf(
    session,
    tradeRecord,
    sql`SELECT ${raw(tradeRecord.rows('k.trade_time, k.kind, k.listing_id'))}
      FROM (SELECT * FROM market.trades k ${where(singleTrades(values))}
        ORDER BY k.trade_time DESC, k.kind DESC, k.listing_id DESC LIMIT ${raw(MAX_TRADES)}) k
        JOIN market.tokens y USING (token_symbol)`,
  )
}

/** Trades of single assets, summarized by day and token, as JSON text. The latest day comes first. */
export async function tradeDays(session: Session, values: TradeValues): Promise<string> {
  const days = isStoredByDay(values) ? storedDays(values, await firstOpenDay(session)) : summedDays(values)
  return listOf(
    session,
    priceDayRecord,
    sql`SELECT ${raw(priceDayRecord.rows('d.day DESC, y.place'))}
      FROM (${days}) d JOIN market.tokens y USING (token_symbol)`,
  )
}

/**
 * Parameters of requests that market.price_days can answer. The table has one row for each token and day, so other
 * filters need the single trades.
 */
const supported = new Set(['symbol', 'before', 'after'])

function isStoredByDay(values: TradeValues): boolean {
  return Object.keys(values).every((name) => supported.has(name))
}

/** Query of trades (number, sum and median of the prices) by token and day, computed from market.trades. */
function summedDays(values: TradeValues, further: readonly Sql[] = []): Sql {
  const { before, after } = values
  const conditions = [
    ...singleTrades(values),
    ...further,
    ...(before === undefined ? [] : [sql`k.trade_time <= ${bind(before, 'bigint')}`]),
    ...(after === undefined ? [] : [sql`k.trade_time >= ${bind(after, 'bigint')}`]),
  ]
  return sql`SELECT k.token_symbol, ${raw(TRADE_DAY)} AS day, count(*) AS trades, sum(k.price) AS volume,
      percentile_disc(0.5) WITHIN GROUP (ORDER BY k.price) AS median
    FROM market.trades k ${where(conditions)} GROUP BY k.token_symbol, ${raw(TRADE_DAY)}`
}

/** First day without a row in market.price_days. From this day on, the trades have to be summed. */
async function firstOpenDay(session: Session): Promise<number> {
  const rows = await session.query<[number]>({
    name: 'first-open-day',
    text: 'SELECT coalesce(max(k.day) + 1, 0) FROM market.price_days k',
    values: [],
  })
  return rows[0]![0]
}

/**
 * UNION of two queries for the trades by day. The first query reads days that were over at the last block from
 * market.price_days. The second query sums market.trades for the current day, and for the days of which `before` or
 * `after` excludes a part.
 */
function storedDays(values: TradeValues, open: number): Sql {
  const { before, after } = values
  // `before` and `after` are inclusive in requests for trades.
  const first = after === undefined ? undefined : Math.ceil(after / DAY_MS)
  const end = before === undefined ? undefined : Math.floor((before + 1) / DAY_MS)
  const whole = [
    // An earlier statement read `open`, the first day without a row in market.price_days. A row of this day may have
    // been written since. Leave this row out: the second query of the UNION sums all trades from `open` on, so these
    // trades would count twice.
    sql`k.day < ${bind(open, 'bigint')}`,
    ...oneOf('k.token_symbol', values.symbol),
    ...(first === undefined ? [] : [sql`k.day >= ${bind(first, 'bigint')}`]),
    ...(end === undefined ? [] : [sql`k.day < ${bind(end, 'bigint')}`]),
  ]
  const time = (operator: string, day: number): Sql =>
    sql`k.trade_time ${raw(operator)} ${bind(day * DAY_MS, 'bigint')}`
  const others = [
    time('>=', open),
    ...(first === undefined ? [] : [time('<', first)]),
    ...(end === undefined ? [] : [time('>=', end)]),
  ].reduce((any, each) => sql`${any} OR ${each}`)
  // No trade counts twice: the second query of the UNION sums only the days that the first query leaves out.
  return sql`SELECT k.token_symbol, k.day::bigint AS day, k.trades, k.volume, k.median FROM market.price_days k ${where(whole)}
    UNION ALL ${summedDays(values, [sql`(${others})`])}`
}

/** The trades of one asset as JSON text. Trades of bundles are included unless `bundles` is false. */
export function assetSales(
  session: Session,
  setup: MarketSetup,
  values: Values<typeof assetSaleParameters>,
): Promise<string> {
  const direction = directionOf(values)
  const conditions = [
    sql`x.asset_id = ${bind(values.asset_id, 'bigint')}`,
    ...oneOf('k.seller', values.seller),
    ...oneOf('k.buyer', values.buyer),
    ...oneOf('k.token_symbol', values.symbol),
    ...(values.bundles === false ? [raw('k.asset_count = 1')] : []),
  ]
  const limit = raw(Math.min(values.limit, MAX_TRADES))
  const order = `k.trade_time ${direction}, k.kind, k.listing_id`
  return listOf(
    session,
    assetSaleRecord,
    sql`SELECT ${raw(assetSaleRecord.rows(order))}
      FROM (SELECT k.* FROM market.listing_assets x
          JOIN market.trades k ON k.kind = x.kind AND k.listing_id = x.listing_id
          ${where(conditions)} ORDER BY ${raw(order)} LIMIT ${limit}) k
        JOIN market.tokens y USING (token_symbol)`,
    setup.assets.settings.given,
  )
}
