import { createLogger } from '../../services/core/log/index.ts'
import type { DatabaseAddress } from '../../services/core/database/index.ts'
import { createDevchain } from '../../services/devchain/index.ts'
import type { Devchain } from '../../services/devchain/index.ts'
import type { DevchainOptions } from '../../services/devchain/options.ts'
import { runReader } from '../../services/filler/index.ts'
import { familyReader } from '../../scripts/simulation/settings.ts'
import type { ReaderOptions, ReaderSettings } from '../../services/filler/index.ts'

/** Logger of the tests' readers; silent unless TEST_LOG is set. */
const logger = createLogger({
  name: 'test',
  level: process.env.TEST_LOG === undefined ? 'silent' : 'debug',
  pretty: true,
})

/** Reader settings for tests: the four contract families with all optional data, small commit units. */
export const testSettings: ReaderSettings = { ...familyReader, name: 'test-1' }

/**
 * With fewer reversible blocks than this, all reversible blocks match the Merkle roots in their headers. Recordings
 * omit contract code, so a recorded block that deploys code does not match. No recording deploys code in its last 80
 * blocks.
 */
const MOST_REVERSIBLE = 80

/** A running chain and its addresses. */
export interface TestChain {
  readonly chain: Devchain
  readonly shipUrl: string
  readonly httpUrl: string
  /**
   * Whether the reversible blocks match the Merkle roots in their headers. Recorded blocks that deploy code
   * do not match, because recordings omit contract code.
   */
  readonly hasRoots: boolean
}

/** Starts a chain. The test produces the blocks, unless `options.live` is set. */
export async function startChain(options: DevchainOptions): Promise<TestChain> {
  const chain = createDevchain(options)
  const { shipUrl, httpUrl } = await chain.start()
  const { recordings = [], replay, libLagBlocks = 0 } = options
  const hasRoots = recordings.length === 0 || (replay !== 'recorded' && libLagBlocks < MOST_REVERSIBLE)
  return { chain, shipUrl, httpUrl, hasRoots }
}

/** Runs a reader in this process until its stop block. */
export async function indexUntil(
  { chain, shipUrl, httpUrl, hasRoots }: TestChain,
  database: DatabaseAddress,
  stopBlock: number,
  more: { settings?: Partial<ReaderSettings>; options?: Partial<ReaderOptions>; signal?: AbortSignal } = {},
): Promise<void> {
  await runReader(
    {
      settings: { ...testSettings, ship_check_roots: hasRoots, stop_block: stopBlock, ...more.settings },
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
