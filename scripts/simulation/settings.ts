import type { ReaderOptions, ReaderSettings } from '../../services/filler/index.ts'
import type { SeedPlan } from './plan.ts'

/** Settings of the simulated reader; seeds draw the sizes. */
export const simulatedReader: ReaderSettings = {
  name: 'simulated',
  start_block: 0,
  stop_block: 0,
  irreversible_only: false,
  ship_prefetch_blocks: 50,
  ship_min_block_confirmation: 10,
  db_group_blocks: 10,
  feed_blocks: 172_800,
  feed_max_behind: 200,
  delete_data: false,
  contracts: [
    { handler: 'assets', args: { assets_account: 'atomicassets', store_transfers: true, store_logs: true } },
    { handler: 'oracle', args: { oracle_account: 'delphioracle' } },
    { handler: 'market', args: { market_account: 'atomicmarket', store_logs: true } },
    { handler: 'tools', args: { tools_account: 'atomictoolsx', store_logs: true } },
  ],
}

/** The settings of a seed's reader. */
export function settingsOf(plan: SeedPlan): ReaderSettings {
  return {
    ...simulatedReader,
    irreversible_only: plan.irreversibleOnly,
    db_group_blocks: plan.groupBlocks,
    ship_prefetch_blocks: plan.prefetchBlocks,
    ship_min_block_confirmation: plan.confirmations,
    feed_max_behind: plan.maxBehind,
  }
}

/** Delays that let seconds of a real chain pass in milliseconds; what they decide stays the same. */
export const simulatedTiming = {
  shipTiming: {
    handshakeTimeoutMs: 5_000,
    replyTimeoutMs: 3_000,
    pingIntervalMs: 700,
    pongTimeoutMs: 900,
    idleTimeoutMs: 1_200,
    slowMessageTimeoutMs: 800,
    messageTimeoutMs: 10_000,
    statusPollMs: 8,
    watchPollMs: 8,
    takeoverMs: 40,
    otherBranchMs: 60,
    behindTimeoutMs: 100,
    backoffMinMs: 2,
    backoffMaxMs: 30,
    goodServiceMs: 30,
  },
  retry: { attempts: 6, firstMs: 3, longestMs: 40 },
  handoverMs: 1_000,
} satisfies Partial<ReaderOptions>
