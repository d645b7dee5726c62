import { formatAsset, formatSymbol, parseAsset } from '../../core/antelope/index.ts'
import type { ActionContext } from '../runtime/index.ts'
import { readRow } from './assets-shared.ts'
import { MARKET_ACCOUNT } from './market-rows.ts'
import type { ListingTerms, MarketConfigRow } from './market-rows.ts'
import { nameValue } from '../runtime/index.ts'
import { ASSETS_ACCOUNT } from './rows.ts'
import type { AssetRow, CollectionRow, TableRows } from './rows.ts'

/** Listing types, as the contract names their counters. */
export type ListingKind = 'sale' | 'auction' | 'buyoffer' | 'tbuyoffer'

export type ListingTable = 'sales' | 'auctions' | 'buyoffers' | 'tbuyoffers'

/** The configuration row of the market contract. */
export function marketConfigOf(context: ActionContext): MarketConfigRow {
  const row = context.host.row(MARKET_ACCOUNT, 'config', MARKET_ACCOUNT, nameValue('config'))
  return readRow(row, 'a market config row') as unknown as MarketConfigRow
}

/** Writes the configuration row of the market contract. */
export function putMarketConfig(context: ActionContext, config: MarketConfigRow): void {
  context.put(
    { table: 'config', scope: MARKET_ACCOUNT, key: nameValue('config'), payer: MARKET_ACCOUNT },
    { ...config },
  )
}

/** Whether the contract runs its second version, which supports only single assets. */
export function isSecondMarket(version: string): boolean {
  return Number.parseInt(version, 10) >= 2
}

/** The next id of a listing type, without using it. */
export function upcomingId(context: ActionContext, counter: string): bigint {
  return context.get('counters', MARKET_ACCOUNT, nameValue(counter))?.counter_value ?? 1n
}

/** Takes the next id of a listing type. */
export function nextMarketId(context: ActionContext, counter: string): bigint {
  const id = upcomingId(context, counter)
  const row = { counter_name: counter, counter_value: id + 1n }
  context.put(
    { table: 'counters', scope: MARKET_ACCOUNT, key: nameValue(counter), payer: MARKET_ACCOUNT },
    row,
  )
  return id
}

/** The row of an existing listing. */
export function listingOf<K extends ListingTable>(
  context: ActionContext,
  table: K,
  id: bigint,
): TableRows[K] {
  return readRow(context.get(table, MARKET_ACCOUNT, id), `row ${id} of ${table}`)
}

/** Writes a listing. The RAM payer of an existing row does not change. */
export function putListing(
  context: ActionContext,
  place: { readonly table: ListingTable; readonly id: bigint; readonly payer: string },
  row: TableRows[ListingTable],
): void {
  const { table, id, payer } = place
  const before = context.raw(table, MARKET_ACCOUNT, id)
  context.put({ table, scope: MARKET_ACCOUNT, key: id, payer: before?.payer ?? payer }, { ...row })
}

export function eraseListing(context: ActionContext, table: ListingTable, id: bigint): void {
  context.erase(table, MARKET_ACCOUNT, id)
}

/**
 * Changes the RAM payer of a listing. As in a node, this removes the old row and creates a new row in the same block.
 */
export function changePayer(context: ActionContext, table: ListingTable, id: bigint, payer: string): void {
  const { value } = context.raw(table, MARKET_ACCOUNT, id)!
  context.erase(table, MARKET_ACCOUNT, id)
  context.putRaw({ table, scope: MARKET_ACCOUNT, key: id, payer }, value)
}

/**
 * The newest listing of `seller` with exactly these assets. A row of `sales` or `auctions` begins with the fields id
 * and seller, so rows of other sellers are skipped without decoding.
 */
