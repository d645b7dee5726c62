import { declareRecord, field } from '../../../records/fields/index.ts'
import { DAY_MS } from '../aggregates/trade-range.ts'
import { cappedPrice } from './asset-members.ts'
import { tokenFields } from './token-fields.ts'

/** Ids of the listing of a trade; null for a trade by a template buy offer. The SQL alias of the trade is `k`. */
const listing = {
  sale_id: field.nullable(field.decimal('CASE WHEN k.kind = 1 THEN k.listing_id END', 'Sale')),
  auction_id: field.nullable(field.decimal('CASE WHEN k.kind = 2 THEN k.listing_id END', 'Auction')),
  buyoffer_id: field.nullable(
    field.decimal(
      'CASE WHEN k.kind = 3 THEN k.listing_id END',
      'Buy offer; sale_id, auction_id and buyoffer_id are all null for a template buy offer',
    ),
  ),
}

const marketContract = field.contract('market_contract', 'Account of the market contract')

/** The SQL alias of the trade is `k`. */
export const tradeRecord = declareRecord('Trade', 'A trade of one asset', {
  ...listing,
  price: field.decimal('k.price', 'Amount in units of the smallest decimal place'),
  template_mint: field.nullable(
    field.integer('k.template_mint', 'Mint number; null for an asset without template'),
  ),
  ...tokenFields,
  block_time: field.time('k.trade_time', 'Time of the trade'),
})

/** The SQL alias of the row with the trades of a day is `d`. */
export const priceDayRecord = declareRecord('PriceDay', 'Trades of single assets on one day, in one token', {
  median: field.decimal(
    'd.median',
    'Median price; for an even number of prices, the lower of the two middle prices',
  ),
  average: field.decimal('round(d.volume / d.trades)', 'Average price, rounded'),
  volume: field.decimal('d.volume', 'Sum'),
  sales: field.decimal('d.trades', 'Trades'),
  ...tokenFields,
  time: field.integer(`d.day * ${DAY_MS} + ${DAY_MS / 2}`, 'Noon of the day (UTC), ms since 1970'),
})

const statistics = (row: string) => ({
  median: field.decimal(
    `${row}.median`,
    'Median price; for an even number of prices, the lower of the two middle prices',
  ),
  average: field.decimal(`${row}.average`, 'Average price, rounded'),
  min: field.decimal(`${row}.min`, 'Lowest price'),
  max: field.decimal(`${row}.max`, 'Highest price'),
})

/** The SQL alias of the row with the price statistics is `p`. */
export const templatePriceRecord = declareRecord(
  'TemplatePrice',
  'Trades of single assets of a template, in one token. The suggested prices come from the trades of the last three ' +
    'days, and from at least the five latest trades. A suggested price is at most the lowest price of the sales of a ' +
    'single asset that have been listed for three days',
  {
    market_contract: marketContract,
    assets_contract: field.contract('contract', 'Account of the assets contract'),
    collection_name: field.name('p.collection_name', 'Collection'),
    template_id: field.decimal('p.template_id', 'Template'),
    token_symbol: tokenFields.token_symbol,
    token_contract: tokenFields.token_contract,
    token_precision: tokenFields.token_precision,
    ...statistics('p'),
    sales: field.decimal('p.trades', 'Trades'),
    suggested_median: field.decimal(
      cappedPrice('p.suggested_median', 'p'),
      'Suggested price: median of the latest trades; for an even number of prices, the lower of the two middle prices',
    ),
    suggested_average: field.decimal(
      cappedPrice('p.suggested_average', 'p'),
      'Suggested price: average of the latest trades',
    ),
  },
)

/** The SQL alias of the row with the sums is `s`. */
export const priceSumRecord = declareRecord(
  'PriceSum',
  'Sums of the template prices of several assets, in one token',
  {
    ...tokenFields,
    median: field.decimal('s.median', 'Sum of the median prices'),
    average: field.decimal('s.average', 'Sum of the average prices'),
    min: field.decimal('s.min', 'Sum of the lowest prices'),
    max: field.decimal('s.max', 'Sum of the highest prices'),
    suggested_median: field.decimal('s.suggested_median', 'Sum of the suggested medians'),
    suggested_average: field.decimal('s.suggested_average', 'Sum of the suggested averages'),
  },
)

/** A trade in the history of an asset. The SQL alias of the trade is `k`. */
export const assetSaleRecord = declareRecord('AssetSale', 'A trade of an asset', {
  market_contract: marketContract,
  ...listing,
  ...tokenFields,
  price: field.decimal('k.price', 'Price of the whole bundle, in units of the smallest decimal place'),
  seller: field.name('k.seller', 'Account that sold'),
  buyer: field.name('k.buyer', 'Account that bought'),
  block_time: field.time('k.trade_time', 'Time of the trade'),
})
