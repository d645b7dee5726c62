import { buildQueryIndexes, connectDatabase, listIndexFamilies } from '../../services/core/database/index.ts'
import type { DatabaseAddress } from '../../services/core/database/index.ts'
import type { DevchainOptions } from '../../services/devchain/options.ts'
import type { ReaderSettings } from '../../services/filler/index.ts'
import { copySharedDatabase } from '../setup/database.ts'
import type { TestDatabase } from '../setup/database.ts'
import { indexUntil, startChain } from './index-chain.ts'

/** Chain, settings and last block from which a database is indexed. */
export interface IndexedContent {
  /** Options of a chain without live blocks; equal options produce equal chains. */
  readonly chain: Pick<
    DevchainOptions,
    'recordings' | 'replay' | 'blocks' | 'rate' | 'seed' | 'mix' | 'startTimeMs'
  >
  /** Last block to index; default is the head of the chain. */
  readonly stopBlock?: number
  readonly settings?: Partial<ReaderSettings>
  /** Whether the indexes for list queries are built as well. */
  readonly hasQueryIndexes?: boolean
}

/** Creates a database that a reader has filled. Equal content is indexed once per test run and copied. */
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

/** Last block of a begun database: before the end of the recording `main`, so that the reader has published nothing. */
export const BEGUN_AT = 800

/**
 * Creates a database that a reader has filled up to block `BEGUN_AT` of the recordings. Tests of later blocks continue
 * from it on any chain that begins with `main`.
 */
export function createBegunDatabase(): Promise<TestDatabase> {
  return createIndexedDatabase({ chain: { recordings: ['main'] }, stopBlock: BEGUN_AT })
}

/** Builds the indexes for list queries. */
export async function buildIndexes(address: DatabaseAddress): Promise<void> {
  const client = await connectDatabase(address, { applicationName: 'test' })
  for (const family of await listIndexFamilies()) await buildQueryIndexes(client, family)
  await client.end()
}
