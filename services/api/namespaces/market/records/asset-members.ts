import { shape } from '../../../endpoint/index.ts'
import type { Parts, Group } from '../../../records/fields/index.ts'
import { sharedRow } from '../../../records/fragments/index.ts'
import type { Fragment, FragmentKind } from '../../../records/fragments/index.ts'
import { tokenMembers } from './token-fields.ts'
import { bind, raw, sql } from '../../../sql/index.ts'
import type { RecordSchema } from '../../../endpoint/index.ts'
import { packRows, unpackRows } from '../../../database/index.ts'
import type { KeyedList, RowParts } from '../../../records/index.ts'
import { assetsOf } from '../../nft/records/index.ts'

/**
 * SQL of a suggested price of a row of `market.template_prices`, capped by the lowest price of the listed sales that
 * an oracle prices. Inlines the function `market.capped`, because a call takes five times as long.
 * @param rates relation with the oracle rates: the view, or a WITH item, which reads the rates once for many rows.
 */
export function cappedPrice(column: string, row: string, rates = 'market.rates'): string {
  return `(CASE WHEN ${row}.oracle_floors IS NULL THEN ${column} ELSE least(${column}, (
    SELECT min(market.settlement_price((${row}.oracle_floors ->> r.listing_symbol)::bigint, r.factor, r.divisor))
    FROM ${rates} r WHERE r.settlement_symbol = ${row}.token_symbol AND ${row}.oracle_floors ? r.listing_symbol)) END)`
}

/** SQL of a version that changes whenever an oracle rate changes. */
const RATES_VERSION = `(SELECT string_agg(concat('/', s.xmin, '/', p.xmin), '' ORDER BY s.listing_symbol, s.settlement_symbol)
    FROM market.symbol_pairs s JOIN oracle.pairs p USING (pair_name))`

/**
 * SQL of a text that changes whenever a row of market.tokens changes; cached prices with another text are not used. The
 * subquery reads the whole table, because the market has few tokens.
 */
const TOKENS_VERSION = `(SELECT string_agg(y.xmin::text, '/' ORDER BY y.token_symbol) FROM market.tokens y)`

/**
 * Version of the prices of a template: the versions of all rows with its prices, of the tokens and of the oracle rates.
 * The subqueries of tokens and rates refer to no outer row, so PostgreSQL runs each of them once for a statement.
 */
const VERSION = `concat(${TOKENS_VERSION}, ',', string_agg(concat(k.xmin,
    CASE WHEN k.oracle_floors IS NOT NULL THEN ${RATES_VERSION} END), ',' ORDER BY k.token_symbol))`

/** Separator between the prices of a template; JSON text and names cannot contain it. */
const PRICE_END = '\u001d'

/** Price statistics of the template of an asset in one token. */
const assetPrice = shape.record('AssetPrice', 'Trades of single assets of a template, in one token', {
  market_contract: shape.text('Account of the market contract'),
  token: shape.object(tokenMembers),
  median: shape.decimal('Median price; for an even number of prices, the lower of the two middle prices'),
  average: shape.decimal('Average price, rounded'),
  suggested_median: shape.decimal('Suggested price: median of the latest trades, see TemplatePrice'),
  suggested_average: shape.decimal('Suggested price: average of the latest trades, see TemplatePrice'),
  min: shape.decimal('Lowest price'),
  max: shape.decimal('Highest price'),
  sales: shape.decimal('Trades'),
})

/** Members of a price that follow `market_contract`, in the order of the replaced system. */
const PRICE = `concat('"token":{"token_symbol":"', y.token_symbol, '","token_precision":', y.token_precision,
    ',"token_contract":"', y.token_contract, '"},"median":"', k.median, '","average":"', k.average,
    '","suggested_median":"', ${cappedPrice('k.suggested_median', 'k')},
    '","suggested_average":"', ${cappedPrice('k.suggested_average', 'k')},
    '","min":"', k.min, '","max":"', k.max, '","sales":"', k.trades, '"')`

const PRICE_ROWS = 'market.template_prices k JOIN market.tokens y USING (token_symbol)'

/** Fragment with the prices of a template: JSON members without `market_contract`. Key: template id. */
const templatePrices: FragmentKind = {
  name: 'template-prices',
  key: 'k.template_id',
  version: 'k.version',
  texts: [{ columns: ['k.prices'], text: ([prices]) => prices! }],
  from: (keys) => `FROM (
      SELECT k.template_id, ${VERSION} AS version, string_agg(${PRICE}, E'\\x1d' ORDER BY k.token_symbol) AS prices
      FROM ${PRICE_ROWS} WHERE k.template_id = ANY(${keys}::integer[]) GROUP BY k.template_id) k`,
  maxBytes: 8 * 1024 * 1024,
}

/** The prices of the template of an asset, as rows that records share. */
const templatePricesRow = sharedRow({
  ...{ kind: templatePrices, table: 'market.template_prices', alias: 'k', columns: ['template_id'] },
  keyType: 'integer',
  ...{ version: VERSION, isGrouped: true, isOptional: true },
})

const lists = new WeakMap<Fragment, string>()

/** JSON objects of the prices of a template, separated by commas. */
function pricesOf(fragment: Fragment | undefined, given: Parts['given']): string {
  if (!fragment) return ''
  const known = lists.get(fragment)
  if (known !== undefined) return known
  const list = fragment.texts[0]!.split(PRICE_END)
    .map((price) => `{"market_contract":${given['market_contract']!},${price}}`)
    .join(',')
  lists.set(fragment, list)
  return list
}

