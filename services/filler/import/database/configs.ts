import { assetsTables, marketTables, toolsTables } from '../../../core/model/tables/index.ts'
import type { UndoneSource } from './old-undo.ts'
import { literal } from './copy-parts.ts'
import type { PartContext } from './copy-parts.ts'
import type { CommitUnit } from '../../store/index.ts'
import { unfit } from '../unfit.ts'

/** First asset id that the assets contract assigns. */
const FIRST_ASSET = 2n ** 40n

/**
 * SQL for the id that a contract assigns next, such as the next asset id: greatest id + 1, because the contract assigns
 * ids consecutively.
 */
const nextId = (table: string, contractColumn: string, account: string, id: string) =>
  `(SELECT max(${id}) + 1 FROM ${table} WHERE ${contractColumn} = ${literal(account)})`

/** Adds the contract settings, tokens and symbol pairs of the source database to a commit unit. */
export async function putConfigs(
  context: PartContext,
  undone: UndoneSource,
  unit: CommitUnit,
): Promise<void> {
  const { assets, market, tools } = context.accounts
  if (assets !== null) await putAssetsConfig(context, undone, unit, assets)
  if (market !== null) await putMarketConfig(context, undone, unit, market)
  if (tools !== null) await putToolsConfig(context, undone, unit, tools)
}

/**
 * First block in which the contract (assets or market) has version 2; null for version 1. If the source database does
 * not store this block, returns the last block of the import.
 */
function sinceBlock({ version, v2 }: { version: string; v2: bigint | null }, block: number): number | null {
  if (v2 !== null) return Number(v2)
  return Number.parseInt(version, 10) >= 2 ? block : null
}

async function putAssetsConfig(
  { source, block }: PartContext,
  undone: UndoneSource,
  unit: CommitUnit,
  account: string,
): Promise<void> {
  const marker = source.has('atomicassets_config', 'v2_marker_block') ? 'v2_marker_block' : 'NULL::bigint'
  const next = (table: string, id: string) => nextId(table, 'contract', account, id)
  const [row] = await undone.query<{
    version: string
    format: unknown
    v2: bigint | null
    asset: bigint | null
    template: bigint | null
    offer: bigint | null
  }>(
    `SELECT version, to_jsonb(collection_format) AS format, ${marker} AS v2, ${next('atomicassets_assets', 'asset_id')} AS asset,
       ${next('atomicassets_templates', 'template_id')} AS template, ${next('atomicassets_offers', 'offer_id')} AS offer
     FROM atomicassets_config WHERE contract = ${literal(account)}`,
  )
  if (!row) throw unfit(`the database does not index the assets contract ${account}`)
  unit.insert(assetsTables.config, {
    contract: account,
    standard: 'atomicassets',
    version: row.version,
    v2_since_block: sinceBlock(row, block),
    asset_counter: row.asset ?? FIRST_ASSET,
    template_counter: Number(row.template ?? 1n),
    offer_counter: row.offer ?? 1n,
    collection_format: JSON.stringify(row.format ?? []),
  })
}

async function putMarketConfig(
  { source, block }: PartContext,
  undone: UndoneSource,
  unit: CommitUnit,
  account: string,
): Promise<void> {
  const contract = literal(account)
  const marker = source.has('atomicmarket_config', 'v2_marker_block') ? 'v2_marker_block' : 'NULL::bigint'
  const next = (table: string, id: string) => nextId(table, 'market_contract', account, id)
  const hasTemplateBuyoffers = source.has('atomicmarket_template_buyoffers')
  const [row] = await undone.query<{
    assets_contract: string
    delphi_contract: string
    version: string
    maker_market_fee: number
    taker_market_fee: number
    minimum_auction_duration: number
    maximum_auction_duration: number
    minimum_bid_increase: number
    auction_reset_duration: number
    v2: bigint | null
    sale: bigint | null
    auction: bigint | null
    buyoffer: bigint | null
    tbuyoffer: bigint | null
    bonusfee: bigint | null
  }>(
    `SELECT c.*, ${marker} AS v2, ${next('atomicmarket_sales', 'sale_id')} AS sale,
       ${next('atomicmarket_auctions', 'auction_id')} AS auction, ${next('atomicmarket_buyoffers', 'buyoffer_id')} AS buyoffer,
       ${hasTemplateBuyoffers ? next('atomicmarket_template_buyoffers', 'buyoffer_id') : 'NULL::bigint'} AS tbuyoffer,
       ${next('atomicmarket_bonusfees', 'bonusfee_id')} AS bonusfee
     FROM atomicmarket_config c WHERE market_contract = ${contract}`,
  )
  if (!row) throw unfit(`the database does not index the market contract ${account}`)
  unit.insert(marketTables.config, {
    contract: account,
    version: row.version,
    v2_since_block: sinceBlock(row, block),
    assets_contract: row.assets_contract,
    oracle_contract: row.delphi_contract,
    sale_counter: row.sale ?? 1n,
    auction_counter: row.auction ?? 1n,
    minimum_bid_increase: row.minimum_bid_increase,
    minimum_auction_duration: row.minimum_auction_duration,
    maximum_auction_duration: row.maximum_auction_duration,
    auction_reset_duration: row.auction_reset_duration,
    maker_market_fee: row.maker_market_fee,
    taker_market_fee: row.taker_market_fee,
  })
  // Add no row for a counter whose value is null: the contract creates the counter when it assigns the first id.
  const counters = { buyoffer: row.buyoffer, tbuyoffer: row.tbuyoffer, bonusfee: row.bonusfee }
  for (const [counter_name, counter_value] of Object.entries(counters))
    if (counter_value !== null) unit.insert(marketTables.counters, { counter_name, counter_value })
  await putMarketTokens(undone, unit, contract)
}

