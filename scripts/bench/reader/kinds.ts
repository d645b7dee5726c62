/** Kinds of event: transactions that concern picked entities of a database. */
import { encodeAttributeMap } from '../../../services/core/antelope/attributes/index.ts'
import type { ActionInput } from '../../../services/devchain/index.ts'
import type { ContinuedChain } from '../../lab/index.ts'
import { fullSizes } from '../generated/index.ts'
import type { Random } from '../generated/choice.ts'
import { ASSETS, MARKET, wax } from './entities.ts'
import type { Entities, PickedAsset } from './entities.ts'

/** Chain and entities of the events. */
export interface EventSource {
  readonly chain: ContinuedChain
  readonly entities: Entities
  readonly random: Random
}

/** Makes the transaction of an event; undefined if no entity is left that the event can concern. */
type Kind = (source: EventSource) => ActionInput[] | undefined

/** Length of an announced auction, seconds: no auction ends while the chain runs. */
const AUCTION_SECONDS = 7 * 86_400
const currentBids = new WeakMap<object, bigint>()

const isMovable: Parameters<Entities['take']>[0] = (_, template) => template?.transferable !== false

/** Takes an asset that can be transferred, and adds its row to the chain. */
function movable({ chain, entities }: EventSource): PickedAsset | undefined {
  const asset = entities.take(isMovable)
  if (asset) entities.put(chain, asset)
  return asset
}

/** The kinds of event, by name. */
export const kinds = {
  mint: ({ chain, entities }) => {
    // The asset only shows what a new asset is like: an asset of the same template with the same attributes.
    const like = entities.take((_, template) => template?.max_supply === 0n)
    if (!like) return undefined
    const { collection_name, schema_name, template_id } = like
    const [author, format] = [entities.authorOf(collection_name), entities.formatOf(like)]
    const data = {
      authorized_minter: author,
      ...{ collection_name, schema_name, template_id },
      new_asset_owner: entities.someone(like.owner),
      immutable_data: encodeAttributeMap(format, like.immutable_data ?? {}),
      mutable_data: encodeAttributeMap(format, like.mutable_data ?? {}),
      tokens_to_back: [],
    }
    return [chain.action(ASSETS, 'mintasset', author, data)]
  },
  transfer: (source) => {
    const asset = movable(source)
    if (!asset) return undefined
    const { owner: from, asset_id: id } = asset
    const data = { from, to: source.entities.someone(from), asset_ids: [id], memo: '' }
    return [source.chain.action(ASSETS, 'transfer', from, data)]
  },
  edit: ({ chain, entities }) => {
    const asset = entities.take(({ mutable_data: data }) => data !== null)
    if (!asset) return undefined
    entities.put(chain, asset)
    const { owner: asset_owner, asset_id, collection_name, mutable_data } = asset
    const changed = { ...mutable_data, level: (Number(mutable_data?.level ?? 0) + 1) & 0xffff }
    const authorized_editor = entities.authorOf(collection_name)
    const new_mutable_data = encodeAttributeMap(entities.formatOf(asset), changed)
    const data = { authorized_editor, asset_owner, asset_id, new_mutable_data }
    return [chain.action(ASSETS, 'setassetdata', authorized_editor, data)]
  },
  burn: ({ chain, entities }) => {
    const asset = entities.take((_, template) => template?.burnable !== false)
    if (!asset) return undefined
    entities.put(chain, asset)
    const { owner: asset_owner, asset_id } = asset
    return [chain.action(ASSETS, 'burnasset', asset_owner, { asset_owner, asset_id })]
  },
  offer: (source) => {
    const [given, wanted] = [movable(source), movable(source)]
    if (!given || !wanted || given.owner === wanted.owner) return undefined
    return [offer(source, given, { recipient: wanted.owner, wanted: [wanted.asset_id], memo: '' })]
  },
  'sale announced': (source) => {
    const asset = movable(source)
    if (!asset) return undefined
    const { owner: seller, asset_id: id } = asset
    const data = { seller, asset_ids: [id], listing_price: price(source), settlement_symbol: '8,WAX' }
    return [
      source.chain.action(MARKET, 'announcesale', seller, { ...data, maker_marketplace: '' }),
      offer(source, asset, { recipient: MARKET, wanted: [], memo: 'sale' }),
    ]
  },
  'sale purchased': (source) => {
    const sale = listedSale(source)
    if (!sale) return undefined
    const { chain, entities } = source
    const buyer = entities.someone(sale.owner)
    entities.fund(chain, buyer)
    const data = { buyer, sale_id: sale.sale_id, intended_delphi_median: 0n, taker_marketplace: '' }
    return [chain.action(MARKET, 'purchasesale', buyer, data)]
  },
  'sale cancelled': (source) => {
    const sale = listedSale(source)
    return sale && [source.chain.action(MARKET, 'cancelsale', sale.owner, { sale_id: sale.sale_id })]
  },
  'auction started': (source) => {
    const asset = movable(source)
    if (!asset) return undefined
    const { owner: seller, asset_id: id } = asset
    const data = { seller, asset_ids: [id], starting_bid: price(source), duration: AUCTION_SECONDS }
    const sent = { from: seller, to: MARKET, asset_ids: [id], memo: 'auction' }
    return [
      source.chain.action(MARKET, 'announceauct', seller, { ...data, maker_marketplace: '' }),
      source.chain.action(ASSETS, 'transfer', seller, sent),
    ]
  },
  bid: ({ chain, entities, random }) => {
    if (entities.auctions.length === 0) return undefined
    // An auction gets several bids, as on a real chain.
    const auction = random.pick(entities.auctions)
    const { auction_id, asset_id, buyer, end_time, price: first, ...terms } = auction
    const place = { account: MARKET, table: 'auctions', scope: MARKET, key: auction_id }
    chain.put(place, auction.seller, {
      ...terms,
      ...{ auction_id, asset_ids: [asset_id], end_time: Number(end_time), assets_transferred: true },
      ...{ current_bid: wax(first), current_bidder: buyer ?? '', taker_marketplace: '' },
      ...{ claimed_by_seller: false, claimed_by_buyer: false },
    })
    const current = currentBids.get(auction) ?? first
    const next = current + current / 10n + 1n
    currentBids.set(auction, next)
    const bidder = entities.someone(auction.seller)
    entities.fund(chain, bidder)
    return [
      chain.action(MARKET, 'auctionbid', bidder, {
        bidder,
        auction_id,
        bid: wax(next),
        taker_marketplace: '',
      }),
    ]
  },
  'buy offer': (source) => {
    const asset = movable(source)
    if (!asset) return undefined
    const { chain, entities } = source
    const { owner: recipient, asset_id: id } = asset
    const buyer = entities.someone(recipient)
    entities.fund(chain, buyer)
    const data = { buyer, recipient, price: price(source), asset_ids: [id], memo: '', maker_marketplace: '' }
    return [chain.action(MARKET, 'createbuyo', buyer, data)]
  },
} satisfies Record<string, Kind>

