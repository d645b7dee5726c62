import type { Members, NamedSchema, RecordSchema } from '../../../endpoint/index.ts'
import { shape } from '../../../endpoint/index.ts'
import { collections, lightCollection, templates } from '../../nft/records/index.ts'
import { tokenMembers } from './token-fields.ts'

/** A marketplace. */
export const marketplaceRecord = shape.record('Marketplace', 'A marketplace that earns fees', {
  marketplace_name: shape.text('Name; empty = the default marketplace'),
  creator: shape.text('Account that the fees go to'),
  created_at_block: shape.ofHistory(shape.decimal('Block of creation')),
  created_at_time: shape.ofHistory(shape.time('Time of creation')),
})

const token = shape.object({
  token_contract: shape.text('Account of the token contract'),
  token_symbol: shape.text('Symbol code'),
  token_precision: shape.integer('Decimal places'),
})

/** The settings of the contract. */
export const marketConfigRecord = shape.record('Config', 'Settings of the contract', {
  atomicassets_contract: shape.text('Account of the assets contract'),
  atomicmarket_contract: shape.text('Account of the market contract'),
  delphioracle_contract: shape.text('Account of the oracle contract'),
  version: shape.text('Version of the contract'),
  maker_market_fee: shape.number('Share of each trade that goes to the marketplace of the listing'),
  taker_market_fee: shape.number('Share of each trade that goes to the marketplace of the purchase'),
  minimum_auction_duration: shape.integer('Seconds'),
  maximum_auction_duration: shape.integer('Seconds'),
  minimum_bid_increase: shape.number('Share by which a bid must exceed the one before'),
  auction_reset_duration: shape.integer('Seconds that an auction runs at least after a bid'),
  supported_tokens: shape.list(token, 'Tokens that can be paid with'),
  'history_since_block?': shape.historySince(),
  supported_pairs: shape.list(
    shape.object({
      listing_symbol: shape.text('Symbol of listing prices'),
      settlement_symbol: shape.text('Token that is paid with'),
      delphi_pair_name: shape.text('Pair of the oracle'),
      invert_delphi_pair: shape.flag('The price is multiplied by the median instead of divided'),
      data: shape.object({
        contract: shape.text('Account of the oracle contract'),
        delphi_pair_name: shape.text('Name of the pair'),
        base_symbol: shape.text('Symbol code'),
        base_precision: shape.integer('Decimal places'),
        quote_symbol: shape.text('Symbol code'),
        quote_precision: shape.integer('Decimal places'),
        median: shape.nullable(shape.integer('Present median')),
        median_precision: shape.integer('Decimal places of the median'),
        updated_at_time: shape.ofHistory(shape.integer('Time of the median, ms since 1970')),
        updated_at_block: shape.ofHistory(shape.integer('Block of the median')),
      }),
    }),
    'Currencies that prices can be given in',
  ),
})

/** A trade of one asset. */
export const tradeRecord = shape.record('Trade', 'A trade of one asset', {
  sale_id: shape.nullable(shape.decimal('Sale')),
  auction_id: shape.nullable(shape.decimal('Auction')),
  buyoffer_id: shape.nullable(shape.decimal('Buy offer; null with all others for a template buy offer')),
  price: shape.decimal('Amount in units of the smallest decimal place'),
  template_mint: shape.nullable(shape.integer('Mint number; null for an asset without template')),
  ...tokenMembers,
  block_time: shape.time('Time of the trade'),
})

/** The trades of a day. */
export const priceDayRecord = shape.record('PriceDay', 'Trades of single assets on one day, in one token', {
  median: shape.decimal('Lower middle price'),
  average: shape.decimal('Average price, rounded'),
  volume: shape.decimal('Sum'),
  sales: shape.decimal('Trades'),
  ...tokenMembers,
  time: shape.integer('Noon of the day (UTC), ms since 1970'),
})

const suggestions: Members = {
  median: shape.decimal('Lower middle price'),
  average: shape.decimal('Average price, rounded'),
  min: shape.decimal('Lowest price'),
  max: shape.decimal('Highest price'),
}

/** The price statistics of a template. */
export const templatePriceRecord = shape.record(
  'TemplatePrice',
  'Trades of single assets of a template, in one token. The suggested prices are those of the last three days and the ' +
    'five latest trades, each capped by the lowest price that has been asked for three days',
  {
    market_contract: shape.text('Account of the market contract'),
    assets_contract: shape.text('Account of the assets contract'),
    collection_name: shape.text('Collection'),
    template_id: shape.decimal('Template'),
    ...tokenMembers,
    ...suggestions,
    sales: shape.decimal('Trades'),
    suggested_median: shape.decimal('Lower middle of the suggested prices'),
    suggested_average: shape.decimal('Average of the suggested prices'),
  },
)

/** Summed price statistics. */
export const priceSumRecord = shape.record('PriceSum', 'Sums over assets of the prices of their templates', {
  ...tokenMembers,
  ...suggestions,
  suggested_median: shape.decimal('Sum of the suggested medians'),
  suggested_average: shape.decimal('Sum of the suggested averages'),
})

