import { attributesToJsonText, decodeAttributes } from '../../../core/antelope/attributes/index.ts'
import { parseAsset, parseSymbol } from '../../../core/antelope/index.ts'
import { assetsTables, offerStates, offerValidity } from '../../handlers/assets/index.ts'
import { buyofferState, listAssets, loadedListings, saleState } from '../../handlers/market/index.ts'
import { linkCollections } from '../../handlers/tools/index.ts'
import type { CommitUnit } from '../../store/index.ts'

/** A field of a schema. */
export interface FormatField {
  readonly name: string
  readonly type: string
}

/** Fields of a schema; none when it is not known. */
export type FormatOf = (collection: string, schema: string) => readonly FormatField[]

type Values = Readonly<Record<string, unknown>>
type Row = Record<string, unknown>

/** Marker for unknown times; no valid time has this value. */
const unknownDates = { created_at_time: 0, updated_at_time: 0, created_at_block: 0, updated_at_block: 0 }
const linkStates = { waiting: 0, created: 1 } as const
const auctionStates = { waiting: 0, started: 1 } as const
/** Attributes as JSON text; null when there are none. */
function attributes(format: readonly FormatField[], packed: unknown): string | null {
  const { attributes: found } = decodeAttributes(format, packed as Uint8Array)
  return Object.keys(found).length === 0 ? null : attributesToJsonText(found)
}

const listing = (value: Values) => ({
  ...unknownDates,
  collection_name: value.collection_name,
  collection_fee: value.collection_fee,
  maker_marketplace: value.maker_marketplace,
  taker_marketplace: null,
})

/** Columns from the contract's row alone, by table. Columns that only actions set are unknown. */
const rowsOf: Readonly<Record<string, (value: Values, scope: string, formatOf: FormatOf) => Row>> = {
  'assets.templates': (value, scope, formatOf) => ({
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
    immutable_data:
      attributes(formatOf(scope, value.schema_name as string), value.immutable_serialized_data) ?? '{}',
    mutable_data: null,
  }),
  'assets.assets': (value, scope, formatOf) => {
    const format = formatOf(value.collection_name as string, value.schema_name as string)
    const template = value.template_id as number
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
  'assets.offers': (value) => ({
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
  'market.sales': (value) => {
    const price = parseAsset(value.listing_price as string)
    const settlement = parseSymbol(value.settlement_symbol as string)
    const offer = value.offer_id as bigint
    return {
      sale_id: value.sale_id,
      ...listing(value),
      ...listAssets(value.asset_ids as bigint[]),
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
  'market.auctions': (value) => {
    const bid = parseAsset(value.current_bid as string)
    const buyer = value.current_bidder === '' ? null : value.current_bidder
    return {
      auction_id: value.auction_id,
      ...listing(value),
      ...listAssets(value.asset_ids as bigint[]),
      state: value.assets_transferred === true ? auctionStates.started : auctionStates.waiting,
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
  'market.buyoffers': (value) => {
    const price = parseAsset(value.price as string)
    return {
      buyoffer_id: value.buyoffer_id,
      ...listing(value),
      ...listAssets(value.asset_ids as bigint[]),
      state: buyofferState.pending,
      seller: value.recipient,
      buyer: value.buyer,
      price: price.amount,
      token_symbol: price.symbol,
      memo: value.memo,
      decline_memo: null,
    }
  },
  'market.template_buyoffers': (value) => {
    const price = parseAsset(value.price as string)
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
  'tools.links': (value) => ({
    ...unknownDates,
    link_id: value.link_id,
    state: value.assets_transferred === true ? linkStates.created : linkStates.waiting,
    has_unknown_assets: false,
    creator: value.creator,
    claimer: null,
    public_key: value.key,
    claimer_signature: null,
    memo: value.memo,
    asset_ids: value.asset_ids,
    collection_names: [],
  }),
}

/** The row of a table for a contract's row. */
export function entityRow(table: string, value: Values, scope: string, formatOf: FormatOf): Row {
  return rowsOf[table]!(value, scope, formatOf)
}

/** Gives what belongs to a row, and what is to be derived of it, to a unit. */
export function putRelatedRows(table: string, row: Row, value: Values | null, unit: CommitUnit): void {
  completions[table]?.(row, unit, value)
}

/** The rows are those of the table, as `entityRow` builds them and as actions have changed them. */
function related(put: (row: never, unit: CommitUnit) => void) {
  return (row: Row, unit: CommitUnit) => put(row as never, unit)
}

const completions: Readonly<Record<string, (row: Row, unit: CommitUnit, value: Values | null) => void>> = {
  'assets.assets': (row, unit, value) => {
    for (const quantity of (value?.backed_tokens ?? []) as string[]) {
      const { symbol, amount } = parseAsset(quantity)
      unit.add(assetsTables.backedTokens, {
        asset_id: row.asset_id as bigint,
        token_symbol: symbol,
        amount,
      })
    }
  },
  'assets.offers': (row, unit) => {
    if (row.state !== offerStates.pending) return
    for (const id of [...(row.sender_asset_ids as bigint[]), ...(row.recipient_asset_ids as bigint[])]) {
      unit.upsert(assetsTables.openOfferAssets, { asset_id: id, offer_id: row.offer_id as bigint })
      unit.recheck(offerValidity, id)
    }
  },
  'market.sales': related(loadedListings.sale),
  'market.auctions': related(loadedListings.auction),
  'market.buyoffers': related(loadedListings.buyoffer),
  'market.template_buyoffers': related(loadedListings.templateBuyoffer),
  'tools.links': (row, unit) => unit.recheck(linkCollections, row.link_id as bigint),
}

/** Mutable data of a template as JSON text. */
export function templateData(value: Values, scope: string, formatOf: FormatOf): string | null {
  return attributes(formatOf(scope, value.schema_name as string), value.mutable_serialized_data)
}
