import { assetsTables, marketTables, toolsTables } from '../../../core/model/tables/index.ts'
import { keyText } from '../../../core/antelope/index.ts'
import { offerStates, offerValidity } from '../../handlers/assets/index.ts'
import { buyofferState, listAssets, loadedListings, saleState } from '../../handlers/market/index.ts'
import { linkCollections } from '../../handlers/tools/index.ts'
import type { CommitUnit } from '../../store/index.ts'
import { literal } from './copy-parts.ts'
import type { PartContext } from './copy-parts.ts'

/**
 * Data about listings that the source tables of listings lack: data from logged actions, and the precisions of symbols.
 */
export interface LoggedFacts {
  /** By sale id: the oracle median that the buyer passed to the contract. */
  readonly medians: ReadonlyMap<bigint, string>
  /** By auction id: the starting bid. */
  readonly startingBids: ReadonlyMap<bigint, bigint>
  /** By auction id: block and time of the last action that changed the auction. */
  readonly auctionChanges: ReadonlyMap<bigint, { readonly block: number; readonly timeMs: number }>
  /** By symbol code: the precision; an unknown symbol is absent. */
  readonly precisions: ReadonlyMap<string, number>
}

/**
 * Describes how a table of offers, listings or claim links is imported. The rows are written through the store, like
 * the rows of live blocks, because the store computes their derived values (states, trades, counters).
 */
export interface ListingPart {
  readonly table: string
  readonly entity: string
  readonly from: string
  readonly column: string
  select(where: (column: string) => string): string
  /**
   * Converts a row of the source database to a row of the target database, adds the row to a commit unit, and schedules
   * the computation of its derived values.
   */
  put(row: never, unit: CommitUnit, facts: LoggedFacts): void
}

interface OldDates {
  created_at_time: bigint
  updated_at_time: bigint
  created_at_block: bigint
  updated_at_block: bigint
}

const dates = (row: OldDates) => ({
  created_at_time: Number(row.created_at_time),
  updated_at_time: Number(row.updated_at_time),
  created_at_block: Number(row.created_at_block),
  updated_at_block: Number(row.updated_at_block),
})

interface OldOffer extends OldDates {
  offer_id: bigint
  sender: string
  recipient: string
  memo: string
  state: number
  sender_ids: string[] | null
  recipient_ids: string[] | null
}

const ids = (texts: readonly string[] | null): bigint[] => (texts ?? []).map(BigInt)

function offersPart(account: string): ListingPart {
  const contract = literal(account)
  const side = (name: string) =>
    `(SELECT array_agg(x.asset_id ORDER BY x.index) FROM atomicassets_offers_assets x
      WHERE x.contract = o.contract AND x.offer_id = o.offer_id AND x.owner = o.${name}) AS ${name}_ids`
  return {
    table: 'assets.offers',
    entity: 'offer',
    from: `atomicassets_offers WHERE contract = ${contract}`,
    column: 'offer_id',
    select: (where) =>
      `SELECT o.*, ${side('sender')}, ${side('recipient')} FROM atomicassets_offers o
       WHERE o.contract = ${contract} AND ${where('o.offer_id')} ORDER BY o.offer_id`,
    put(row: OldOffer, unit) {
      const sent = ids(row.sender_ids)
      const wanted = ids(row.recipient_ids)
      unit.insert(assetsTables.offers, {
        offer_id: row.offer_id,
        ...dates(row),
        state: row.state,
        sender: row.sender,
        recipient: row.recipient,
        ram_payer: null,
        memo: row.memo,
        sender_asset_ids: sent,
        recipient_asset_ids: wanted,
        collection_names: [],
      })
      if (row.state !== offerStates.pending && row.state !== offerStates.invalid) return
      for (const assetId of [...sent, ...wanted]) {
        unit.upsert(assetsTables.openOfferAssets, { asset_id: assetId, offer_id: row.offer_id })
        unit.recheck(offerValidity, assetId)
      }
    },
  }
}

interface OldListing extends OldDates {
  seller: string
  buyer: string | null
  collection_name: string | null
  collection_fee: number
  /** Maker marketplace. atomicassets-api stores null for the default marketplace, whose name is the empty string. */
  maker_marketplace: string | null
  taker_marketplace: string | null
  state: number
  asset_ids: string[] | null
}

/**
 * Returns the columns that sales, auctions and buy offers share.
 * @param isTraded whether the taker marketplace of the listing is already chosen. If so, a taker marketplace of null in
 * the source database is the default marketplace, whose name is the empty string.
 */
const listing = (row: OldListing, isTraded: boolean) => ({
  ...dates(row),
  state: row.state,
  buyer: row.buyer,
  collection_name: row.collection_name ?? '',
  collection_fee: row.collection_fee,
  maker_marketplace: row.maker_marketplace ?? '',
  taker_marketplace: row.taker_marketplace ?? (isTraded ? '' : null),
})

