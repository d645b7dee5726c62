import type { ContractEntry, ReaderOptions, ReaderSettings } from '../../services/filler/index.ts'
import type { SeedPlan } from './plan.ts'
import { readerNames } from './readers.ts'
import type { ReaderCount } from './readers.ts'

const entries = {
  assets: {
    handler: 'assets',
    args: { assets_account: 'atomicassets', store_transfers: true, store_logs: true },
  },
  oracle: { handler: 'oracle', args: { oracle_account: 'delphioracle' } },
  market: { handler: 'market', args: { market_account: 'atomicmarket', store_logs: true } },
  tools: { handler: 'tools', args: { tools_account: 'atomictoolsx', store_logs: true } },
  state: {
    handler: 'state',
    args: {
      accounts: ['atomicassets', 'atomicmarket', 'atomictoolsx'],
      permissions: true,
      history_blocks: 0,
    },
  },
} satisfies Record<string, ContractEntry>

const common = {
  start_block: 0,
  stop_block: 0,
  irreversible_only: false,
  ship_prefetch_blocks: 50,
  ship_min_block_confirmation: 10,
  db_group_blocks: 10,
  feed_blocks: 172_800,
  feed_max_behind: 200,
  delete_data: false,
  ship_check_roots: true,
}

/** Settings of a reader that indexes all contract families. */
export const familyReader: ReaderSettings = {
  name: 'simulated',
  ...common,
  contracts: [entries.assets, entries.oracle, entries.market, entries.tools],
}

/**
 * Contracts of each reader. The first reader indexes assets and market: the invariants compare the block numbers of
 * their rows with the position of this reader.
 */
const contractsOf: Readonly<Record<ReaderCount, readonly (readonly ContractEntry[])[]>> = {
  1: [Object.values(entries)],
  2: [
    [entries.assets, entries.oracle, entries.market],
    [entries.tools, entries.state],
  ],
}

/** Reader settings for runs without faults. */
export function plainReaders(readers: ReaderCount): ReaderSettings[] {
  return contractsOf[readers].map((contracts, i) => ({ name: readerNames[i]!, ...common, contracts }))
}

export function readersOf(plan: SeedPlan): ReaderSettings[] {
  return plainReaders(plan.readers).map((reader) => ({
    ...reader,
    irreversible_only: plan.irreversibleOnly,
    db_group_blocks: plan.groupBlocks,
    ship_prefetch_blocks: plan.prefetchBlocks,
    ship_min_block_confirmation: plan.confirmations,
    feed_max_behind: plan.maxBehind,
  }))
}

/** Timing that compresses seconds of a real chain to milliseconds; the ratios that decide behaviour stay the same. */
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
  indexRetryMs: 20,
} satisfies Partial<ReaderOptions>