/**
 * Declares a keyed list of market objects: for each key (asset or template id), its JSON objects separated by commas.
 * @param select SQL of `packRows`: first the key, then one value for each of `members`.
 */
function objectsByKey(select: KeyedList['select'], members: readonly string[]): KeyedList {
  return {
    select,
    read(packed, given) {
      const lists = new Map<string, string>()
      for (const [key, ...values] of unpackRows(packed)) {
        const own = members.map((member, index) => `"${member}":"${values[index]!}"`)
        const object = `{"market_contract":${given['market_contract']!},${own.join(',')}}`
        const before = lists.get(key!)
        lists.set(key!, before === undefined ? object : `${before},${object}`)
      }
      return lists
    },
  }
}

/** For each template of the assets: the best open template buy offer in each token. */
const offers = objectsByKey(
  `(SELECT ${packRows(['b.template_id', 'b.buyoffer_id', 'b.token_symbol'], 'b.token_symbol')}
  FROM (SELECT DISTINCT template_id FROM a) d CROSS JOIN market.tokens y CROSS JOIN LATERAL (
    SELECT o.template_id, o.token_symbol, o.buyoffer_id FROM market.template_buyoffers o
    WHERE o.template_id = d.template_id AND o.token_symbol = y.token_symbol AND o.state = 0
    ORDER BY o.price DESC, o.buyoffer_id LIMIT 1) b)`,
  ['buyoffer_id', 'token_symbol'],
)

const sales = objectsByKey(
  `(SELECT ${packRows(['a.asset_id', 's.sale_id'], 's.sale_id')}
  FROM a CROSS JOIN LATERAL (SELECT x.listing_id FROM market.listing_assets x
    WHERE x.asset_id = a.asset_id AND x.kind = 1 OFFSET 0) x CROSS JOIN LATERAL (
    SELECT s.sale_id FROM market.sales s WHERE s.sale_id = x.listing_id AND s.state = 1 OFFSET 0) s)`,
  ['sale_id'],
)

const auctions = objectsByKey(
  (clock) =>
    sql`${raw(`(SELECT ${packRows(['a.asset_id', 'u.auction_id'], 'u.auction_id')}
  FROM a CROSS JOIN LATERAL (SELECT x.listing_id FROM market.listing_assets x
    WHERE x.asset_id = a.asset_id AND x.kind = 2 OFFSET 0) x CROSS JOIN LATERAL (
    SELECT u.auction_id FROM market.auctions u WHERE u.auction_id = x.listing_id AND u.state = 1 AND u.end_time > `)}${bind(
      Math.floor(clock() / 1000),
      'bigint',
    )}${raw(' OFFSET 0) u)')}`,
  ['auction_id'],
)

const ofMarket = (id: string): RecordSchema =>
  shape.object({
    market_contract: shape.text('Account of the market contract'),
    [id]: shape.decimal('Id of the listing'),
  })

const members = {
  sales: shape.list(
    ofMarket('sale_id'),
    'Listed sales that contain the asset; always empty inside a listing',
  ),
  auctions: shape.list(
    ofMarket('auction_id'),
    'Running auctions that contain the asset; always empty inside a listing',
  ),
  'prices?': shape.list(
    assetPrice,
    'Prices of the template of the asset, by token; absent without a template',
  ),
  'template_buyoffers?': shape.list(
    shape.object({
      market_contract: shape.text('Account of the market contract'),
      buyoffer_id: shape.decimal('Id of the template buy offer'),
      token_symbol: shape.text('Token of the price'),
    }),
    'Highest open offer for the template of the asset, by token; always empty inside a listing, absent without a template',
  ),
}

/**
 * Index of the fragment with the template's prices among the shared rows of an asset: collection, schema and template
 * come first.
 */
const PRICES = 3

const named = {
  title: 'ListingAsset',
  description: 'An asset with its sales, auctions, prices and template buy offers',
}
const shared = [templatePricesRow]
const columns = ['a.asset_id', 'a.template_id']

const whole: Group<RowParts> = {
  members,
  columns,
  isText: true,
  write({ shared: rows, lists: [, salesOf, auctionsOf, offersOf], given }, id, template) {
    const own = `"sales":[${salesOf!.get(id) ?? ''}],"auctions":[${auctionsOf!.get(id) ?? ''}]`
    if (template === '') return own
    const offered = offersOf!.get(template) ?? ''
    return `${own},"prices":[${pricesOf(rows[PRICES], given)}],"template_buyoffers":[${offered}]`
  },
}

const inListings: Group<RowParts> = {
  members,
  columns,
  isText: true,
  write({ shared: rows, given }, _id, template) {
    if (template === '') return '"sales":[],"auctions":[]'
    return `"sales":[],"auctions":[],"prices":[${pricesOf(rows[PRICES], given)}],"template_buyoffers":[]`
  },
}

/** Record type of assets in the market namespace: with prices, listings and the best offers for their templates. */
export const marketAssets = assetsOf({
  ...{ ...named, members: { market: whole }, shared, lists: [sales, auctions, offers] },
})

/**
 * Record type of assets inside listings: with the prices of their templates, without the listings that contain them.
 */
export const listedAssets = assetsOf({ ...named, members: { market: inListings }, shared })
