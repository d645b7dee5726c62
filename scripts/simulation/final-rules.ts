import { compareDigests } from '../../services/verify/index.ts'
import type { Chain } from './chains.ts'
import type { SimulatedDatabase } from './databases.ts'
import { digestOf } from './digests.ts'
import { findFeedViolations } from './feed-rules.ts'
import { findViolations } from './invariants.ts'
import type { ReaderCount } from './readers.ts'

/**
 * Checks a database whose readers have indexed the whole final chain and stopped.
 * @returns the violations; empty if there are none.
 */
export async function findFinalViolations(
  database: SimulatedDatabase,
  chain: Chain,
  readers: ReaderCount,
): Promise<string[]> {
  const straight = await chain.straight(readers)
  const differing = compareDigests(straight.digest, await digestOf(database.address))
  const violations = await findViolations(database.address)
  for (const [reader, feed] of straight.feeds)
    violations.push(
      ...findFeedViolations(await database.feed(reader), feed).map((text) => `${reader}: ${text}`),
    )
  return [
    ...violations,
    ...differing.map((table) => `${table} differs from the table of a run without faults`),
  ]
}
