import { compareDigests } from '../../services/verify/index.ts'
import type { Chain } from './chains.ts'
import type { SimulatedDatabase } from './databases.ts'
import { digestOf } from './digests.ts'
import { findFeedViolations } from './feed-rules.ts'
import { findViolations } from './invariants.ts'

/** What is wrong with a database whose reader has the whole final chain and has ended; empty when all is well. */
export async function findFinalViolations(database: SimulatedDatabase, chain: Chain): Promise<string[]> {
  const { base, tree } = chain.source
  const idOf = (num: number) => (base[num - 1] ?? tree.main[num - base.length - 1])?.id.toString('hex')
  const differing = compareDigests(await chain.straight(), await digestOf(database.address))
  return [
    ...(await findViolations(database.address)),
    ...findFeedViolations(await database.feed(), idOf),
    ...differing.map((table) => `${table} differs from a straight run`),
  ]
}
