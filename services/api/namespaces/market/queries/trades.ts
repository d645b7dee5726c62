import type { Session } from '../../../database/index.ts'
import { Bindings, whereClause } from '../../../database/index.ts'
import type { Values } from '../../../endpoint/index.ts'
import { jsonMembers, oneOf, quoted } from '../../assets/index.ts'
import { bindIntegers, directionOf } from '../../paging/index.ts'
import type { MarketSetup } from '../setup.ts'
import { TRADE_DAY } from './trade-sums.ts'

/** Trades of one answer; it has no pages. */
const MAX_TRADES = 500

const token = {
  token_symbol: quoted('y.token_symbol'),
  token_precision: 'y.token_precision',
  token_contract: quoted('y.token_contract'),
}
/** The listing that a trade comes from; a template buy offer is told by the absence of all. */
const listing = {
  sale_id: quoted('CASE WHEN k.kind = 1 THEN k.listing_id END'),
  auction_id: quoted('CASE WHEN k.kind = 2 THEN k.listing_id END'),
  buyoffer_id: quoted('CASE WHEN k.kind = 3 THEN k.listing_id END'),
}

/** Conditions on the trades of single assets. */
function singleTrades(values: Values, bindings: Bindings): string[] {
  const templates = values.ids('template_id')
  const assets = values.ids('asset_id')
  const burned = values.bool('burned')
  const conditions = [
    'k.asset_count = 1',
    ...oneOf('k.collection_name', values.texts('collection_name'), bindings),
    ...oneOf('k.schema_name', values.texts('schema_name'), bindings),
    ...oneOf('k.token_symbol', values.texts('symbol'), bindings),
  ]
  if (values.isNull('template_id')) conditions.push('k.template_id IS NULL')
  if (templates) conditions.push(`k.template_id = ANY(${bindIntegers(templates, bindings)})`)
  if (assets) conditions.push(`k.asset_id = ANY(${bindings.bindIds(assets)})`)
  // Of the second form an index of its own holds all that is not of the first, assets that are not known besides.
  if (burned === false) conditions.push('k.asset_burned IS FALSE')
  if (burned === true) conditions.push('k.asset_burned IS NOT FALSE', 'k.asset_burned')
  return conditions
}

/** The latest trades of single assets as JSON text, the oldest of them first. */
export async function latestTrades(session: Session, values: Values): Promise<string> {
  const bindings = new Bindings()
  const rows = await session.query<[string | null]>({
    text: `SELECT string_agg('{' || ${jsonMembers({
      ...listing,
      price: quoted('k.price'),
      template_mint: `coalesce(k.template_mint::text, 'null')`,
      ...token,
      block_time: quoted('k.trade_time'),
    })} || '}', ',' ORDER BY k.trade_time, k.kind, k.listing_id)
      FROM (SELECT * FROM market.trades k ${whereClause(singleTrades(values, bindings))}
        ORDER BY k.trade_time DESC, k.kind DESC, k.listing_id DESC LIMIT ${MAX_TRADES}) k
        JOIN market.tokens y USING (token_symbol)`,
    values: bindings.values,
  })
  return `[${rows[0]![0] ?? ''}]`
}

const DAY_MS = 86_400_000

/** Trades of single assets by day and token as JSON text, the latest day first. */
export async function tradeDays(session: Session, values: Values): Promise<string> {
  const bindings = new Bindings()
  const days = isKeptByDay(values)
    ? keptDays(values, await firstOpenDay(session), bindings)
    : summedDays(values, bindings)
  const rows = await session.query<[string | null]>({
    text: `SELECT string_agg('{' || ${jsonMembers({
      median: quoted('d.median'),
      average: quoted('round(d.volume / d.trades)'),
      volume: quoted('d.volume'),
      sales: quoted('d.trades'),
      ...token,
      time: `d.day * ${DAY_MS} + ${DAY_MS / 2}`,
    })} || '}', ',' ORDER BY d.day DESC, y.place)
      FROM (${days}) d
        JOIN market.tokens y USING (token_symbol)`,
    values: bindings.values,
  })
  return `[${rows[0]![0] ?? ''}]`
}

const KEPT = new Set(['symbol', 'before', 'after'])

function isKeptByDay(values: Values): boolean {
  return values.names().every((name) => KEPT.has(name) || (name === 'burned' && values.bool(name) === false))
}

/** The days of trades that meet conditions. */
function summedDays(values: Values, bindings: Bindings, further: readonly string[] = []): string {
  const conditions = [...singleTrades(values, bindings), ...further]
  const before = values.int('before')
  const after = values.int('after')
  if (before !== undefined) conditions.push(`k.trade_time <= ${bindings.bind(before, 'bigint')}`)
  if (after !== undefined) conditions.push(`k.trade_time >= ${bindings.bind(after, 'bigint')}`)
  return `SELECT k.token_symbol, ${TRADE_DAY} AS day, count(*) AS trades, sum(k.price) AS volume,
      percentile_disc(0.5) WITHIN GROUP (ORDER BY k.price) AS median
    FROM market.trades k ${whereClause(conditions)} GROUP BY k.token_symbol, ${TRADE_DAY}`
}

