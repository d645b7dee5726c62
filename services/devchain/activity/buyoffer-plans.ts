import { anyAsset } from './asset-plans.ts'
import { anyCollection } from './collection-plans.ts'
import {
  anyMarketplace,
  anyPerson,
  anyPrice,
  anyRow,
  fund,
  holdsAll,
  marketAction,
  marketConfig,
  marketKnows,
  offerToMarket,
  payRam,
} from './market-world.ts'
import { anyGoods, isInFlux } from './sale-plans.ts'
import { assetOf, templateOf } from './world.ts'
import type { Plan } from './world.ts'
import { sentence } from './wording.ts'

/** Number of random assets that are examined to find one of the wanted template. */
const MAX_TRIES = 60

/** Plan of a transaction: create a buy offer for assets of another account. */
export const createBuyoffer: Plan = (world) => {
  const { random } = world
  const config = marketConfig(world)
  const goods = config && anyGoods(world, config)
  const buyer = goods && anyPerson(world, [goods.owner])
  if (config === null || goods === null || buyer === null) return null
  const price = anyPrice(random, random.pick(config.supported_tokens).token_symbol, 0.5)
  const funds = fund(world, buyer, price)
  if (funds === null) return null
  const data = {
    buyer,
    recipient: goods.owner,
    price,
    asset_ids: goods.ids,
    memo: random.chance(0.5) ? '' : sentence(random),
    maker_marketplace: anyMarketplace(world),
  }
  return [...funds, marketAction(world, buyer, 'createbuyo', data)]
}

/** Plan of a transaction: offer the assets to the market, and accept the buy offer. */
export const acceptBuyoffer: Plan = (world) => {
  const buyoffer = anyRow(world, 'buyoffers')
  if (buyoffer === null || isInFlux(world, buyoffer.asset_ids)) return null
  const { recipient, asset_ids: ids, price, buyoffer_id: id } = buyoffer
  if (!holdsAll(world, recipient, ids)) return null
  const data = {
    buyoffer_id: id,
    expected_asset_ids: ids,
    expected_price: price,
    taker_marketplace: anyMarketplace(world),
  }
  return [
    offerToMarket(world, recipient, ids, 'buyoffer'),
    marketAction(world, recipient, 'acceptbuyo', data),
  ]
}

/** Plan of a transaction: decline a buy offer. */
export const declineBuyoffer: Plan = (world) => {
  const buyoffer = anyRow(world, 'buyoffers')
  if (buyoffer === null) return null
  const memo = world.random.chance(0.5) ? '' : sentence(world.random)
  const data = { buyoffer_id: buyoffer.buyoffer_id, decline_memo: memo }
  return [marketAction(world, buyoffer.recipient, 'declinebuyo', data)]
}

/** Plan of a transaction: cancel a buy offer. */
export const cancelBuyoffer: Plan = (world) => {
  const buyoffer = anyRow(world, 'buyoffers')
  if (buyoffer === null) return null
  return [marketAction(world, buyoffer.buyer, 'cancelbuyo', { buyoffer_id: buyoffer.buyoffer_id })]
}

/** Plan of a transaction: another account takes over the RAM payment of a buy offer. */
export const payBuyofferRam: Plan = payRam('buyoffers', 'paybuyoram', 'buyoffer_id')

/** Plan of a transaction: create a buy offer for any asset of a template. */
export const createTemplateBuyoffer: Plan = (world) => {
  if (!marketKnows(world, 'createtbuyo')) return null
  const { random } = world
  const config = marketConfig(world)
  const collection = anyCollection(world)
  const buyer = anyPerson(world, [])
  if (config === null || collection === null || buyer === null || collection.templates.length === 0)
    return null
  const id = random.pick(collection.templates)
  if ((templateOf(world, collection.name, id)?.issued_supply ?? 0) === 0) return null
  const price = anyPrice(random, random.pick(config.supported_tokens).token_symbol, 0.5)
  const funds = fund(world, buyer, price)
  if (funds === null) return null
  const data = {
    buyer,
    price,
    collection_name: collection.name,
    template_id: id,
    maker_marketplace: anyMarketplace(world),
  }
  return [...funds, marketAction(world, buyer, 'createtbuyo', data)]
}

/** Plan of a transaction: fulfill a template buy offer with an asset of the template. */
export const fulfillTemplateBuyoffer: Plan = (world) => {
  const buyoffer = anyRow(world, 'tbuyoffers')
  if (buyoffer === null) return null
  const { buyoffer_id: id, buyer, template_id: template, price } = buyoffer
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const found = anyAsset(world)
    const row = found && assetOf(world, found.owner, found.id)
    if (found === null || row === null || found.owner === buyer) continue
    if (BigInt(row.asset.template_id) !== template) continue
    const data = {
      seller: found.owner,
      buyoffer_id: id,
      asset_id: found.id,
      expected_price: price,
      taker_marketplace: anyMarketplace(world),
    }
    return [
      offerToMarket(world, found.owner, [found.id], 'tbuyoffer'),
      marketAction(world, found.owner, 'fulfilltbuyo', data),
    ]
  }
  return null
}

/** Plan of a transaction: cancel a template buy offer. */
export const cancelTemplateBuyoffer: Plan = (world) => {
  const buyoffer = anyRow(world, 'tbuyoffers')
  if (buyoffer === null) return null
  return [marketAction(world, buyoffer.buyer, 'canceltbuyo', { buyoffer_id: buyoffer.buyoffer_id })]
}
