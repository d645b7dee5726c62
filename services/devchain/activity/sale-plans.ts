import { formatAsset, formatSymbol, parseAsset, parseSymbol } from '../../core/antelope/index.ts'
import { findListing, isSecondMarket } from '../contracts/market-shared.ts'
import { nameValue } from '../runtime/index.ts'
import { ORACLE_ACCOUNT } from '../contracts/market-rows.ts'
import type { MarketConfigRow, SaleRow } from '../contracts/market-rows.ts'
import { anyAsset } from './asset-plans.ts'
import {
  anyMarketplace,
  anyPerson,
  anyPrice,
  anyRow,
  fund,
  holdsAll,
  marketAction,
  marketConfig,
  newestMedian,
  offerExists,
  offerToMarket,
  payRam,
} from './market-world.ts'
import { assetsAction, assetOf, isTransferable } from './world.ts'
import type { Plan, World } from './world.ts'

/** Maximum number of assets in a bundle, and of an owner's assets that are examined to find assets for the bundle. */
const MAX_BUNDLE = 4
const MAX_LOOKED_AT = 30

/** Assets of one owner and one collection, to be listed. */
export interface Goods {
  readonly owner: string
  readonly ids: readonly bigint[]
}

/** Plan of a transaction: announce a sale, usually with its offer in the same transaction. */
export const announceSale: Plan = (world) => {
  const { random } = world
  const config = marketConfig(world)
  const goods = config && anyGoods(world, config)
  if (config === null || goods === null) return null
  if (findListing({ host: world.runtime }, 'sales', goods.owner, goods.ids) !== undefined) return null
  const terms = anyTerms(world, config)
  if (terms === null) return null
  const data = {
    seller: goods.owner,
    asset_ids: goods.ids,
    ...terms,
    maker_marketplace: anyMarketplace(world),
  }
  const announcement = marketAction(world, goods.owner, 'announcesale', data)
  return random.chance(0.9)
    ? [announcement, offerToMarket(world, goods.owner, goods.ids, 'sale')]
    : [announcement]
}

/** Plan of a transaction: create the offer of a sale that was announced without one. */
export const startSale: Plan = (world) => {
  const sale = anyRow(world, 'sales')
  if (sale === null || sale.offer_id !== -1n || !isHeld(world, sale)) return null
  return [offerToMarket(world, sale.seller, sale.asset_ids, 'sale')]
}

/**
 * Plan of a transaction: purchase a sale. Version 2 of the market contract cancels a sale of several assets when
 * somebody purchases the sale.
 */
export const purchaseSale: Plan = (world) => {
  const config = marketConfig(world)
  const sale = anyRow(world, 'sales')
  if (config === null || sale === null || sale.offer_id === -1n) return null
  if (!offerExists(world, sale.offer_id) || !isHeld(world, sale) || isInFlux(world, sale.asset_ids))
    return null
  const buyer = anyPerson(world, [sale.seller])
  const price = buyer === null ? null : settlementOf(world, config, sale)
  if (buyer === null || price === null) return null
  const isFree = isSecondMarket(config.version) && sale.asset_ids.length > 1
  const funds = isFree ? [] : fund(world, buyer, price.quantity)
  if (funds === null) return null
  const data = {
    buyer,
    sale_id: sale.sale_id,
    intended_delphi_median: price.median,
    taker_marketplace: anyMarketplace(world),
  }
  return [...funds, marketAction(world, buyer, 'purchasesale', data)]
}

/** Plan of a transaction: cancel a sale: by the seller, or by any account if the assets have moved. */
export const cancelSale: Plan = (world) => {
  const sale = anyRow(world, 'sales')
  if (sale === null) return null
  const isValid = isHeld(world, sale) && (sale.offer_id === -1n || offerExists(world, sale.offer_id))
  const stranger = isValid ? null : anyPerson(world, [])
  return [marketAction(world, stranger ?? sale.seller, 'cancelsale', { sale_id: sale.sale_id })]
}

