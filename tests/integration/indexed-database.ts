import { buildQueryIndexes, connectDatabase, listIndexFamilies } from '../../services/core/database/index.ts'
import type { DatabaseAddress } from '../../services/core/database/index.ts'
import type { DevchainOptions } from '../../services/devchain/options.ts'
import type { ReaderSettings } from '../../services/filler/index.ts'
import { copySharedDatabase } from '../setup/database.ts'
import type { TestDatabase } from '../setup/database.ts'
import { indexUntil, startChain } from './index-chain.ts'

/** What a database was indexed from, and how. */
export interface IndexedContent {
  /** A chain without live blocks: equal options are equal chains. */
  readonly chain: Pick<DevchainOptions, 'recordings' | 'replay' | 'blocks' | 'rate' | 'seed' | 'mix'>
  /** Last block; the head of the chain without it. */
  readonly stopBlock?: number
  readonly settings?: Partial<ReaderSettings>
  /** With the indexes that lists need. */
  readonly hasQueryIndexes?: boolean
}

/** A database that a reader has filled. What several suites ask for is indexed once in a run of the tests. */
export function createIndexedDatabase(content: IndexedContent): Promise<TestDatabase> {
  return copySharedDatabase(JSON.stringify(content), async (address) => {
    const running = await startChain(content.chain)
    try {
      const { stopBlock = running.chain.head().num, settings = {} } = content
      await indexUntil(running, address, stopBlock, { settings })
    } finally {
      await running.chain.stop()
    }
    if (content.hasQueryIndexes) await buildIndexes(address)
  })
}

/** Builds the indexes that lists need. */
export async function buildIndexes(address: DatabaseAddress): Promise<void> {
  const client = await connectDatabase(address, { applicationName: 'test' })
  for (const family of await listIndexFamilies()) await buildQueryIndexes(client, family)
  await client.end()
}
