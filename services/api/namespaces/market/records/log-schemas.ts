import { shape } from '../../../endpoint/index.ts'
import type { LoggedActions } from '../../nft/logs/index.ts'

const listed = shape.object({
  maker_marketplace: shape.text('Marketplace that it was listed on'),
  collection_fee: shape.number('Share of the price that goes to the collection'),
})

const nothing = shape.object({})
const taken = shape.object({ taker_marketplace: shape.text('Marketplace that it was bought on') })

const payouts = shape.list(
  shape.object({ recipient: shape.text('Account'), amount: shape.text('Amount') }),
  'Who was paid',
)

const assetId = shape.text('Asset')
const collection = shape.text('Collection')

/** Royalties that were paid when the listing was settled. */
const royalties: LoggedActions = {
  logroyfound: shape.object({ collection_name: collection, asset_id: assetId, payouts }),
  logroytempl: shape.object({
    collection_name: collection,
    asset_id: assetId,
    template_id: shape.integer('Template of the rule'),
    payouts,
  }),
  logroyattr: shape.object({
    collection_name: collection,
    asset_id: assetId,
    rule_id: shape.text('Attribute rule'),
    payouts,
  }),
  logroydust: shape.object({
    collection_name: collection,
    collection_author: shape.text('Account that was paid'),
    amount: shape.text('Amount'),
  }),
}

/** Actions on sales. */
export const saleActions: LoggedActions = {
  lognewsale: listed,
  logsalestart: shape.object({ offer_id: shape.decimal('Trade offer that carries the assets') }),
  cancelsale: nothing,
  purchasesale: shape.object({
    taker_marketplace: shape.text('Marketplace that it was bought on'),
    intended_delphi_median: shape.decimal('Median that the buyer named'),
  }),
  ...royalties,
}

/** Actions on auctions. */
export const auctionActions: LoggedActions = {
  lognewauct: shape.object({
    starting_bid: shape.text('Amount'),
    maker_marketplace: shape.text('Marketplace that it was listed on'),
    collection_fee: shape.number('Share of the price that goes to the collection'),
  }),
  logauctstart: nothing,
  cancelauct: nothing,
  auctclaimbuy: nothing,
  auctclaimsel: nothing,
  ...royalties,
}

/** Actions on buy offers. */
export const buyofferActions: LoggedActions = {
  lognewbuyo: listed,
  cancelbuyo: nothing,
  declinebuyo: nothing,
  acceptbuyo: taken,
  ...royalties,
}

/** Actions on template buy offers. */
export const templateBuyofferActions: LoggedActions = {
  lognewtbuyo: listed,
  canceltbuyo: nothing,
  fulfilltbuyo: taken,
  ...royalties,
}
