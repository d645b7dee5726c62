import { formatAsset, formatSymbol, parseAsset, parseSymbol } from '../../core/antelope/index.ts'
import type { ActionContext, ActionHandler } from '../runtime/index.ts'
import { ORACLE_ACCOUNT } from './market-rows.ts'
import type { PairRow, SaleRow, SymbolPair } from './market-rows.ts'
import { payOut } from './market-payout.ts'
import {
  assetHeldBy,
  changeBalance,
  changePayer,
  eraseListing,
  findListing,
  isSecondMarket,
  listingOf,
  marketConfigOf,
  nextMarketId,
  putListing,
  sendAssets,
  termsOf,
} from './market-shared.ts'
import { readRow } from './assets-shared.ts'
import { nameValue } from '../runtime/index.ts'
import { ASSETS_ACCOUNT } from './rows.ts'
import type { OfferRow } from './rows.ts'

/** Handlers of the sale actions, and of offers to the market. */
export const saleActions: readonly [string, ActionHandler][] = [
  ['announcesale', announceSale],
  ['lognewsale', (context) => context.notify((context.data() as SaleRow).seller)],
  ['cancelsale', cancelSale],
  ['purchasesale', purchaseSale],
  ['paysaleram', paySaleRam],
  [`${ASSETS_ACCOUNT}::lognewoffer`, startSale],
]

function announceSale(context: ActionContext): void {
  const data = context.data() as {
    seller: string
    asset_ids: bigint[]
    listing_price: string
    settlement_symbol: string
    maker_marketplace: string
  }
  const id = nextMarketId(context, 'sale')
  const { collection_name: collection } = assetHeldBy(context, data.seller, data.asset_ids[0]!)
  const terms = termsOf(context, collection, data.maker_marketplace)
  const row = { ...data, ...terms, sale_id: id, offer_id: -1n }
  putListing(context, { table: 'sales', id, payer: data.seller }, row)
  context.log('lognewsale', { ...row })
}

/** Handler of an offer with the memo `sale`: starts the seller's announced sale of these assets. */
function startSale(context: ActionContext): void {
  const offer = context.data() as OfferRow
  if (offer.recipient !== context.self || offer.memo !== 'sale') return
  const sale = findListing(context, 'sales', offer.sender, offer.sender_asset_ids)
  if (sale === undefined) return
  putListing(
    context,
    { table: 'sales', id: sale.sale_id, payer: sale.seller },
    { ...sale, offer_id: offer.offer_id },
  )
  context.log('logsalestart', { sale_id: sale.sale_id, offer_id: offer.offer_id })
}

function cancelSale(context: ActionContext): void {
  const { sale_id: id } = context.data() as { sale_id: bigint }
  const sale = listingOf(context, 'sales', id)
  eraseListing(context, 'sales', id)
  declineOffer(context, sale.offer_id)
}

function purchaseSale(context: ActionContext): void {
  const data = context.data() as {
    buyer: string
    sale_id: bigint
    intended_delphi_median: bigint
    taker_marketplace: string
  }
  const { sale_id: id, buyer } = data
  const sale = listingOf(context, 'sales', id)
  eraseListing(context, 'sales', id)
  if (isSecondMarket(marketConfigOf(context).version) && sale.asset_ids.length > 1) {
    declineOffer(context, sale.offer_id)
    return
  }
  const price = settlementPrice(context, sale, data.intended_delphi_median)
  changeBalance(context, buyer, price, -1)
  payOut(context, {
    kind: 'sale',
    id,
    terms: sale,
    taker: data.taker_marketplace,
    seller: sale.seller,
    price,
    holder: sale.seller,
    assetIds: sale.asset_ids,
    memo: `AtomicMarket Sale Payout - ID #${id}`,
  })
  context.send(ASSETS_ACCOUNT, 'acceptoffer', { offer_id: sale.offer_id })
  sendAssets(context, buyer, sale.asset_ids, `AtomicMarket Purchased Sale - ID # ${id}`)
}

function paySaleRam(context: ActionContext): void {
  const { payer, sale_id: id } = context.data() as { payer: string; sale_id: bigint }
  changePayer(context, 'sales', id, payer)
}

function declineOffer(context: ActionContext, offerId: bigint): void {
  const account = nameValue(ASSETS_ACCOUNT)
  if (context.host.state.rows.row(account, account, nameValue('offers'), offerId) === undefined) return
  context.send(ASSETS_ACCOUNT, 'declineoffer', { offer_id: offerId })
}

function settlementPrice(context: ActionContext, sale: SaleRow, median: bigint): string {
  const listing = parseAsset(sale.listing_price)
  const symbol = formatSymbol(listing.precision, listing.symbol)
  if (symbol === sale.settlement_symbol) return sale.listing_price
  const symbolPair = marketConfigOf(context).supported_symbol_pairs.find(
    (each) => each.listing_symbol === symbol && each.settlement_symbol === sale.settlement_symbol,
  )
  const found = readRow(symbolPair, `symbol pair ${symbol} - ${sale.settlement_symbol}`)
  const pair = context.host.row(ORACLE_ACCOUNT, 'pairs', ORACLE_ACCOUNT, nameValue(found.delphi_pair_name))
  const amount = convert(listing, found, readRow(pair, `pair ${found.delphi_pair_name}`), median)
  return formatAsset({ amount, ...parseSymbol(sale.settlement_symbol) })
}

/** Converts a price from the listing symbol to the settlement symbol with doubles, truncated as in the contract. */
function convert(
  listing: { amount: bigint; precision: number },
  { settlement_symbol: settlementSymbol, invert_delphi_pair: isInverted }: SymbolPair,
  pair: PairRow,
  median: bigint,
): bigint {
  const { precision } = parseSymbol(settlementSymbol)
  const [amount, price, decimals] = [Number(listing.amount), Number(median), Number(pair.quoted_precision)]
  const result = isInverted
    ? amount * price * 10 ** (precision - decimals - listing.precision)
    : (amount / price) * 10 ** (decimals + precision - listing.precision)
  return BigInt(Math.trunc(result))
}