/** Value of the assets of an account. */
export const inventoryRecord = shape.record('InventoryPrices', 'Value of the assets of an account', {
  collections: shape.list(
    shape.object({ collection: collections.schema, prices: shape.list(priceSumRecord) }),
    'Collections with a priced asset',
  ),
})

/** A trade in the history of an asset. */
export const assetSaleRecord = shape.record('AssetSale', 'A trade of an asset', {
  market_contract: shape.text('Account of the market contract'),
  sale_id: shape.nullable(shape.decimal('Sale')),
  auction_id: shape.nullable(shape.decimal('Auction')),
  buyoffer_id: shape.nullable(shape.decimal('Buy offer; null with all others for a template buy offer')),
  ...tokenMembers,
  price: shape.decimal('Amount in units of the smallest decimal place; of the whole bundle'),
  seller: shape.text('Account that sold'),
  buyer: shape.text('Account that bought'),
  block_time: shape.time('Time of the trade'),
})

const counted: Members = { volume: shape.decimal('Sum of the prices'), sales: shape.decimal('Trades') }

const collectionStat = shape.extend(collections.schema, 'CollectionStat', 'Trades of a collection', counted)
const accountStat = shape.record('AccountStat', 'What an account traded', {
  account: shape.text('Account'),
  buy_volume: shape.decimal('Sum of what it bought'),
  sell_volume: shape.decimal('Sum of what it sold'),
})

const templateStat = shape.record('TemplateStat', 'Trades of single assets of a template', {
  ...counted,
  template: templates.schema,
})

const ofSchema: Members = {
  contract: shape.text('Account of the assets contract'),
  collection_name: shape.text('Collection'),
  schema_name: shape.text('Schema'),
}

const schemaStat = shape.record('SchemaStat', 'Sales with assets of a schema', {
  ...ofSchema,
  ...counted,
  listings: shape.decimal('Assets in open sales, invalid ones included'),
})

const tradedSchema = shape.record('TradedSchema', 'A schema, with numbers as JSON numbers', {
  ...ofSchema,
  format: shape.list(
    shape.object({ name: shape.text('Attribute'), type: shape.text('Type') }),
    'Fields in order',
  ),
  types: shape.list(
    shape.object({
      name: shape.text('Attribute'),
      mediatype: shape.text('Media type'),
      info: shape.text('Explanation'),
    }),
    'Descriptions of fields as stored on chain',
  ),
  authorized_accounts: shape.list(shape.text('Account'), 'Accounts that may mint and edit'),
  collection: lightCollection,
  created_at_time: shape.ofHistory(shape.integer('Time of creation, ms since 1970')),
  created_at_block: shape.ofHistory(shape.integer('Block of creation')),
})

const schemaStatV2 = shape.record('SchemaStatV2', 'Trades of single assets of a schema', {
  schema_name: shape.text('Schema'),
  ...counted,
  schema: tradedSchema,
})

const marketStat = shape.record('MarketStat', 'Trades of a marketplace', {
  market_contract: shape.text('Account of the market contract'),
  marketplace_name: shape.text('Name; empty = the default marketplace'),
  sellers: shape.decimal('Accounts that sold what was listed there'),
  buyers: shape.decimal('Accounts that bought there'),
  maker_volume: shape.decimal('Sum of what was listed there'),
  taker_volume: shape.decimal('Sum of what was bought there'),
})

const graphPoint = shape.record('GraphPoint', 'Trades of a day', {
  ...counted,
  max: shape.decimal('Highest price'),
  time: shape.time('Start of the day (UTC)'),
})

const salesStat = shape.record('SalesStat', 'All sales', {
  volume: shape.nullable(shape.decimal('Sum of the prices; null when nothing was sold')),
  sales: shape.decimal('Sales'),
})

const symbol = shape.object(tokenMembers, 'The token that is counted')

const results = (title: string, description: string, item: RecordSchema): NamedSchema =>
  shape.record(title, description, { symbol, results: shape.list(item) })
const result = (title: string, description: string, item: RecordSchema): NamedSchema =>
  shape.record(title, description, { symbol, result: item })

/** The answers of the statistics routes. */
export const statsRecords = {
  collections: results('CollectionStats', 'Trades by collection', collectionStat),
  collection: result('OneCollectionStats', 'Trades of one collection', collectionStat),
  accounts: results('AccountStats', 'Trades by account', accountStat),
  account: result('OneAccountStats', 'Trades of one account', accountStat),
  templates: results('TemplateStats', 'Trades by template', templateStat),
  schemas: results('SchemaStats', 'Sales by schema', schemaStat),
  schemasV2: results('SchemaStatsV2', 'Trades by schema', schemaStatV2),
  markets: results('MarketStats', 'Trades by marketplace', marketStat),
  graph: results('Graph', 'Trades by day', graphPoint),
  sales: result('SalesStats', 'All sales', salesStat),
} as const
