import type pg from 'pg'
import { connectDatabase } from '../../core/database/index.ts'
import type { DatabaseAddress } from '../../core/database/index.ts'
import { FatalError, RetryableError } from '../../core/errors/index.ts'
import { checkLease, takeLease } from '../../filler/index.ts'
import type { Lease } from '../../filler/index.ts'
import { repairDerived } from '../derived/index.ts'
import type { ChainSource } from '../sources/index.ts'
import { planRepair } from './repair-plan.ts'
import type { PlannedRepair } from './repair-plan.ts'
import { POSITION_SQL } from './suspects.ts'
import { openSource } from './verify-database.ts'
import type { VerifyDatabaseOptions } from './verify-database.ts'
import { verify } from './verify.ts'
import type { Verified } from './verify.ts'

/** How long a filler that is ending is waited for. */
const HANDOVER_MS = 2_000
/** Time for which a node at the committed block must not move on. */
const REST_MS = 2_000

/** What a repair did. */
export interface Repaired extends Verified {
  readonly repairs: readonly PlannedRepair[]
  /** Derived rules whose tables were rebuilt. */
  readonly rebuilt: readonly string[]
  /** Derived rules that rows still break. */
  readonly broken: readonly string[]
}

interface Position {
  readonly num: number
  readonly id: string
  readonly time: bigint
}

/** What a repair would write, by what a comparison found. */
export async function planRepairs(client: pg.ClientBase, { found }: Verified): Promise<PlannedRepair[]> {
  const { rows } = await client.query<Position>(POSITION_SQL)
  const { num, time } = rows[0] ?? { num: 0, time: 0n }
  return found.map((one) => planRepair(one, { num, timeMs: time }))
}

/**
 * Compares, and writes what the chain has, in one transaction under the lease of every reader of the database: no
 * filler writes meanwhile. A node is compared with only when it stands at the committed block.
 *
 * @throws FatalError `READER_LEASE_HELD` while a filler writes. Nothing is written when anything fails.
 * @throws RetryableError `CHAIN_UNREACHABLE` when not everything could be compared.
 */
export async function repairDatabase(
  address: DatabaseAddress,
  options: VerifyDatabaseOptions,
): Promise<Repaired> {
  const client = await connectDatabase(address, { applicationName: 'pronghorn verify --repair' })
  try {
    const leases = await takeLeases(client)
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ')
    for (const lease of leases) await checkLease(client, lease)
    const source = await openSource(client, options)
    if (!source.isFixed) await checkRest(client, source)
    const verified = await verify({ ...options, client, source, stallMs: REST_MS })
    if (verified.report.unfinished !== null) {
      throw new RetryableError('CHAIN_UNREACHABLE', `nothing was written: ${verified.report.unfinished}`)
    }
    if (!source.isFixed) await checkRest(client, source)
    const repairs = await planRepairs(client, verified)
    for (const { statements } of repairs)
      for (const { text, values } of statements) await client.query(text, [...values])
    const { rebuilt, broken } = await repairDerived(client)
    await client.query('COMMIT')
    return { ...verified, repairs, rebuilt, broken }
  } finally {
    await client.end().catch(() => undefined)
  }
}

async function takeLeases(client: pg.ClientBase): Promise<Lease[]> {
  const { rows } = await client.query<{ name: string }>('SELECT name FROM chain.readers ORDER BY name')
  const leases: Lease[] = []
  for (const { name } of rows) leases.push(await takeLease(client, name, HANDOVER_MS))
  return leases
}

/** Later rows than those of the committed block must not be written. */
async function checkRest(client: pg.ClientBase, source: ChainSource): Promise<void> {
  const head = (await source.head())!
  const { rows } = await client.query<Position>(POSITION_SQL)
  const { num, id } = rows[0] ?? { num: 0, id: '' }
  if (head.id === id) return
  throw new FatalError(
    'USAGE',
    `the database stands at block ${num}, the node at ${head.num}, and rows of another block must not be written: ` +
      'repair from the rows that the state service has, or from a node that stands at the same block',
  )
}
