import { createLogger } from '../../services/core/log/index.ts'
import type { DatabaseAddress } from '../../services/core/database/index.ts'
import { createDevchain } from '../../services/devchain/index.ts'
import type { Devchain } from '../../services/devchain/index.ts'
import type { DevchainOptions } from '../../services/devchain/options.ts'
import { runReader } from '../../services/filler/index.ts'
import { familyReader } from '../../scripts/simulation/settings.ts'
import type { ReaderOptions, ReaderSettings } from '../../services/filler/index.ts'

/** Lines that a test's readers log; `silent` unless a test is being looked into. */
const logger = createLogger({
  name: 'test',
  level: process.env.TEST_LOG === undefined ? 'silent' : 'debug',
  pretty: true,
})

/** Reader settings for tests: everything stored, small groups. */
export const testSettings: ReaderSettings = { ...familyReader, name: 'test-1' }

/** So many blocks before its end, no recording deploys code. */
const MOST_REVERSIBLE = 80

/** A running chain with its addresses. */
export interface TestChain {
  readonly chain: Devchain
  readonly shipUrl: string
  readonly httpUrl: string
  /** False where reversible blocks are recorded ones: the code of contracts is left out of these, and they differ from their roots. */
  readonly hasRoots: boolean
}

/** Starts a chain; blocks appear only when the test makes them unless `options.live` says otherwise. */
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
