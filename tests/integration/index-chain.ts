import { createLogger } from '../../services/core/log/index.ts'
import type { DatabaseAddress } from '../../services/core/database/index.ts'
import { createDevchain } from '../../services/devchain/index.ts'
import type { Devchain, DevchainOptions } from '../../services/devchain/index.ts'
import { runReader } from '../../services/filler/index.ts'
import type { ReaderOptions, ReaderSettings } from '../../services/filler/index.ts'

/** Lines that a test's readers log; `silent` unless a test is being looked into. */
const logger = createLogger({
  name: 'test',
  level: process.env.TEST_LOG === undefined ? 'silent' : 'debug',
  pretty: true,
})

/** Reader settings for tests: everything kept, small groups. */
export const testSettings: ReaderSettings = {
  name: 'test-1',
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

/** A running chain with its addresses. */
export interface TestChain {
  readonly chain: Devchain
  readonly shipUrl: string
  readonly httpUrl: string
}

/** Starts a chain; blocks appear only when the test makes them unless `options.live` says otherwise. */
export async function startChain(options: DevchainOptions): Promise<TestChain> {
  const chain = createDevchain(options)
  const { shipUrl, httpUrl } = await chain.start()
  return { chain, shipUrl, httpUrl }
}

/** Runs a reader in this process until its stop block. */
export async function indexUntil(
  { chain, shipUrl, httpUrl }: TestChain,
  database: DatabaseAddress,
  stopBlock: number,
  more: { settings?: Partial<ReaderSettings>; options?: Partial<ReaderOptions>; signal?: AbortSignal } = {},
): Promise<void> {
  await runReader(
    {
      settings: { ...testSettings, stop_block: stopBlock, ...more.settings },
      database,
      chain: { chainId: chain.chainId, http: httpUrl, ship: [shipUrl] },
      logger,
      buildQueryIndexes: false,
      handoverMs: 2_000,
      shipTiming: { backoffMinMs: 20, backoffMaxMs: 200 },
      ...more.options,
    },
    more.signal ?? new AbortController().signal,
  )
}
