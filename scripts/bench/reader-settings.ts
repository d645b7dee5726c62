import type { ReaderSettings } from '../../services/filler/index.ts'

/** Settings of the assets handler; transfers and logs, the optional data, are stored. */
export const assetsContract: ReaderSettings['contracts'][number] = {
  handler: 'assets',
  args: { assets_account: 'atomicassets', store_transfers: true, store_logs: true },
}

/** Settings of the market handler, and of the oracle handler that the market requires in addition to assets. */
export const marketContracts: ReaderSettings['contracts'] = [
  { handler: 'oracle', args: { oracle_account: 'delphioracle' } },
  { handler: 'market', args: { market_account: 'atomicmarket', store_logs: true } },
]

/**
 * Settings of a reader that indexes the assets family from the first block on.
 * @param changes settings to override.
 */
export function readerSettings(changes: Partial<ReaderSettings> = {}): ReaderSettings {
  return {
    name: 'bench',
    start_block: 0,
    stop_block: 0,
    irreversible_only: false,
    ship_prefetch_blocks: 200,
    ship_min_block_confirmation: 50,
    db_group_blocks: 100,
    delete_data: false,
    ship_check_roots: true,
    feed_blocks: 172_800,
    feed_max_behind: 200,
    contracts: [assetsContract],
    ...changes,
  }
}
