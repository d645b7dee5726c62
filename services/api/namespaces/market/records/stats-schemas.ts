import type { Members, NamedSchema, RecordSchema } from '../../../endpoint/index.ts'
import { shape } from '../../../endpoint/index.ts'
import { collections, lightCollection, templates } from '../../nft/records/index.ts'
import { tokenMembers } from './token-fields.ts'
import { priceSumRecord } from './trade-records.ts'

export const inventoryRecord = shape.record('InventoryPrices', 'Value of the assets of an account', {
  collections: shape.list(
    shape.object({ collection: collections.schema, prices: shape.list(priceSumRecord.schema) }),
    'Collections with a priced asset',
  ),
})

const counted: Members = { volume: shape.decimal('Sum of the prices'), sales: shape.decimal('Trades') }

const collectionStat = shape.extend(collections.schema, 'CollectionStat', 'Trades of a collection', counted)
const accountStat = shape.record('AccountStat', 'Trades of an account', {
  account: shape.text('Account'),
  buy_volume: shape.decimal('Sum of the prices of all purchases'),
  sell_volume: shape.decimal('Sum of the prices of all sales'),
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
  listings: shape.decimal('Number of open sales with an asset of the schema, invalid sales included'),
})

const tradedSchema = shape.record(
  'TradedSchema',
  'A schema whose block number and time are JSON numbers instead of decimal strings',
  {
    ...ofSchema,
    format: shape.list(
      shape.object({ name: shape.text('Attribute'), type: shape.text('Type') }),
      'Attributes, in the order of the schema on chain',
    ),
    types: shape.list(
      shape.object({
        name: shape.text('Attribute'),
        mediatype: shape.text('Media type'),
        info: shape.text('Explanation'),
      }),
      'Descriptions of the attributes, as stored on chain',
    ),
    authorized_accounts: shape.list(
      shape.text('Account'),
      'Accounts that may mint assets and edit the collection',
    ),
    collection: lightCollection,
    created_at_time: shape.ofHistory(shape.integer('Time of creation, ms since 1970')),
    created_at_block: shape.ofHistory(shape.integer('Block of creation')),
  },
)

const schemaStatV2 = shape.record('SchemaStatV2', 'Trades of single assets of a schema', {
  schema_name: shape.text('Schema'),
  ...counted,
  schema: tradedSchema,
})

const marketStat = shape.record('MarketStat', 'Trades of a marketplace', {
  market_contract: shape.text('Account of the market contract'),
  marketplace_name: shape.text('Name; empty = the default marketplace'),
  sellers: shape.decimal('Number of accounts that sold via listings of the marketplace'),
  buyers: shape.decimal('Number of accounts that bought via the marketplace'),
  maker_volume: shape.decimal('Sum of the prices of trades whose listing was created via the marketplace'),
  taker_volume: shape.decimal('Sum of the prices of trades whose purchase was made via the marketplace'),
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

const symbol = shape.object(tokenMembers, 'Token of the counted trades')

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