export function findListing<K extends 'sales' | 'auctions'>(
  context: Pick<ActionContext, 'host'>,
  table: K,
  seller: string,
  assetIds: readonly bigint[],
): TableRows[K] | undefined {
  const { host } = context
  const rows = host.state.rows.table(nameValue(MARKET_ACCOUNT), nameValue(MARKET_ACCOUNT), nameValue(table))
  const wanted = nameValue(seller)
  const [low, high] = [Number(wanted & 0xffff_ffffn), Number(wanted >> 32n)]
  let newest: TableRows[K] | undefined
  for (const { primaryKey, value } of rows?.rows.values() ?? []) {
    if (value.readUInt32LE(8) !== low || value.readUInt32LE(12) !== high) continue
    const row = host.row(MARKET_ACCOUNT, table, MARKET_ACCOUNT, primaryKey)
    if (row !== undefined && sameAssets(row.asset_ids, assetIds)) newest = row
  }
  return newest
}

/** Whether both lists contain the same ids, in any order. */
export function sameAssets(left: readonly bigint[], right: readonly bigint[]): boolean {
  return left.length === right.length && left.every((id) => right.includes(id))
}

/** An account's asset, read from the assets contract. */
export function assetHeldBy(context: Pick<ActionContext, 'host'>, owner: string, id: bigint): AssetRow {
  return readRow(context.host.row(ASSETS_ACCOUNT, 'assets', owner, id), `asset ${id} of ${owner}`)
}

/** A collection row, read from the assets contract. */
export function marketCollectionOf(context: ActionContext, name: string): CollectionRow {
  const row = context.host.row(ASSETS_ACCOUNT, 'collections', ASSETS_ACCOUNT, nameValue(name))
  return readRow(row, `collection ${name}`)
}

/** Marketplace, collection and collection fee, as stored in a new listing. */
export function termsOf(context: ActionContext, collection: string, maker: string): ListingTerms {
  const { market_fee: fee } = marketCollectionOf(context, collection)
  return { maker_marketplace: maker, collection_name: collection, collection_fee: fee }
}

/** Adds to an account's balance on the market, or subtracts from it if `sign` is -1. */
export function changeBalance(context: ActionContext, owner: string, quantity: string, sign: 1 | -1): void {
  const { amount, precision, symbol } = parseAsset(quantity)
  if (amount === 0n) return
  const key = nameValue(owner)
  const row = context.get('balances', MARKET_ACCOUNT, key)
  const quantities = (row?.quantities ?? []).map(parseAsset)
  const held = quantities.find((each) => each.symbol === symbol)
  const after = (held?.amount ?? 0n) + amount * BigInt(sign)
  const others = quantities.filter((each) => each !== held)
  const entry = { amount: after, precision, symbol }
  const next =
    after === 0n
      ? others
      : held === undefined
        ? [...others, entry]
        : quantities.map((each) => (each === held ? entry : each))
  if (next.length === 0) context.erase('balances', MARKET_ACCOUNT, key)
  else
    context.put(
      { table: 'balances', scope: MARKET_ACCOUNT, key, payer: MARKET_ACCOUNT },
      { owner, quantities: next.map(formatAsset) },
    )
}

/** Contract account of a supported token. */
function tokenContractOf(context: ActionContext, quantity: string): string {
  const { precision, symbol } = parseAsset(quantity)
  const wanted = formatSymbol(precision, symbol)
  const token = marketConfigOf(context).supported_tokens.find((each) => each.token_symbol === wanted)
  return readRow(token, `token ${wanted} of the market`).token_contract
}

/** Sends tokens from the market to an account. */
export function sendTokens(context: ActionContext, to: string, quantity: string, memo: string): void {
  const data = { from: MARKET_ACCOUNT, to, quantity, memo }
  context.send(tokenContractOf(context, quantity), 'transfer', data)
}

/** Sends assets from the market to an account. */
export function sendAssets(context: ActionContext, to: string, ids: readonly bigint[], memo: string): void {
  context.send(ASSETS_ACCOUNT, 'transfer', { from: MARKET_ACCOUNT, to, asset_ids: ids, memo })
}
