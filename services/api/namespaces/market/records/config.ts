import type { Session } from '../../../database/index.ts'
import { shape } from '../../../endpoint/index.ts'
import { declareRecord, field } from '../../../records/fields/index.ts'

const TOKENS = `(SELECT json_agg(json_build_object('token_contract', y.token_contract,
    'token_symbol', y.token_symbol, 'token_precision', y.token_precision) ORDER BY y.place) FROM market.tokens y)`

const PAIRS = `(SELECT json_agg(json_build_object('listing_symbol', s.listing_symbol,
    'settlement_symbol', s.settlement_symbol, 'delphi_pair_name', s.pair_name, 'invert_delphi_pair', s.invert_pair,
    'data', json_build_object('contract', c.oracle_contract, 'delphi_pair_name', p.pair_name,
      'base_symbol', p.base_symbol, 'base_precision', p.base_precision, 'quote_symbol', p.quote_symbol,
      'quote_precision', p.quote_precision, 'median', p.median, 'median_precision', p.median_precision,
      'updated_at_time', nullif(p.updated_at_time, 0), 'updated_at_block', nullif(p.updated_at_block, 0))) ORDER BY s.place)
    FROM market.symbol_pairs s JOIN oracle.pairs p USING (pair_name))`

const token = shape.object({
  token_contract: shape.text('Account of the token contract'),
  token_symbol: shape.text('Symbol code'),
  token_precision: shape.integer('Decimal places'),
})

const pair = shape.object({
  listing_symbol: shape.text('Symbol of listing prices'),
  settlement_symbol: shape.text('Token of the payment'),
  delphi_pair_name: shape.text('Pair of the oracle'),
  invert_delphi_pair: shape.flag('The price is multiplied by the median instead of divided'),
  data: shape.object({
    contract: shape.text('Account of the oracle contract'),
    delphi_pair_name: shape.text('Name of the pair'),
    base_symbol: shape.text('Symbol code'),
    base_precision: shape.integer('Decimal places'),
    quote_symbol: shape.text('Symbol code'),
    quote_precision: shape.integer('Decimal places'),
    median: shape.nullable(shape.integer('Current median of the oracle')),
    median_precision: shape.integer('Decimal places of the median'),
    updated_at_time: shape.ofHistory(
      shape.integer('Time of the block in which the oracle last wrote a median, ms since 1970'),
    ),
    updated_at_block: shape.ofHistory(shape.integer('Block in which the oracle last wrote a median')),
  }),
})

export const config = declareRecord('Config', 'Settings of the contract', {
  atomicassets_contract: field.text('c.assets_contract', 'Account of the assets contract'),
  atomicmarket_contract: field.contract('market_contract', 'Account of the market contract'),
  delphioracle_contract: field.text('c.oracle_contract', 'Account of the oracle contract'),
  version: field.text('c.version', 'Version of the contract'),
  maker_market_fee: field.number(
    'c.maker_market_fee',
    'Share of each trade that goes to the marketplace of the listing',
  ),
  taker_market_fee: field.number(
    'c.taker_market_fee',
    'Share of each trade that goes to the marketplace of the purchase',
  ),
  minimum_auction_duration: field.integer('c.minimum_auction_duration', 'Seconds'),
  maximum_auction_duration: field.integer('c.maximum_auction_duration', 'Seconds'),
  minimum_bid_increase: field.number(
    'c.minimum_bid_increase',
    'Share by which a bid must exceed the previous bid',
  ),
  auction_reset_duration: field.integer(
    'c.auction_reset_duration',
    'Minimum time that an auction continues after a bid, seconds',
  ),
  supported_tokens: field.list(TOKENS, token, 'Tokens for payments'),
  supported_pairs: field.list(PAIRS, pair, 'Pairs of the currency of a price and the token of the payment'),
  'history_since_block?': field.historySince('market'),
})

/** The settings of the market contract as JSON text; undefined until the filler has stored them. */
export async function marketConfig(session: Session, contract: string): Promise<string | undefined> {
  const text = `SELECT ${config.packed} FROM market.config c`
  const rows = await session.query<[string]>({ name: 'market-config', text, values: [] })
  return config.read(rows[0]?.[0], { market_contract: `"${contract}"` })[0]
}

export const marketplace = declareRecord('Marketplace', 'A marketplace that earns fees', {
  marketplace_name: field.text('m.marketplace_name', 'Name; empty = the default marketplace'),
  creator: field.name('m.creator', 'Account that receives the fees'),
  created_at_block: field.ofHistory(field.decimal('m.created_at_block', 'Block of creation')),
  created_at_time: field.ofHistory(field.time('m.created_at_time', 'Time of creation')),
})

/**
 * The marketplaces as JSON texts, in the order of creation.
 * @param name selects a single marketplace; undefined for all marketplaces.
 */
export async function marketplaces(session: Session, name?: string): Promise<string[]> {
  const rows = await session.query<[string]>({
    name: 'marketplaces',
    text: `SELECT ${marketplace.packed} FROM market.marketplaces m WHERE $1::text IS NULL OR m.marketplace_name = $1::text
      ORDER BY m.created_at_block, m.marketplace_name`,
    values: [name ?? null],
  })
  return rows.flatMap(([row]) => marketplace.read(row))
}

/**
 * Account of the assets contract that the market trades; undefined until the filler has stored the settings of either
 * contract.
 */
export async function assetsContract(session: Session): Promise<string | undefined> {
  const rows = await session.query<[string | null]>({
    name: 'market-assets-contract',
    text: `SELECT coalesce((SELECT c.assets_contract FROM market.config c), (SELECT c.contract FROM assets.config c))`,
    values: [],
  })
  return rows[0]?.[0] ?? undefined
}
