import type { Session } from '../../../database/index.ts'
import { historyMember, jsonMembers, jsonText, quoted } from '../../../json/index.ts'

const TOKENS = `coalesce((SELECT json_agg(json_build_object('token_contract', y.token_contract,
    'token_symbol', y.token_symbol, 'token_precision', y.token_precision) ORDER BY y.place) FROM market.tokens y), '[]')`

const PAIRS = `coalesce((SELECT json_agg(json_build_object('listing_symbol', s.listing_symbol,
    'settlement_symbol', s.settlement_symbol, 'delphi_pair_name', s.pair_name, 'invert_delphi_pair', s.invert_pair,
    'data', json_build_object('contract', c.oracle_contract, 'delphi_pair_name', p.pair_name,
      'base_symbol', p.base_symbol, 'base_precision', p.base_precision, 'quote_symbol', p.quote_symbol,
      'quote_precision', p.quote_precision, 'median', p.median, 'median_precision', p.median_precision,
      'updated_at_time', nullif(p.updated_at_time, 0), 'updated_at_block', nullif(p.updated_at_block, 0))) ORDER BY s.place)
    FROM market.symbol_pairs s JOIN oracle.pairs p USING (pair_name)), '[]')`

const CONFIG = `SELECT '{' || ${jsonMembers({
  atomicassets_contract: jsonText('c.assets_contract'),
  atomicmarket_contract: `to_json($1::text)::text`,
  delphioracle_contract: jsonText('c.oracle_contract'),
  version: jsonText('c.version'),
  maker_market_fee: 'c.maker_market_fee',
  taker_market_fee: 'c.taker_market_fee',
  minimum_auction_duration: 'c.minimum_auction_duration',
  maximum_auction_duration: 'c.maximum_auction_duration',
  minimum_bid_increase: 'c.minimum_bid_increase',
  auction_reset_duration: 'c.auction_reset_duration',
  supported_tokens: TOKENS,
  supported_pairs: PAIRS,
})} || ${historyMember('market')} || '}' FROM market.config c`

/** The settings of the contract as JSON text; undefined until they have been seen. */
export async function marketConfig(session: Session, contract: string): Promise<string | undefined> {
  const rows = await session.query<[string]>({ name: 'market-config', text: CONFIG, values: [contract] })
  return rows[0]?.[0]
}

const MARKETPLACE = `'{' || ${jsonMembers({
  marketplace_name: jsonText('m.marketplace_name'),
  creator: quoted('m.creator'),
  created_at_block: quoted('nullif(m.created_at_block, 0)'),
  created_at_time: quoted('nullif(m.created_at_time, 0)'),
})} || '}'`

/** The marketplaces as JSON texts, in order of creation; only the one of a name when it is given. */
export async function marketplaces(session: Session, name?: string): Promise<string[]> {
  const rows = await session.query<[string]>({
    name: 'marketplaces',
    text: `SELECT ${MARKETPLACE} FROM market.marketplaces m WHERE $1::text IS NULL OR m.marketplace_name = $1::text
      ORDER BY m.created_at_block, m.marketplace_name`,
    values: [name ?? null],
  })
  return rows.map(([text]) => text)
}

/** Account of the assets contract that the market trades; undefined until the settings of either have been seen. */
export async function assetsContract(session: Session): Promise<string | undefined> {
  const rows = await session.query<[string | null]>({
    name: 'market-assets-contract',
    text: `SELECT coalesce((SELECT c.assets_contract FROM market.config c), (SELECT c.contract FROM assets.config c))`,
    values: [],
  })
  return rows[0]?.[0] ?? undefined
}
