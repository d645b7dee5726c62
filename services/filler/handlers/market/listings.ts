import type { RowSink } from '../../rows/operations.ts'
import type { BlockInfo } from '../handler.ts'
import { tables } from './tables.ts'

export function updatedAt(block: BlockInfo) {
  return { updated_at_time: block.timeMs, updated_at_block: block.num }
}

/** Column values common to all new listings. */
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

/** Adds a row per asset that makes the listing searchable by the asset. */
export function linkAssets(sink: RowSink, kind: number, id: bigint, assetIds: readonly bigint[]): void {
  for (const assetId of assetIds)
    sink.insert(tables.listingAssets, { asset_id: assetId, kind, listing_id: id })
}