/** Name of a kind of event. */
export type KindName = keyof typeof kinds

export const kindNames = Object.keys(kinds) as KindName[]

/**
 * Relative frequencies of the kinds: as often as they happened in the generated database. 78 % of its sales are sold,
 * 15 % are cancelled, and an auction has 2.35 bids.
 */
export const mix: Readonly<Record<KindName, number>> = {
  mint: fullSizes.assets,
  transfer: fullSizes.transfers,
  edit: fullSizes.edits,
  burn: fullSizes.assets * 0.06,
  offer: fullSizes.offers,
  'sale announced': fullSizes.sales,
  'sale purchased': fullSizes.sales * 0.78,
  'sale cancelled': fullSizes.sales * 0.15,
  'auction started': fullSizes.auctions,
  bid: fullSizes.auctions * 2.35,
  'buy offer': fullSizes.buyoffers,
}

/** Takes a listed sale, and adds the rows of the sale, its asset and its offer to the chain. */
function listedSale({ chain, entities }: EventSource): ReturnType<Entities['takeSale']> {
  const sale = entities.takeSale()
  if (!sale) return undefined
  const { sale_id, offer_id, owner: seller, asset_id, collection_name, collection_fee } = sale
  entities.put(chain, sale)
  chain.put({ account: ASSETS, table: 'offers', scope: ASSETS, key: offer_id }, seller, {
    ...{ offer_id, sender: seller, recipient: MARKET, sender_asset_ids: [asset_id] },
    ...{ recipient_asset_ids: [], memo: 'sale', ram_payer: seller },
  })
  chain.put({ account: MARKET, table: 'sales', scope: MARKET, key: sale_id }, seller, {
    ...{ sale_id, seller, asset_ids: [asset_id], offer_id, listing_price: wax(sale.price) },
    ...{ settlement_symbol: '8,WAX', maker_marketplace: sale.maker_marketplace },
    ...{ collection_name, collection_fee },
  })
  return sale
}

function offer(
  { chain }: EventSource,
  { owner: sender, asset_id: id }: PickedAsset,
  terms: { readonly recipient: string; readonly wanted: readonly bigint[]; readonly memo: string },
): ActionInput {
  const { recipient, wanted, memo } = terms
  const data = { sender, recipient, sender_asset_ids: [id], recipient_asset_ids: wanted, memo }
  return chain.action(ASSETS, 'createoffer', sender, data)
}

/** A random price from 0.01 to 100 WAX; low prices are more frequent. */
function price({ random }: EventSource): string {
  return wax(BigInt(Math.floor(10 ** (6 + 4 * random.fraction() * random.fraction()))))
}
