import { shape } from '../../../endpoint/index.ts'
import type { Parts } from '../../../records/fields/index.ts'
import { sharedRow } from '../../../records/fragments/index.ts'
import type { Fragment, FragmentKind } from '../../../records/fragments/index.ts'
import { tokenMembers } from './token-fields.ts'

/**
 * A suggested price of a row of `market.template_prices`, with the sales that an oracle prices: the function
 * `market.capped` in place, as a call takes five times as long.
 * @param rates relation of the rates; a WITH item reads them once for many rows.
 */
export function cappedPrice(column: string, row: string, rates = 'market.rates'): string {
  return `(CASE WHEN ${row}.oracle_floors IS NULL THEN ${column} ELSE least(${column}, (
    SELECT min(market.settlement_price((${row}.oracle_floors ->> r.listing_symbol)::bigint, r.factor, r.divisor))
    FROM ${rates} r WHERE r.settlement_symbol = ${row}.token_symbol AND ${row}.oracle_floors ? r.listing_symbol)) END)`
}

/** Version that changes with every oracle rate. */
const RATES_VERSION = `(SELECT string_agg(concat('/', s.xmin, '/', p.xmin), '' ORDER BY s.listing_symbol, s.settlement_symbol)
    FROM market.symbol_pairs s JOIN oracle.pairs p USING (pair_name))`

/** Version that changes with every token row; the market has few tokens. */
const TOKENS_VERSION = `(SELECT string_agg(y.xmin::text, '/' ORDER BY y.token_symbol) FROM market.tokens y)`

/**
 * Version of the prices of a template: the versions of all its rows. PostgreSQL reads the two inner versions once for
 * each statement.
 */
const VERSION = `concat(${TOKENS_VERSION}, ',', string_agg(concat(k.xmin,
    CASE WHEN k.oracle_floors IS NOT NULL THEN ${RATES_VERSION} END), ',' ORDER BY k.token_symbol))`

/** Separator between the prices of a template; JSON text and names cannot contain it. */
const PRICE_END = '\u001d'

/** Price statistics of the template of an asset in one token. */
export const assetPrice = shape.record('AssetPrice', 'Trades of single assets of a template, in one token', {
  market_contract: shape.text('Account of the market contract'),
  token: shape.object(tokenMembers),
  median: shape.decimal('Lower middle price'),
  average: shape.decimal('Average price, rounded'),
  suggested_median: shape.decimal('Lower middle price of the latest trades, see TemplatePrice'),
  suggested_average: shape.decimal('Average price of the latest trades, see TemplatePrice'),
  min: shape.decimal('Lowest price'),
  max: shape.decimal('Highest price'),
  sales: shape.decimal('Trades'),
})

/** Members in the order of the replaced system, after the contract. */
const PRICE = `concat('"token":{"token_symbol":"', y.token_symbol, '","token_precision":', y.token_precision,
    ',"token_contract":"', y.token_contract, '"},"median":"', k.median, '","average":"', k.average,
    '","suggested_median":"', ${cappedPrice('k.suggested_median', 'k')},
    '","suggested_average":"', ${cappedPrice('k.suggested_average', 'k')},
    '","min":"', k.min, '","max":"', k.max, '","sales":"', k.trades, '"')`

const PRICE_ROWS = 'market.template_prices k JOIN market.tokens y USING (token_symbol)'

/** Fragment of the prices of a template, without the contract. Key: template id. */
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

/** Shared row of an asset: the prices of its template. */
export const templatePricesRow = sharedRow({
  ...{ kind: templatePrices, table: 'market.template_prices', alias: 'k', columns: ['template_id'] },
  ...{ version: VERSION, isGrouped: true, isOptional: true },
})

const lists = new WeakMap<Fragment, string>()

/** JSON objects of prices, in a comma list. */
export function pricesOf(fragment: Fragment | undefined, given: Parts['given']): string {
  if (!fragment) return ''
  const known = lists.get(fragment)
  if (known !== undefined) return known
  const list = fragment.texts[0]!.split(PRICE_END)
    .map((price) => `{"market_contract":${given['market_contract']!},${price}}`)
    .join(',')
  lists.set(fragment, list)
  return list
}
