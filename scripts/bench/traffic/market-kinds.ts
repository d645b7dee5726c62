import { addressOf, ofAsset, ofListing } from './kind.ts'
import type { Query, TrafficKind } from './kind.ts'

const V1 = '/market/v1'
const sales = (query: Query): string => addressOf(`${V1}/sales`, query)
const auctions = (query: Query): string => addressOf(`${V1}/auctions`, query)
const buyoffers = (query: Query): string => addressOf(`${V1}/buyoffers`, query)
const bids = (query: Query): string => addressOf(`${V1}/template_buyoffers`, query)
/** Query parameters of a shop front: cheapest listings first. */
const cheapest = { sort: 'price', order: 'asc', limit: 40 } as const
const highest = { sort: 'price', order: 'desc', limit: 40 } as const
const latest = { sort: 'updated', order: 'desc', limit: 100 } as const

/** Codes of sale states. */
const OPEN = 1
const SOLD = 3

const openSales: readonly TrafficKind[] = [
  ofListing('open sales of a collection by price, 100', 'sales', [OPEN], ({ collection }) =>
    sales({ state: OPEN, collection_name: collection, ...cheapest, limit: 100 }),
  ),
  ofListing('open sales of a schema by price', 'sales', [OPEN], ({ collection, asset }) =>
    sales({ state: OPEN, collection_name: collection, schema_name: asset.schema, ...cheapest }),
  ),
  ofListing('open sales of a template by price', 'sales', [OPEN], ({ collection, template }) =>
    sales({ state: OPEN, collection_name: collection, template_id: template, ...cheapest }),
  ),
  ofListing(
    'open sales of a collection with a rarity, within a price range',
    'sales',
    [OPEN],
    ({ collection, asset }) =>
      sales({
        state: OPEN,
        collection_name: collection,
        'template_data.rarity': asset.rarity,
        symbol: 'WAX',
        min_price: 1,
        max_price: 200,
        ...cheapest,
      }),
  ),
  ofListing(
    'open sales of a collection found by a word, by mint number',
    'sales',
    [OPEN],
    ({ collection, asset }) =>
      sales({
        state: OPEN,
        collection_name: collection,
        ...(asset.word === '' ? {} : { search: asset.word }),
        sort: 'template_mint',
        order: 'asc',
        limit: 40,
      }),
  ),
  ofListing('open sales of a schema by name', 'sales', [OPEN], ({ collection, asset }) =>
    sales({
      state: OPEN,
      collection_name: collection,
      schema_name: asset.schema,
      sort: 'name',
      order: 'asc',
      limit: 40,
    }),
  ),
  ofListing(
    'open sales of a collection with mint numbers up to 10, by price',
    'sales',
    [OPEN],
    ({ collection }) =>
      sales({ state: OPEN, collection_name: collection, max_template_mint: 10, ...cheapest }),
  ),
  ofListing('open sales of a collection, newest', 'sales', [OPEN], ({ collection }) =>
    sales({ state: OPEN, collection_name: collection, sort: 'created', order: 'desc', limit: 40 }),
  ),
  ofListing('open sales of rare assets of twenty collections, by price', 'sales', [OPEN], (_, rows) =>
    sales({
      state: OPEN,
      collection_whitelist: rows.someCollections(20).join(','),
      'template_data.rarity': 'Rare',
      ...cheapest,
    }),
  ),
  ofListing('open sales of templates that the buyer lacks', 'sales', [OPEN], ({ collection }, rows, index) =>
    sales({
      state: OPEN,
      collection_name: collection,
      hide_templates_by_accounts: rows.bigOwner(index),
      ...cheapest,
    }),
  ),
  ofListing('open sales of a seller in a collection', 'sales', [OPEN], ({ seller, collection }) =>
    sales({ state: OPEN, seller, collection_name: collection, limit: 100 }),
  ),
  ofListing('sales of an asset', 'sales', [OPEN, SOLD], ({ asset }) =>
    sales({ state: '1,3', asset_id: asset.asset, limit: 100 }),
  ),
  ofListing(
    'cheapest sale of each template of a schema, with a rarity',
    'sales',
    [OPEN],
    ({ collection, asset }) =>
      addressOf(`${V1}/sales/templates`, {
        symbol: 'WAX',
        collection_name: collection,
        schema_name: asset.schema,
        'template_data.rarity': asset.rarity,
        limit: 40,
      }),
  ),
  ofListing('count: open sales of a schema', 'sales', [OPEN], ({ collection, asset }) =>
    addressOf(`${V1}/sales/_count`, {
      state: OPEN,
      collection_name: collection,
      schema_name: asset.schema,
    }),
  ),
]

