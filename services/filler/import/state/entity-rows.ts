import { assetsTables } from '../../../core/model/tables/index.ts'
import { attributesToJsonText, decodeAttributes } from '../../../core/antelope/attributes/index.ts'
import { parseAsset, parseSymbol } from '../../../core/antelope/index.ts'
import { offerStates, offerValidity } from '../../handlers/assets/index.ts'
import type { FormatField } from '../../handlers/assets/index.ts'
import { buyofferState, listAssets, loadedListings, saleState } from '../../handlers/market/index.ts'
import { linkCollections } from '../../handlers/tools/index.ts'
import type { CommitUnit } from '../../store/index.ts'
import type {
  AssetValue,
  AuctionValue,
  BuyofferValue,
  LinkValue,
  ListingValue,
  OfferValue,
  SaleValue,
  TemplateBuyofferValue,
  TemplateDataValue,
  TemplateValue,
} from './contract-values.ts'

/** Fields of a schema; none when it is not known. */
export type FormatOf = (collection: string, schema: string) => readonly FormatField[]

/** How rows of a table follow from the contract's rows. */
export interface EntityRows<Value, Row extends object> {
  /** The row for a contract's row alone. Columns that only actions set are unknown. */
  rowOf(value: Value, scope: string, formatOf: FormatOf): Row
  /**
   * Adds the rows that belong to a row, and the derivations that start from it, to a unit.
   * @param value the contract's row; null when it was removed in the block that created it.
   */
  complete?(row: Row, unit: CommitUnit, value: Value | null): void
}

/** Marker for unknown times; no valid time has this value. */
const unknownDates = { created_at_time: 0, updated_at_time: 0, created_at_block: 0, updated_at_block: 0 }
const linkStates = { waiting: 0, created: 1 } as const
const auctionStates = { waiting: 0, started: 1 } as const

/** Attributes as JSON text; null when there are none. */
function attributes(format: readonly FormatField[], packed: Uint8Array): string | null {
  const { attributes: found } = decodeAttributes(format, packed)
  return Object.keys(found).length === 0 ? null : attributesToJsonText(found)
}

const listing = (value: ListingValue) => ({
  ...unknownDates,
  collection_name: value.collection_name,
  collection_fee: value.collection_fee,
  maker_marketplace: value.maker_marketplace,
  taker_marketplace: null,
})

/** Rows of templates. */
export const templateRows = {
  rowOf: (value: TemplateValue, scope: string, formatOf: FormatOf) => ({
    template_id: value.template_id,
    created_at_block: 0,
    created_at_time: 0,
    deleted_at_time: null,
    deleted_at_block: null,
    max_supply: value.max_supply,
    issued_supply: value.issued_supply,
    transferable: value.transferable,
    burnable: value.burnable,
    collection_name: scope,
    schema_name: value.schema_name,
    immutable_data: attributes(formatOf(scope, value.schema_name), value.immutable_serialized_data) ?? '{}',
    mutable_data: null,
  }),
}

/** Rows of assets. */
export const assetRows = {
  rowOf: (value: AssetValue, scope: string, formatOf: FormatOf) => {
    const format = formatOf(value.collection_name, value.schema_name)
    const template = value.template_id
    return {
      asset_id: value.asset_id,
      minted_at_time: 0,
      transferred_at_time: 0,
      updated_at_time: 0,
      burned_at_time: null,
      minted_seq: null,
      minted_at_block: 0,
      transferred_at_block: 0,
      updated_at_block: 0,
      burned_at_block: null,
      template_id: template < 0 ? null : template,
      template_mint: null,
      collection_name: value.collection_name,
      schema_name: value.schema_name,
      owner: scope,
      ram_payer: value.ram_payer,
      minter: null,
      initial_receiver: null,
      burned_by_account: null,
      immutable_data: attributes(format, value.immutable_serialized_data),
      mutable_data: attributes(format, value.mutable_serialized_data),
    }
  },
  complete: (row: Pick<AssetValue, 'asset_id'>, unit: CommitUnit, value: AssetValue | null): void => {
    for (const quantity of value?.backed_tokens ?? []) {
      const { symbol, amount } = parseAsset(quantity)
      unit.add(assetsTables.backedTokens, { asset_id: row.asset_id, token_symbol: symbol, amount })
    }
  },
}

/** Columns of an offer that its open assets follow from. */
type OpenOffer = Pick<OfferValue, 'offer_id' | 'sender_asset_ids' | 'recipient_asset_ids'> & { state: number }

