import type { TestChain } from '../integration/index-chain.ts'
import { createIndexedDatabase } from '../integration/indexed-database.ts'
import type { TestDatabase } from '../setup/database.ts'
import { broadChain } from '../verify/verify-of.ts'

/** Number of blocks at the end of the chain that the databases of `createSource` do not have. */
const STOP_BLOCKS = 40

/** Creates a database that a reader has filled from the broad chain, except for the last blocks. */
export function createSource({ chain }: TestChain): Promise<TestDatabase> {
  return createIndexedDatabase({ ...broadChain, stopBlock: chain.head().num - STOP_BLOCKS })
}
