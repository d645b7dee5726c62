import type pg from 'pg'
import { connectDatabase } from '../../core/database/index.ts'
import type { DatabaseAddress } from '../../core/database/index.ts'
import { FatalError, RetryableError } from '../../core/errors/index.ts'
import { checkLease, takeLease } from '../../filler/index.ts'
import type { Lease } from '../../filler/index.ts'
import { readCoverage } from '../checked/index.ts'
import { repairDerived } from './repair-derived.ts'
import type { RefusedRule } from './repair-derived.ts'
import { digestSnapshot } from '../digest/digest.ts'
import type { ChainSource } from '../sources/index.ts'
import { planRepair } from './repair-plan.ts'
import type { PlannedRepair } from './repair-plan.ts'
import { POSITION_SQL } from './suspects.ts'
import { openSource } from './verify-database.ts'
import type { VerifyDatabaseOptions } from './verify-database.ts'
import { verify } from './verify.ts'
import type { Verified } from './verify.ts'

/** Time to wait for the lease of a filler that is stopping, ms. */
const HANDOVER_MS = 2_000
/** Time for which the node must stay at the committed block of the database before a difference counts, ms. */
const REST_MS = 2_000
/** Interval at which PostgreSQL checks whether the client of a running statement is still connected, ms. */
const CLIENT_CHECK_MS = 1_000

/** Result of a repair. */
export interface Repaired extends Verified {
  readonly repairs: readonly PlannedRepair[]
  /** Derived rules whose rows were rewritten. */
  readonly rebuilt: readonly string[]
  /** Violated derived rules that cannot be repaired. */
  readonly refused: readonly RefusedRule[]
  /** Whether the repair was written; it writes all rows or none. */
  readonly isWritten: boolean
  /** Digests of the database before and after the repair. */
  readonly digests: { readonly before: string; readonly after: string }
}

interface Position {
  readonly num: number
  readonly id: string
  readonly time: bigint
}

/** Plans the repairs of the differences that a comparison found. */
export function planRepairs({ found, absenceDoubt }: Verified): PlannedRepair[] {
  const coverage = readCoverage()
  return found.map((one) => planRepair(one, coverage, absenceDoubt))
}

/**
 * Compares the database and writes the chain's values in one transaction, which holds the lease of every reader: no
 * filler writes meanwhile. If any row or broken rule cannot be corrected, or anything fails, nothing is written. A
 * node is accepted as source only at the committed block.
 *
 * @throws FatalError `READER_LEASE_HELD` while a filler writes.
 * @throws RetryableError `CHAIN_UNREACHABLE` if some rows could not be compared, `VERIFY_UNFINISHED` if it was
 * stopped.
 */
export async function repairDatabase(
  address: DatabaseAddress,
  options: VerifyDatabaseOptions,
): Promise<Repaired> {
  const client = await connectDatabase(address, { applicationName: 'pronghorn verify --repair' })
  // By default PostgreSQL notices a disconnected client only at the end of the client's statement.
  await client.query(`SET client_connection_check_interval = ${CLIENT_CHECK_MS}`).catch(() => undefined)
  const stop = (): void => void client.end().catch(() => undefined)
  options.signal.addEventListener('abort', stop)
  try {
    const repaired = await repairWithin(client, options)
    options.signal.throwIfAborted()
    options.signal.removeEventListener('abort', stop)
    await client.query(repaired.isWritten ? 'COMMIT' : 'ROLLBACK')
    return repaired
  } catch (error) {
    if (options.signal.aborted)
      throw new RetryableError('VERIFY_UNFINISHED', 'nothing was written: the repair was stopped')
    throw error
  } finally {
    options.signal.removeEventListener('abort', stop)
    await client.end().catch(() => undefined)
  }
}

/** Begins the transaction of a repair and writes in it; the caller commits or rolls back. */
async function repairWithin(client: pg.ClientBase, options: VerifyDatabaseOptions): Promise<Repaired> {
  const leases = await takeLeases(client)
  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ')
  for (const lease of leases) await checkLease(client, lease)
  const source = await openSource(client, options)
  if (!source.isFixed) await checkRest(client, source)
  const verified = await verify({ ...options, client, source, stallMs: REST_MS })
  if (verified.report.unfinished !== null) {
    const { code, details } = verified.cause ?? { code: 'VERIFY_UNFINISHED', details: {} }
    throw new RetryableError(code, `nothing was written: ${verified.report.unfinished}`, { details })
  }
  if (!source.isFixed) await checkRest(client, source)
  return { ...verified, ...(await writeRepairs(client, verified)) }
}

/**
 * Writes the repairs of a comparison in the transaction of the comparison. The caller rolls back if a repair is
 * impossible.
 */
export async function writeRepairs(
  client: pg.ClientBase,
  verified: Verified,
): Promise<Omit<Repaired, keyof Verified>> {
  const before = (await digestSnapshot(client)).digest
  const repairs = planRepairs(verified)
  for (const { statements } of repairs)
    for (const { text, values } of statements) await client.query(text, [...values])
  const { rebuilt, refused } = await repairDerived(client, verified.unproven)
  const isWritten = refused.length === 0 && repairs.every(({ impossible }) => impossible === null)
  const hasChanged = isWritten && (repairs.length > 0 || rebuilt.length > 0)
  const after = hasChanged ? (await digestSnapshot(client)).digest : before
  return { repairs, rebuilt, refused, isWritten, digests: { before, after } }
}

async function takeLeases(client: pg.ClientBase): Promise<Lease[]> {
  const { rows } = await client.query<{ name: string }>('SELECT name FROM chain.readers ORDER BY name')
  const leases: Lease[] = []
  for (const { name } of rows) leases.push(await takeLease(client, name, HANDOVER_MS))
  return leases
}

/**
 * Refuses a node whose head is not the committed block of the database: a repair must not write rows of another block.
 */
async function checkRest(client: pg.ClientBase, source: ChainSource): Promise<void> {
  const head = (await source.head())!
  const { rows } = await client.query<Position>(POSITION_SQL)
  const { num, id } = rows[0] ?? { num: 0, id: '' }
  if (head.id === id) return
  throw new FatalError(
    'USAGE',
    `the database is at block ${num}, the node at block ${head.num}, and a repair must not write rows of another block: ` +
      `use --state, which reads the rows of the state service, or a node at block ${num}`,
  )
}