/** Plan of a transaction: cancel the offer of a sale, but not the sale, which can then not be bought. */
export const withdrawSaleOffer: Plan = (world) => {
  const sale = anyRow(world, 'sales')
  if (sale === null || sale.offer_id === -1n || !offerExists(world, sale.offer_id)) return null
  return [assetsAction(world, sale.seller, 'canceloffer', { offer_id: sale.offer_id })]
}

/** Plan of a transaction: another account takes over the RAM payment of a sale. */
export const paySaleRam: Plan = payRam('sales', 'paysaleram', 'sale_id')

/** A random asset, or a bundle if the market version accepts bundles; null if none was found. */
export function anyGoods(world: World, config: MarketConfigRow): Goods | null {
  const first = anyAsset(world)
  if (first === null) return null
  const single = { owner: first.owner, ids: [first.id] }
  if (isSecondMarket(config.version) || !world.random.chance(0.12)) return single
  const collection = assetOf(world, first.owner, first.id)!.asset.collection_name
  const others: bigint[] = []
  let lookedAt = 0
  for (const id of world.directory.assetsOf(first.owner)) {
    if (others.length >= MAX_BUNDLE - 1 || lookedAt++ > MAX_LOOKED_AT) break
    const isOfCollection = assetOf(world, first.owner, id)?.asset.collection_name === collection
    if (id !== first.id && isOfCollection && isTransferable(world, first.owner, id)) others.push(id)
  }
  return { owner: first.owner, ids: [first.id, ...others] }
}

/**
 * Whether the assets are a bundle and the block upgrades the market: the market version that will execute the
 * transaction is then unknown.
 */
export function isInFlux(world: World, ids: readonly bigint[]): boolean {
  return ids.length > 1 && world.directory.isUpgrading(world.runtime.nowMs)
}

function isHeld(world: World, sale: SaleRow): boolean {
  return holdsAll(world, sale.seller, sale.asset_ids)
}

/** A random price in a supported token, or in a symbol that an oracle pair converts. */
function anyTerms(
  world: World,
  config: MarketConfigRow,
): { listing_price: string; settlement_symbol: string } | null {
  const { random } = world
  if (config.supported_tokens.length === 0) return null
  if (config.supported_symbol_pairs.length > 0 && random.chance(0.3)) {
    const { listing_symbol: listing, settlement_symbol: settlement } = random.pick(
      config.supported_symbol_pairs,
    )
    return { listing_price: anyPrice(random, listing, 0.2), settlement_symbol: settlement }
  }
  const isMain = config.supported_tokens.length === 1 || random.chance(0.8)
  const symbol = isMain ? config.supported_tokens[0]! : random.pick(config.supported_tokens.slice(1))
  const listing = anyPrice(random, symbol.token_symbol)
  return { listing_price: listing, settlement_symbol: symbol.token_symbol }
}

/** Lowest price that the buyer must pay, and the oracle median used for it (0 if none is needed). */
function settlementOf(
  world: World,
  config: MarketConfigRow,
  sale: SaleRow,
): { quantity: string; median: bigint } | null {
  const listing = parseAsset(sale.listing_price)
  const symbol = formatSymbol(listing.precision, listing.symbol)
  if (symbol === sale.settlement_symbol) return { quantity: sale.listing_price, median: 0n }
  const found = config.supported_symbol_pairs.find(
    (each) => each.listing_symbol === symbol && each.settlement_symbol === sale.settlement_symbol,
  )
  const median = found === undefined ? null : newestMedian(world, found.delphi_pair_name)
  if (found === undefined || median === null) return null
  const pair = world.runtime.row(ORACLE_ACCOUNT, 'pairs', ORACLE_ACCOUNT, nameValue(found.delphi_pair_name))
  const price = Number(median) / 10 ** Number(pair!.quoted_precision)
  const units = Number(listing.amount) / 10 ** listing.precision
  const settlement = parseSymbol(sale.settlement_symbol)
  const amount = (found.invert_delphi_pair ? units * price : units / price) * 10 ** settlement.precision
  // Pay one smallest unit of the token more: the contract rounds at other steps of the calculation than this function.
  return { quantity: formatAsset({ ...settlement, amount: BigInt(Math.ceil(amount)) + 1n }), median }
}