async function putMarketTokens(undone: UndoneSource, unit: CommitUnit, contract: string): Promise<void> {
  // The source wrote the tokens in the order of the contract's list, so the order of `ctid` is the order of the list.
  const tokens = await undone.query<{
    token_symbol: string
    token_precision: number
    token_contract: string
  }>(
    `SELECT token_symbol, token_precision, token_contract FROM atomicmarket_tokens WHERE market_contract = ${contract} ORDER BY ctid`,
  )
  tokens.forEach((token, place) => unit.insert(marketTables.tokens, { ...token, place }))
  const pairs = await readSymbolPairs(undone, contract)
  const precision = new Map(tokens.map((token) => [token.token_symbol, token.token_precision]))
  pairs.forEach((pair, place) =>
    unit.insert(marketTables.symbolPairs, {
      listing_symbol: pair.listing_symbol,
      settlement_symbol: pair.settlement_symbol,
      place,
      listing_precision: pair.listing_precision ?? 0,
      settlement_precision: precision.get(pair.settlement_symbol) ?? 0,
      pair_name: pair.delphi_pair_name,
      invert_pair: pair.invert_delphi_pair,
    }),
  )
}

interface OldSymbolPair {
  listing_symbol: string
  settlement_symbol: string
  delphi_pair_name: string
  invert_delphi_pair: boolean
  listing_precision: number | null
}

/**
 * Reads the symbol pairs (listing symbol and settlement symbol). The source stores no precision for the listing symbol.
 * The query takes the precision from the oracle pair: the contract accepts a symbol pair only if the oracle pair
 * contains the listing symbol with the same precision.
 */
function readSymbolPairs(undone: UndoneSource, contract: string): Promise<OldSymbolPair[]> {
  return undone.query<OldSymbolPair>(
    `SELECT s.listing_symbol, s.settlement_symbol, s.delphi_pair_name, s.invert_delphi_pair,
       CASE WHEN s.invert_delphi_pair THEN p.base_precision ELSE p.quote_precision END AS listing_precision
     FROM atomicmarket_symbol_pairs s LEFT JOIN delphioracle_pairs p
       ON p.contract = s.delphi_contract AND p.delphi_pair_name = s.delphi_pair_name
     WHERE s.market_contract = ${contract} ORDER BY s.ctid`,
  )
}

/** Reads the precision of every symbol in which listings have prices. Returns a map from symbol code to precision. */
export async function readPrecisions(
  context: PartContext,
  undone: UndoneSource,
): Promise<Map<string, number>> {
  const precisions = new Map<string, number>()
  if (context.accounts.market === null) return precisions
  const contract = literal(context.accounts.market)
  for (const { listing_symbol, listing_precision } of await readSymbolPairs(undone, contract))
    if (listing_precision !== null) precisions.set(listing_symbol, listing_precision)
  const tokens = await undone.query<{ token_symbol: string; token_precision: number }>(
    `SELECT token_symbol, token_precision FROM atomicmarket_tokens WHERE market_contract = ${contract}`,
  )
  for (const { token_symbol, token_precision } of tokens) precisions.set(token_symbol, token_precision)
  return precisions
}

async function putToolsConfig(
  { source }: PartContext,
  undone: UndoneSource,
  unit: CommitUnit,
  account: string,
): Promise<void> {
  if (!source.has('atomictools_config')) return
  const [row] = await undone.query<{ version: string; assets_contract: string; link: bigint | null }>(
    `SELECT version, assets_contract, ${nextId('atomictools_links', 'tools_contract', account, 'link_id')} AS link
     FROM atomictools_config WHERE tools_contract = ${literal(account)}`,
  )
  if (!row) return
  unit.insert(toolsTables.config, {
    contract: account,
    version: row.version,
    assets_contract: row.assets_contract,
    link_counter: row.link ?? 1n,
  })
}