/** The first day whose trades are not kept by day. */
async function firstOpenDay(session: Session): Promise<number> {
  const rows = await session.query<[number]>({
    name: 'first-open-day',
    text: 'SELECT coalesce(max(k.day) + 1, 0) FROM market.price_days k',
    values: [],
  })
  return rows[0]![0]
}

/** Days that were over at the last block are kept; the rest, and those that a bound cuts, are summed up. */
function keptDays(values: Values, open: number, bindings: Bindings): string {
  const before = values.int('before')
  const after = values.int('after')
  // Both bounds are inclusive.
  const first = after === undefined ? undefined : Math.ceil(after / DAY_MS)
  const end = before === undefined ? undefined : Math.floor((before + 1) / DAY_MS)
  const bounds = [
    ...(first === undefined ? [] : [`k.day >= ${bindings.bind(first, 'bigint')}`]),
    ...(end === undefined ? [] : [`k.day < ${bindings.bind(end, 'bigint')}`]),
  ]
  const whole = [...oneOf('k.token_symbol', values.texts('symbol'), bindings), ...bounds]
  const kept = values.bool('burned') === false ? unburnedDays(whole) : wholeDays(whole)
  const ways = [
    `k.trade_time >= ${bindings.bind(open * DAY_MS, 'bigint')}`,
    ...(first === undefined ? [] : [`k.trade_time < ${bindings.bind(first * DAY_MS, 'bigint')}`]),
    ...(end === undefined ? [] : [`k.trade_time >= ${bindings.bind(end * DAY_MS, 'bigint')}`]),
  ]
  // A day that a bound cuts is none of the whole ones; a day that runs may be cut as well, and is summed up once.
  return `${kept} UNION ALL ${summedDays(values, bindings, [`(${ways.join(' OR ')})`])}`
}

const wholeDays = (whole: readonly string[]): string =>
  `SELECT k.token_symbol, k.day::bigint AS day, k.trades, k.volume, k.median FROM market.price_days k ${whereClause(whole)}`

/**
 * Days without the trades of assets that were burned since: these are few and taken off; the median is then found by its
 * place in the order of the others.
 */
const unburnedDays = (whole: readonly string[]): string =>
  `SELECT n.token_symbol, n.day::bigint AS day, n.trades, n.volume, (
      SELECT k.price FROM market.trades k
      WHERE k.token_symbol = n.token_symbol AND ${TRADE_DAY} = n.day AND k.asset_count = 1 AND k.asset_burned IS FALSE
      ORDER BY k.price OFFSET (n.trades - 1) / 2 LIMIT 1) AS median
    FROM (
      SELECT k.token_symbol, k.day, k.trades - coalesce(b.trades, 0) AS trades, k.volume - coalesce(b.volume, 0) AS volume
      FROM market.price_days k LEFT JOIN (
        SELECT k.token_symbol, ${TRADE_DAY} AS day, count(*) AS trades, sum(k.price) AS volume FROM market.trades k
        WHERE k.asset_count = 1 AND k.asset_burned IS NOT FALSE GROUP BY k.token_symbol, ${TRADE_DAY}
      ) b ON b.token_symbol = k.token_symbol AND b.day = k.day
      ${whereClause(whole)} OFFSET 0) n
    WHERE n.trades > 0`

/** The trades of one asset as JSON text, bundles included unless they are not wanted. */
export async function assetSales(session: Session, setup: MarketSetup, values: Values): Promise<string> {
  const bindings = new Bindings()
  const direction = directionOf(values)
  const contract = bindings.bind(setup.contract, 'text')
  const conditions = [
    `x.asset_id = ${bindings.bind(values.id('asset_id')!, 'bigint')}`,
    ...oneOf('k.seller', values.texts('seller'), bindings),
    ...oneOf('k.buyer', values.texts('buyer'), bindings),
    ...oneOf('k.token_symbol', values.texts('symbol'), bindings),
    ...(values.bool('bundles') === false ? ['k.asset_count = 1'] : []),
  ]
  const limit = Math.min(values.int('limit')!, MAX_TRADES)
  const order = `k.trade_time ${direction}, k.kind, k.listing_id`
  const rows = await session.query<[string | null]>({
    text: `SELECT string_agg('{' || ${jsonMembers({
      market_contract: `'"' || ${contract} || '"'`,
      ...listing,
      ...token,
      price: quoted('k.price'),
      seller: quoted('k.seller'),
      buyer: quoted('k.buyer'),
      block_time: quoted('k.trade_time'),
    })} || '}', ',' ORDER BY ${order})
      FROM (SELECT k.* FROM market.listing_assets x
          JOIN market.trades k ON k.kind = x.kind AND k.listing_id = x.listing_id
          ${whereClause(conditions)} ORDER BY ${order} LIMIT ${limit}) k
        JOIN market.tokens y USING (token_symbol)`,
    values: bindings.values,
  })
  return `[${rows[0]![0] ?? ''}]`
}
