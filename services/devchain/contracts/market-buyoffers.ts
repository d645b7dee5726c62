import { payOut } from './market-payout.ts'
import type { Settlement } from './market-payout.ts'
import {
  assetHeldBy,
  changeBalance,
  changePayer,
  eraseListing,
  isSecondMarket,
  listingOf,
  marketConfigOf,
  nextMarketId,
  putListing,
  sendAssets,
  termsOf,
} from './market-shared.ts'
import { configOfAssets } from './assets-shared.ts'
import type { ActionContext, ActionHandler } from '../runtime/index.ts'
import { ASSETS_ACCOUNT } from './rows.ts'

/** Handlers of the actions on buy offers and template buy offers. */
export const buyofferActions: readonly [string, ActionHandler][] = [
  ['createbuyo', createBuyoffer],
  ['cancelbuyo', (context) => endBuyoffer(context, 'buyoffers')],
  ['declinebuyo', (context) => endBuyoffer(context, 'buyoffers')],
  ['acceptbuyo', acceptBuyoffer],
  ['paybuyoram', payBuyofferRam],
  ['createtbuyo', createTemplateBuyoffer],
  ['canceltbuyo', (context) => endBuyoffer(context, 'tbuyoffers')],
  ['fulfilltbuyo', fulfillTemplateBuyoffer],
]

function createBuyoffer(context: ActionContext): void {
  const data = context.data() as {
    buyer: string
    recipient: string
    price: string
    asset_ids: bigint[]
    memo: string
    maker_marketplace: string
  }
  const id = nextMarketId(context, 'buyoffer')
  changeBalance(context, data.buyer, data.price, -1)
  const { collection_name: collection } = assetHeldBy(context, data.recipient, data.asset_ids[0]!)
  const row = { ...data, ...termsOf(context, collection, data.maker_marketplace), buyoffer_id: id }
  putListing(context, { table: 'buyoffers', id, payer: data.buyer }, row)
  context.log('lognewbuyo', { ...row })
}

function createTemplateBuyoffer(context: ActionContext): void {
  const data = context.data() as {
    buyer: string
    price: string
    collection_name: string
    template_id: bigint
    maker_marketplace: string
  }
  const id = nextMarketId(context, 'tbuyoffer')
  changeBalance(context, data.buyer, data.price, -1)
  const terms = termsOf(context, data.collection_name, data.maker_marketplace)
  const row = { ...data, ...terms, buyoffer_id: id }
  putListing(context, { table: 'tbuyoffers', id, payer: data.buyer }, row)
  context.log('lognewtbuyo', { ...row })
}

function endBuyoffer(context: ActionContext, table: 'buyoffers' | 'tbuyoffers'): void {
  const { buyoffer_id: id } = context.data() as { buyoffer_id: bigint }
  const { buyer, price } = listingOf(context, table, id)
  changeBalance(context, buyer, price, 1)
  eraseListing(context, table, id)
}

function acceptBuyoffer(context: ActionContext): void {
  const data = context.data() as { buyoffer_id: bigint; taker_marketplace: string }
  const id = data.buyoffer_id
  const buyoffer = listingOf(context, 'buyoffers', id)
  if (isSecondMarket(marketConfigOf(context).version) && buyoffer.asset_ids.length > 1) {
    endBuyoffer(context, 'buyoffers')
    return
  }
  eraseListing(context, 'buyoffers', id)
  settle(context, buyoffer.buyer, `AtomicMarket Accepted Buyoffer - ID # ${id}`, {
    kind: 'buyoffer',
    id,
    terms: buyoffer,
    taker: data.taker_marketplace,
    seller: buyoffer.recipient,
    price: buyoffer.price,
    holder: buyoffer.recipient,
    assetIds: buyoffer.asset_ids,
    memo: `AtomicMarket Buyoffer Payout - ID #${id}`,
  })
}

function fulfillTemplateBuyoffer(context: ActionContext): void {
  const data = context.data() as {
    seller: string
    buyoffer_id: bigint
    asset_id: bigint
    taker_marketplace: string
  }
  const id = data.buyoffer_id
  const buyoffer = listingOf(context, 'tbuyoffers', id)
  eraseListing(context, 'tbuyoffers', id)
  settle(context, buyoffer.buyer, `AtomicMarket Accepted Template Buyoffer - ID # ${id}`, {
    kind: 'tbuyoffer',
    id,
    terms: buyoffer,
    taker: data.taker_marketplace,
    seller: data.seller,
    price: buyoffer.price,
    holder: data.seller,
    assetIds: [data.asset_id],
    memo: `AtomicMarket Template Buyoffer Payout - ID #${id}`,
  })
}

/**
 * Settles a buy offer: accepts the newest offer of the assets contract, which the seller created in the previous
 * action, sends the assets to the buyer, and pays out the price.
 */
function settle(context: ActionContext, buyer: string, memo: string, settlement: Settlement): void {
  const offerId = configOfAssets(context).offer_counter - 1n
  context.send(ASSETS_ACCOUNT, 'acceptoffer', { offer_id: offerId })
  sendAssets(context, buyer, settlement.assetIds, memo)
  payOut(context, settlement)
}

function payBuyofferRam(context: ActionContext): void {
  const { payer, buyoffer_id: id } = context.data() as { payer: string; buyoffer_id: bigint }
  changePayer(context, 'buyoffers', id, payer)
}
