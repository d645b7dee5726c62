import type { RowSink } from '../../rows/operations.ts'
import type { BlockInfo } from '../handler.ts'
import { tables } from './tables.ts'

/** Columns that say when a listing was last changed. */
export function updatedAt(block: BlockInfo) {
  return { updated_at_time: block.timeMs, updated_at_block: block.num }
}

/** Columns that all new listings set. */
export function newListing(
  block: BlockInfo,
  log: { collection_name: string; collection_fee: number; maker_marketplace: string },
) {
  return {
    created_at_time: block.timeMs,
    created_at_block: block.num,
    ...updatedAt(block),
    collection_name: log.collection_name,
    collection_fee: log.collection_fee,
    maker_marketplace: log.maker_marketplace,
    taker_marketplace: null,
    state: 0,
  }
}

/** Adds the rows by which a listing is found by its assets. */
export function linkAssets(sink: RowSink, kind: number, id: bigint, assetIds: readonly bigint[]): void {
  for (const assetId of assetIds)
    sink.insert(tables.listingAssets, { asset_id: assetId, kind, listing_id: id })
}