/** Rows of offers. */
export const offerRows = {
  rowOf: (value: OfferValue) => ({
    ...unknownDates,
    offer_id: value.offer_id,
    state: offerStates.pending,
    sender: value.sender,
    recipient: value.recipient,
    ram_payer: value.ram_payer,
    memo: value.memo,
    sender_asset_ids: value.sender_asset_ids,
    recipient_asset_ids: value.recipient_asset_ids,
    collection_names: [],
  }),
  complete: (row: OpenOffer, unit: CommitUnit): void => {
    if (row.state !== offerStates.pending) return
    for (const id of [...row.sender_asset_ids, ...row.recipient_asset_ids]) {
      unit.upsert(assetsTables.openOfferAssets, { asset_id: id, offer_id: row.offer_id })
      unit.recheck(offerValidity, id)
    }
  },
}

/** Rows of sales. */
export const saleRows = {
  rowOf: (value: SaleValue) => {
    const price = parseAsset(value.listing_price)
    const settlement = parseSymbol(value.settlement_symbol)
    const offer = value.offer_id
    return {
      sale_id: value.sale_id,
      ...listing(value),
      ...listAssets(value.asset_ids),
      state: offer < 0n ? saleState.waiting : saleState.listed,
      seller: value.seller,
      buyer: null,
      listing_price: price.amount,
      price: price.symbol === settlement.symbol ? price.amount : null,
      offer_id: offer < 0n ? null : offer,
      intended_median: null,
      listing_precision: price.precision,
      settlement_precision: settlement.precision,
      listing_symbol: price.symbol,
      settlement_symbol: settlement.symbol,
    }
  },
  complete: loadedListings.sale,
}

/** Rows of auctions. */
export const auctionRows = {
  rowOf: (value: AuctionValue) => {
    const bid = parseAsset(value.current_bid)
    const buyer = value.current_bidder === '' ? null : value.current_bidder
    return {
      auction_id: value.auction_id,
      ...listing(value),
      ...listAssets(value.asset_ids),
      state: value.assets_transferred ? auctionStates.started : auctionStates.waiting,
      taker_marketplace: buyer === null ? null : value.taker_marketplace,
      seller: value.seller,
      buyer,
      end_time: value.end_time,
      starting_price: buyer === null ? bid.amount : null,
      price: bid.amount,
      token_symbol: bid.symbol,
      claimed_by_seller: value.claimed_by_seller,
      claimed_by_buyer: value.claimed_by_buyer,
    }
  },
  complete: loadedListings.auction,
}

/** Rows of buy offers. */
export const buyofferRows = {
  rowOf: (value: BuyofferValue) => {
    const price = parseAsset(value.price)
    return {
      buyoffer_id: value.buyoffer_id,
      ...listing(value),
      ...listAssets(value.asset_ids),
      state: buyofferState.pending,
      seller: value.recipient,
      buyer: value.buyer,
      price: price.amount,
      token_symbol: price.symbol,
      memo: value.memo,
      decline_memo: null,
    }
  },
  complete: loadedListings.buyoffer,
}

/** Rows of template buy offers. */
export const templateBuyofferRows = {
  rowOf: (value: TemplateBuyofferValue) => {
    const price = parseAsset(value.price)
    return {
      buyoffer_id: value.buyoffer_id,
      ...listing(value),
      state: 0,
      seller: null,
      buyer: value.buyer,
      price: price.amount,
      token_symbol: price.symbol,
      template_id: Number(value.template_id),
      asset_id: null,
      mint: null,
      schema_name: null,
      name: null,
      traits: [],
    }
  },
  complete: loadedListings.templateBuyoffer,
}

/** Rows of links. */
export const linkRows = {
  rowOf: (value: LinkValue) => ({
    ...unknownDates,
    link_id: value.link_id,
    state: value.assets_transferred ? linkStates.created : linkStates.waiting,
    has_unknown_assets: false,
    creator: value.creator,
    claimer: null,
    public_key: value.key,
    claimer_signature: null,
    memo: value.memo,
    asset_ids: value.asset_ids,
    collection_names: [],
  }),
  complete: ({ link_id: id }: Pick<LinkValue, 'link_id'>, unit: CommitUnit): void =>
    unit.recheck(linkCollections, id),
}

/** Mutable data of a template as JSON text. */
export function templateData(value: TemplateDataValue, scope: string, formatOf: FormatOf): string | null {
  return attributes(formatOf(scope, value.schema_name), value.mutable_serialized_data)
}
