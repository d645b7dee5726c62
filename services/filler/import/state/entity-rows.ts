import {
  assetsContract,
  marketContract,
  readColumns,
  toolsContract,
} from '../../../core/model/contract/index.ts'
import type { ContractRow } from '../../../core/model/contract/index.ts'
import type { KeyedTable, RowOf } from '../../../core/model/index.ts'
import { assetsTables, marketTables, toolsTables } from '../../../core/model/tables/index.ts'
import { offerStates, offerValidity } from '../../handlers/assets/index.ts'
import { listAssets, loadedListings, saleState } from '../../handlers/market/index.ts'
import { linkCollections } from '../../handlers/tools/index.ts'
import type { CommitUnit } from '../../store/index.ts'

/** How rows of a database table are derived from rows of a contract table. */
interface EntityRows<Row extends object> {
  /** Fields of the contract row that name the parties of an open offer or listing. */
  readonly parties?: readonly string[]
  /** Builds a database row from the contract row alone; columns that only actions set get placeholders. */
  rowOf(from: ContractRow): Row
  /**
   * Adds to the commit unit the rows of other tables that belong to `row`, such as the assets of an offer. Also
   * requests the derived values that depend on `row`, such as the state of an offer.
   * @param from the contract row; null if the block that created the row also removed it.
   */
  complete?(row: Row, unit: CommitUnit, from: ContractRow | null): void
}

/** Placeholder for unknown times and blocks: no valid time or block number is 0. */
const unknownDates = { created_at_time: 0, updated_at_time: 0, created_at_block: 0, updated_at_block: 0 }

const templateRows = {
  rowOf: (from: ContractRow) => ({
    ...readColumns(assetsContract.templates, from),
    created_at_block: 0,
    created_at_time: 0,
    deleted_at_time: null,
    deleted_at_block: null,
    mutable_data: null,
  }),
}

const [backedTokens] = assetsContract.assets.children

const assetRows = {
  rowOf: (from: ContractRow) => ({
    ...readColumns(assetsContract.assets, from),
    minted_at_time: 0,
    transferred_at_time: 0,
    updated_at_time: 0,
    burned_at_time: null,
    minted_seq: null,
    minted_at_block: 0,
    transferred_at_block: 0,
    updated_at_block: 0,
    burned_at_block: null,
    template_mint: null,
    minter: null,
    initial_receiver: null,
    burned_by_account: null,
  }),
  complete: ({ asset_id }: { asset_id: bigint }, unit: CommitUnit, from: ContractRow | null): void => {
    if (from === null) return
    type Backed = RowOf<typeof assetsTables.backedTokens>
    for (const token of backedTokens!.rows(from))
      unit.add(assetsTables.backedTokens, { asset_id, ...(token as unknown as Omit<Backed, 'asset_id'>) })
  },
}

const offerRows = {
  parties: ['sender', 'recipient'],
  rowOf: (from: ContractRow) => ({
    ...readColumns(assetsContract.offers, from),
    ...unknownDates,
    state: offerStates.pending as number,
    collection_names: [],
  }),
  complete: (row: RowOf<typeof assetsTables.offers>, unit: CommitUnit): void => {
    if (row.state !== offerStates.pending) return
    for (const id of [...row.sender_asset_ids, ...row.recipient_asset_ids]) {
      unit.upsert(assetsTables.openOfferAssets, { asset_id: id, offer_id: row.offer_id })
      unit.recheck(offerValidity, id)
    }
  },
}

const saleRows = {
  parties: ['seller'],
  rowOf: (from: ContractRow) => {
    const known = readColumns(marketContract.sales, from)
    return {
      ...known,
      ...unknownDates,
      ...listAssets(known.asset_ids),
      state: known.offer_id === null ? saleState.waiting : saleState.listed,
      buyer: null,
      taker_marketplace: null,
      price: known.listing_symbol === known.settlement_symbol ? known.listing_price : null,
      intended_median: null,
    }
  },
  complete: loadedListings.sale,
}

const auctionRows = {
  parties: ['seller', 'current_bidder'],
  rowOf: (from: ContractRow) => {
    const known = readColumns(marketContract.auctions, from)
    return {
      ...known,
      ...unknownDates,
      ...listAssets(known.asset_ids),
      // Before the first bid, the price in the contract row of an auction is the starting price.
      starting_price: known.buyer === null ? known.price : null,
    }
  },
  complete: loadedListings.auction,
}

const buyofferRows = {
  parties: ['buyer', 'recipient'],
  rowOf: (from: ContractRow) => {
    const known = readColumns(marketContract.buyoffers, from)
    return {
      ...known,
      ...unknownDates,
      ...listAssets(known.asset_ids),
      state: 0,
      taker_marketplace: null,
      decline_memo: null,
    }
  },
  complete: loadedListings.buyoffer,
}

const templateBuyofferRows = {
  parties: ['buyer'],
  rowOf: (from: ContractRow) => ({
    ...readColumns(marketContract.tbuyoffers, from),
    ...unknownDates,
    state: 0,
    seller: null,
    taker_marketplace: null,
    asset_id: null,
    mint: null,
    schema_name: null,
    name: null,
    traits: [],
  }),
  complete: loadedListings.templateBuyoffer,
}

const linkRows = {
  rowOf: (from: ContractRow) => ({
    ...readColumns(toolsContract.links, from),
    ...unknownDates,
    has_unknown_assets: false,
    claimer: null,
    claimer_signature: null,
    collection_names: [],
  }),
  complete: ({ link_id: id }: { link_id: bigint }, unit: CommitUnit): void =>
    unit.recheck(linkCollections, id),
}

/** A database table whose columns come partly from a contract row and partly from actions. */
export interface EntityTable {
  readonly family: string
  readonly contractTable: string
  readonly table: KeyedTable<object>
  /** Name of the integer column that is the primary key of `table`. */
  readonly key: string
  /**
   * Converts rows of the contract table to rows of `table`. The type does not name the columns of `table`, because
   * `entityTables` lists tables with different columns.
   */
  readonly rows: EntityRows<Record<string, unknown>>
}

function entity<Row extends object>(
  family: string,
  contractTable: string,
  table: KeyedTable<Row>,
  rows: EntityRows<NoInfer<Row>>,
): EntityTable {
  const untyped = { table, rows } as unknown as Pick<EntityTable, 'table' | 'rows'>
  return { family, contractTable, key: table.key[0]!, ...untyped }
}

/** Entity tables, each after the tables that its rows refer to. */
export const entityTables: readonly EntityTable[] = [
  entity('assets', 'templates', assetsTables.templates, templateRows),
  entity('assets', 'assets', assetsTables.assets, assetRows),
  entity('assets', 'offers', assetsTables.offers, offerRows),
  entity('market', 'sales', marketTables.sales, saleRows),
  entity('market', 'auctions', marketTables.auctions, auctionRows),
  entity('market', 'buyoffers', marketTables.buyoffers, buyofferRows),
  entity('market', 'tbuyoffers', marketTables.templateBuyoffers, templateBuyofferRows),
  entity('tools', 'links', toolsTables.links, linkRows),
]