const pastSales: readonly TrafficKind[] = [
  ofListing('completed sales of a schema since a time', 'sales', [SOLD], ({ collection, asset, updated }) =>
    sales({
      state: SOLD,
      collection_name: collection,
      schema_name: asset.schema,
      after: updated,
      sort: 'updated',
      order: 'asc',
      limit: 100,
    }),
  ),
  ofListing('highest sales of a schema', 'sales', [SOLD], ({ collection, asset }) =>
    sales({ state: SOLD, collection_name: collection, schema_name: asset.schema, ...highest }),
  ),
  ofListing('purchases of an account in a collection', 'sales', [SOLD], ({ buyer, collection }) =>
    sales({ state: SOLD, buyer, collection_name: collection, ...latest }),
  ),
  ofListing('last completed sales of a seller', 'sales', [SOLD], ({ seller }) =>
    sales({ state: SOLD, seller, symbol: 'WAX', ...latest }),
  ),
  ofListing('one sale', 'sales', [OPEN, SOLD], ({ id }) => `${V1}/sales/${id}`),
]

const otherListings: readonly TrafficKind[] = [
  ofListing('auctions of a schema with bids, by price', 'auctions', [0, 1], ({ collection, asset }) =>
    auctions({
      collection_name: collection,
      schema_name: asset.schema,
      hide_empty_auctions: true,
      ...highest,
    }),
  ),
  ofListing('running auctions of a collection, first to end', 'auctions', [0, 1], ({ collection }) =>
    auctions({ state: 1, collection_name: collection, sort: 'ending', order: 'asc', limit: 40 }),
  ),
  ofListing('auctions that an account takes part in', 'auctions', [1], ({ seller }) =>
    auctions({ participant: seller, symbol: 'WAX', ...latest }),
  ),
  ofListing('pending buy offers to an account in a collection', 'buyoffers', [0], ({ seller, collection }) =>
    buyoffers({ state: 0, seller, collection_name: collection, ...latest }),
  ),
  ofListing('pending buy offers of a schema by price', 'buyoffers', [0], ({ collection, asset }) =>
    buyoffers({ state: 0, collection_name: collection, schema_name: asset.schema, ...highest }),
  ),
  ofListing('best bids for a template', 'template_buyoffers', [0], ({ template }) =>
    bids({ state: 0, template_id: template, ...highest }),
  ),
  ofListing(
    'bids for templates of a collection with a rarity, by price',
    'template_buyoffers',
    [0],
    ({ collection, asset }) =>
      bids({ state: 0, collection_name: collection, 'template_data.rarity': asset.rarity, ...highest }),
  ),
]

const values: readonly TrafficKind[] = [
  ofAsset('inventory by value', 'owned', ({ owner }) =>
    addressOf(`${V1}/assets`, { owner, sort: 'suggested_median_price', order: 'desc', limit: 100 }),
  ),
  ofListing('price history of a template', 'sales', [SOLD], ({ template }) =>
    addressOf(`${V1}/prices/sales/days`, { template_id: template, symbol: 'WAX' }),
  ),
  ofListing('prices of a template', 'sales', [SOLD], ({ template, collection }) =>
    addressOf(`${V1}/prices/templates`, {
      template_id: template,
      collection_name: collection,
      symbol: 'WAX',
    }),
  ),
  ofListing('trades of an account', 'sales', [SOLD], ({ seller }) =>
    addressOf(`${V1}/stats/accounts/${seller}`, { symbol: 'WAX' }),
  ),
  ofListing('collections by volume since', 'sales', [SOLD], ({ updated }) =>
    addressOf(`${V1}/stats/collections`, { symbol: 'WAX', after: updated, sort: 'volume', limit: 50 }),
  ),
  ofListing('templates of a schema by volume', 'sales', [SOLD], ({ collection, asset }) =>
    addressOf(`${V1}/stats/templates`, {
      symbol: 'WAX',
      collection_name: collection,
      schema_name: asset.schema,
      sort: 'volume',
      limit: 40,
    }),
  ),
  ofListing('accounts that trade in a collection, by volume bought', 'sales', [SOLD], ({ collection }) =>
    addressOf(`${V1}/stats/accounts`, {
      symbol: 'WAX',
      collection_name: collection,
      sort: 'buy_volume',
      limit: 50,
    }),
  ),
]

/** Traffic of the market namespace. */
export const marketKinds: readonly TrafficKind[] = [...openSales, ...pastSales, ...otherListings, ...values]