interface OldSale extends OldListing {
  sale_id: bigint
  listing_price: bigint
  final_price: bigint | null
  listing_symbol: string | null
  settlement_symbol: string | null
  offer_id: bigint | null
}

function salesPart(account: string): ListingPart {
  const contract = literal(account)
  return {
    table: 'market.sales',
    entity: 'sale',
    from: `atomicmarket_sales WHERE market_contract = ${contract}`,
    column: 'sale_id',
    select: (where) =>
      `SELECT s.*, (SELECT array_agg(x.asset_id ORDER BY x.index) FROM atomicassets_offers_assets x
         WHERE x.contract = s.assets_contract AND x.offer_id = s.offer_id AND x.owner = s.seller) AS asset_ids
       FROM atomicmarket_sales s WHERE s.market_contract = ${contract} AND ${where('s.sale_id')} ORDER BY s.sale_id`,
    put(row: OldSale, unit, facts) {
      const assets = ids(row.asset_ids)
      const listingSymbol = row.listing_symbol ?? ''
      const settlementSymbol = row.settlement_symbol ?? ''
      const isDirect = listingSymbol === settlementSymbol
      const isSold = row.state === saleState.sold
      const median = isSold ? (facts.medians.get(row.sale_id) ?? null) : null
      const sale = {
        sale_id: row.sale_id,
        ...listing(row, isSold),
        ...listAssets(assets),
        seller: row.seller,
        listing_price: row.listing_price,
        // Sold sale whose listing symbol and settlement symbol differ: if `contract_traces` of the source database
        // contains the oracle median that the buyer passed, the price is null here, and a later step computes the price
        // from the listing price and the median. Otherwise the price is the final price that the source database
        // stores.
        price: isDirect ? row.listing_price : isSold && median === null ? row.final_price : null,
        offer_id: row.offer_id,
        intended_median: median === null ? null : BigInt(median),
        listing_precision: facts.precisions.get(listingSymbol) ?? 0,
        settlement_precision: facts.precisions.get(settlementSymbol) ?? 0,
        listing_symbol: listingSymbol,
        settlement_symbol: settlementSymbol,
      }
      unit.insert(marketTables.sales, sale)
      loadedListings.sale(sale, unit)
    },
  }
}

interface OldAuction extends OldListing {
  auction_id: bigint
  price: bigint
  token_symbol: string
  claimed_by_buyer: boolean | null
  claimed_by_seller: boolean | null
  end_time: bigint
  first_bid: bigint | null
}

/** SQL for the asset ids of an auction or a buy offer, in the order that the source stores in the column `index`. */
const assetsOf = (table: string, id: string) =>
  `(SELECT array_agg(x.asset_id ORDER BY x.index) FROM ${table} x
    WHERE x.market_contract = l.market_contract AND x.${id} = l.${id}) AS asset_ids`

function auctionsPart(account: string): ListingPart {
  const contract = literal(account)
  return {
    table: 'market.auctions',
    entity: 'auction',
    from: `atomicmarket_auctions WHERE market_contract = ${contract}`,
    column: 'auction_id',
    select: (where) =>
      `SELECT l.*, ${assetsOf('atomicmarket_auctions_assets', 'auction_id')},
         (SELECT b.amount FROM atomicmarket_auctions_bids b WHERE b.market_contract = l.market_contract
          AND b.auction_id = l.auction_id ORDER BY b.bid_number LIMIT 1) AS first_bid
       FROM atomicmarket_auctions l WHERE l.market_contract = ${contract} AND ${where('l.auction_id')} ORDER BY l.auction_id`,
    put(row: OldAuction, unit, facts) {
      const assets = ids(row.asset_ids)
      // Prefer the time of the last logged change to `updated_at_time` of the source database. The source also sets
      // `updated_at_time` when the contract changes the row without an action on the auction.
      const changed = facts.auctionChanges.get(row.auction_id)
      const auction = {
        auction_id: row.auction_id,
        ...listing(row, row.buyer !== null),
        ...(changed === undefined
          ? {}
          : { updated_at_time: changed.timeMs, updated_at_block: changed.block }),
        ...listAssets(assets),
        seller: row.seller,
        end_time: Number(row.end_time),
        starting_price: facts.startingBids.get(row.auction_id) ?? row.first_bid ?? row.price,
        price: row.price,
        token_symbol: row.token_symbol,
        claimed_by_seller: row.claimed_by_seller ?? false,
        claimed_by_buyer: row.claimed_by_buyer ?? false,
      }
      unit.insert(marketTables.auctions, auction)
      loadedListings.auction(auction, unit)
    },
  }
}

