import { choice, flag, inPath, int, name, names, text } from '../../../../core/parameters/index.ts'
import { without } from '../../../../core/endpoint/index.ts'
import type { Values } from '../../../../core/endpoint/index.ts'
import { collectionSearch, collectionLists, templateNameSearch } from '../../nft/parameters/index.ts'
import { idBoundaries, paging } from '../../nft/paging/index.ts'

/**
 * Maximum number of rows in a page of a ranking, except for the ranking of templates. No setting changes this limit.
 */
const MAX_RANKED = 100
const MAX_TEMPLATES = 1000

/** Parameter `symbol`: one token. A request without `symbol` is refused. */
const symbol = { symbol: text('Token of the counted trades; required.', { minimum: 1 }) }

/** Parameters `before` and `after`: bounds of the trade time, both exclusive. */
export const tradeTimes = {
  before: int('Trades before this time, ms since 1970.', { minimum: 1 }),
  after: int('Trades after this time, ms since 1970.', { minimum: 1 }),
}

function ranking<const S extends string>(sorts: readonly [S, ...S[]], limit = MAX_RANKED) {
  return {
    sort: choice('Value by which the rows are ranked, largest first.', sorts, { default: sorts[0] }),
    ...paging(limit),
  }
}

const ofCollection = { collection_name: inPath(name('Name of the collection.')) }
const collectionName = { collection_name: names('Collection is one of the given values.') }
const collectionFilter = { ...symbol, ...tradeTimes, ...collectionSearch, ...collectionLists }

/** Parameters of each endpoint of market statistics. */
export const statsParameters = {
  collections: { ...collectionFilter, ...collectionName, ...ranking(['volume', 'sales']) },
  collection: {
    collection_name: inPath(
      names(
        'Name of the collection, or several names separated by commas: then only the collection that is first by `sort` is returned.',
      ),
    ),
    ...collectionFilter,
    ...ranking(['volume', 'sales']),
  },
  schemas: {
    ...ofCollection,
    ...symbol,
    ...tradeTimes,
    match: name('The schema name contains this text.'),
    ...ranking(['volume', 'listings']),
  },
  schemasV2: { ...ofCollection, ...symbol, ...tradeTimes, ...ranking(['volume', 'sales']) },
  accounts: {
    ...symbol,
    ...tradeTimes,
    collection_name: names('Collection is one of the given values or of collection_whitelist.'),
    ...collectionLists,
    ...ranking(['sell_volume', 'buy_volume']),
  },
  account: { account: inPath(text('Name of the account.')), ...symbol, ...collectionLists },
  templates: {
    ...symbol,
    ...tradeTimes,
    ...collectionName,
    schema_name: names('Schema is one of the given values.'),
    ...without(idBoundaries('template_id'), ['before', 'after']),
    ...collectionLists,
    ...templateNameSearch,
    hide_unlisted_templates: flag('true: only templates with a listed sale.'),
    ...ranking(['volume', 'sales'], MAX_TEMPLATES),
  },
  markets: { ...symbol, ...tradeTimes, ...collectionLists },
  graph: {
    ...symbol,
    ...tradeTimes,
    ...collectionLists,
    maker_marketplace: text('Marketplace of the listing.', { minimum: 1 }),
    taker_marketplace: text('Marketplace of the purchase.', { minimum: 1 }),
  },
  sales: { ...symbol, ...collectionLists },
}

/** Values of the parameters in {@link statsParameters}. */
export type StatsValues = {
  readonly [K in keyof typeof statsParameters]: Values<(typeof statsParameters)[K]>
}

/** Value of the parameter `symbol`, which all endpoints of market statistics have. */
export type SymbolValues = Values<typeof symbol>
/** Values of the parameters `before` and `after`. */
export type TimeValues = Values<typeof tradeTimes>
