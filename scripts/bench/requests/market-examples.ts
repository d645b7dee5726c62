import type { Endpoint } from '../../../services/api/index.ts'
import type { Source } from './sources.ts'
import { ranked, spread } from './sources.ts'

const SALES = 'market.sales l'
const AUCTIONS = 'market.auctions l'
const BUYOFFERS = 'market.buyoffers l'
const TEMPLATE_BUYOFFERS = 'market.template_buyoffers l'

/** Example sources for the parameters of one type of listing. */
function ofListings(tag: string, table: string, key: string, mint: string): Source[] {
  const keys = (...names: string[]): string[] => names.map((name) => `${tag} ${name}`)
  return [
    ranked(
      keys('seller', 'seller_blacklist', 'account', 'participant', 'contract_whitelist'),
      'l.seller',
      `${table} WHERE l.seller IS NOT NULL`,
    ),
    ranked(keys('buyer', 'buyer_blacklist'), 'l.buyer', `${table} WHERE l.buyer IS NOT NULL`),
    ranked(
      keys('maker_marketplace', 'marketplace'),
      'l.maker_marketplace',
      `${table} WHERE l.maker_marketplace <> ''`,
    ),
    ranked(keys('taker_marketplace'), 'l.taker_marketplace', `${table} WHERE l.taker_marketplace <> ''`),
    ranked(
      keys('collection_name', 'collection_whitelist', 'collection_blacklist'),
      'l.collection_name',
      table,
    ),
    ranked(keys('schema_name'), 'l.schema_name', `${table} WHERE l.schema_name IS NOT NULL`),
    ranked(
      keys('template_id', 'template_blacklist'),
      'l.template_id',
      `${table} WHERE l.template_id IS NOT NULL`,
      '77777777',
    ),
    spread(keys('min_template_mint', 'max_template_mint'), mint, `${table} WHERE ${mint} IS NOT NULL`),
    spread(keys('ids', key, 'lower_bound', 'upper_bound'), `l.${key}`, table),
    spread(keys('before', 'after'), 'l.updated_at_time', table),
  ]
}

/** Sources of example values for the market's parameters. */
export const marketSources: readonly Source[] = [
  ...ofListings('sales', SALES, 'sale_id', 'l.min_mint'),
  ...ofListings('auctions', AUCTIONS, 'auction_id', 'l.min_mint'),
  ...ofListings('buyoffers', BUYOFFERS, 'buyoffer_id', 'l.min_mint'),
  ...ofListings('template_buyoffers', TEMPLATE_BUYOFFERS, 'buyoffer_id', 'l.mint'),
  ranked(['auctions bidder'], 'b.account', 'market.bids b'),
  ranked(['symbol'], 'k.token_symbol', 'market.trades k', 'NOPE'),
  ranked(['stats account'], 'k.seller', 'market.trades k'),
  ranked(['prices account'], 'a.owner', 'assets.assets a WHERE a.owner IS NOT NULL'),
  ranked(
    ['stats maker_marketplace'],
    'k.maker_marketplace',
    `market.trades k WHERE k.maker_marketplace <> ''`,
  ),
  ranked(
    ['stats taker_marketplace'],
    'k.taker_marketplace',
    `market.trades k WHERE k.taker_marketplace <> ''`,
  ),
  ranked(['royalties recipient', 'royalties account'], 'l.recipient', 'market.royalty_payouts l'),
  spread(['royalties asset_id'], 'l.asset_id', 'market.royalty_payouts l WHERE l.asset_id IS NOT NULL'),
  spread(['royalties listing_id'], 'l.listing_id', 'market.royalty_payouts l'),
  spread(
    ['royalties ids', 'royalties log_global_sequence', 'royalties lower_bound', 'royalties upper_bound'],
    'l.seq',
    'market.royalty_payouts l',
  ),
  spread(['royalties before', 'royalties after'], 'l.paid_at_time', 'market.royalty_payouts l'),
  spread(['prices lower_bound', 'prices upper_bound'], 'a.asset_id', 'assets.assets a'),
  ranked(['name'], 'm.marketplace_name', `market.marketplaces m WHERE m.marketplace_name <> ''`),
  spread(['stats before', 'stats after', 'prices before', 'prices after'], 'k.trade_time', 'market.trades k'),
]

/** Filters of which `/v1/sales/templates` requires at least one. */
const narrowing = new Set([
  ...['asset_id', 'owner', 'burned', 'template_id', 'schema_name', 'is_transferable', 'is_burnable'],
  ...['minter', 'initial_receiver', 'burner', 'collection_name', 'collection_whitelist'],
])

/**
 * Parameters that a request with a sort or filter needs in addition: without such a parameter the API refuses the
 * request, or the filter has no effect.
 */
export function marketCompanions(endpoint: Endpoint, sort: string, filter: string): readonly string[] {
  const isCheapest = endpoint.path === '/v1/sales/templates'
  const isPriced = filter === 'min_price' || filter === 'max_price'
  const isMinted = sort === 'effective_mint' || filter.endsWith('_effective_mint')
  return [
    ...(endpoint.tag === 'stats' || isCheapest || isPriced ? ['symbol'] : []),
    ...(isMinted || (isCheapest && !narrowing.has(filter)) ? ['collection_name'] : []),
  ].filter((name) => name !== filter && name in endpoint.parameters)
}

/** Example values of the market's parameters that are not sampled from the database. */
export const marketFixed: Readonly<Record<string, readonly string[]>> = {
  'sales state': ['1', '2', '3', '4', '1,4'],
  'auctions state': ['0', '1', '2', '3', '4'],
  'buyoffers state': ['0', '1', '2', '3', '4'],
  'template_buyoffers state': ['0', '1', '2'],
  min_price: ['0.5', '100'],
  max_price: ['0.01', '1000'],
  min_assets: ['1', '2', '4'],
  min_effective_mint: ['1', '100'],
  max_effective_mint: ['1', '100'],
  max_assets: ['1', '3'],
}