interface OldBuyoffer extends OldListing {
  buyoffer_id: bigint
  buyer: string
  price: bigint
  token_symbol: string
  memo: string
  decline_memo: string | null
}

function buyoffersPart(account: string): ListingPart {
  const contract = literal(account)
  return {
    table: 'market.buyoffers',
    entity: 'buyoffer',
    from: `atomicmarket_buyoffers WHERE market_contract = ${contract}`,
    column: 'buyoffer_id',
    select: (where) =>
      `SELECT l.*, ${assetsOf('atomicmarket_buyoffers_assets', 'buyoffer_id')} FROM atomicmarket_buyoffers l
       WHERE l.market_contract = ${contract} AND ${where('l.buyoffer_id')} ORDER BY l.buyoffer_id`,
    put(row: OldBuyoffer, unit) {
      const assets = ids(row.asset_ids)
      const buyoffer = {
        buyoffer_id: row.buyoffer_id,
        ...listing(row, row.state === buyofferState.accepted),
        ...listAssets(assets),
        seller: row.seller,
        buyer: row.buyer,
        price: row.price,
        token_symbol: row.token_symbol,
        memo: row.memo,
        decline_memo: row.decline_memo,
      }
      unit.insert(marketTables.buyoffers, buyoffer)
      loadedListings.buyoffer(buyoffer, unit)
    },
  }
}

interface OldTemplateBuyoffer extends Omit<OldListing, 'seller'> {
  buyoffer_id: bigint
  seller: string | null
  buyer: string
  price: bigint
  token_symbol: string
  template_id: bigint
}

function templateBuyoffersPart(account: string): ListingPart {
  const contract = literal(account)
  return {
    table: 'market.template_buyoffers',
    entity: 'template buyoffer',
    from: `atomicmarket_template_buyoffers WHERE market_contract = ${contract}`,
    column: 'buyoffer_id',
    select: (where) =>
      `SELECT l.*, ${assetsOf('atomicmarket_template_buyoffers_assets', 'buyoffer_id')} FROM atomicmarket_template_buyoffers l
       WHERE l.market_contract = ${contract} AND ${where('l.buyoffer_id')} ORDER BY l.buyoffer_id`,
    put(row: OldTemplateBuyoffer, unit) {
      const [assetId] = ids(row.asset_ids)
      const buyoffer = {
        buyoffer_id: row.buyoffer_id,
        ...listing({ ...row, seller: row.seller ?? '' }, row.seller !== null),
        seller: row.seller,
        buyer: row.buyer,
        price: row.price,
        token_symbol: row.token_symbol,
        template_id: Number(row.template_id),
        asset_id: assetId ?? null,
        mint: null,
        schema_name: null,
        name: null,
        traits: [],
      }
      unit.insert(marketTables.templateBuyoffers, buyoffer)
      loadedListings.templateBuyoffer(buyoffer, unit)
    },
  }
}

interface OldLink extends OldDates {
  link_id: bigint
  creator: string
  claimer: string | null
  state: number
  key_type: number
  key_data: Buffer
  memo: string
  asset_ids: string[] | null
}

function linksPart(account: string): ListingPart {
  const contract = literal(account)
  return {
    table: 'tools.links',
    entity: 'link',
    from: `atomictools_links WHERE tools_contract = ${contract}`,
    column: 'link_id',
    select: (where) =>
      `SELECT l.*, (SELECT array_agg(x.asset_id ORDER BY x.index) FROM atomictools_links_assets x
         WHERE x.tools_contract = l.tools_contract AND x.link_id = l.link_id) AS asset_ids
       FROM atomictools_links l WHERE l.tools_contract = ${contract} AND ${where('l.link_id')} ORDER BY l.link_id`,
    put(row: OldLink, unit) {
      unit.insert(toolsTables.links, {
        link_id: row.link_id,
        ...dates(row),
        state: row.state,
        has_unknown_assets: false,
        creator: row.creator,
        claimer: row.claimer,
        public_key: keyText('PUB', row.key_type, row.key_data),
        claimer_signature: null,
        memo: row.memo,
        asset_ids: ids(row.asset_ids),
        collection_names: [],
      })
      unit.recheck(linkCollections, row.link_id)
    },
  }
}

/** Describes how the tables of offers, listings and claim links are imported, in the order of the import. */
export function listingParts({ accounts, source }: PartContext): ListingPart[] {
  const { assets, market, tools } = accounts
  return [
    ...(assets === null ? [] : [offersPart(assets)]),
    ...(market === null ? [] : [salesPart(market), auctionsPart(market), buyoffersPart(market)]),
    ...(market === null || !source.has('atomicmarket_template_buyoffers')
      ? []
      : [templateBuyoffersPart(market)]),
    ...(tools === null || !source.has('atomictools_links') ? [] : [linksPart(tools)]),
  ]
}
