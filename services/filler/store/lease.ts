import { hostname } from 'node:os'
import type pg from 'pg'
import { FatalError } from '../../core/errors/index.ts'

/** Time in ms for which a new holder waits until the server notices that the session of the last holder is gone. */
const HANDOVER_MS = 5_000
const RETRY_MS = 200

/** Exclusive right to write for a reader. */
export interface Lease {
  readonly reader: string
  /** Fencing number. Every commit checks that no newer holder has a greater number. */
  readonly fence: bigint
}

/**
 * Takes the lease of a reader: an advisory lock on the writing session, so that a disconnected session cannot commit,
 * and a fencing number that grows with every holder.
 *
 * @throws FatalError `READER_LEASE_HELD` naming the holder.
 */
export async function takeLease(
  client: pg.ClientBase,
  reader: string,
  handoverMs = HANDOVER_MS,
): Promise<Lease> {
  const deadline = performance.now() + handoverMs
  for (;;) {
    const { rows } = await client.query<{ locked: boolean }>(
      "SELECT pg_try_advisory_lock(hashtextextended('pronghorn reader ' || $1, 0)) AS locked",
      [reader],
    )
    if (rows[0]!.locked) break
    if (performance.now() > deadline) throw await describeHolder(client, reader)
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
  }
  const holder = `process ${process.pid} on ${hostname()}`
  const { rows } = await client.query<{ fence: bigint }>(
    `INSERT INTO chain.leases AS l (reader, fence, holder, acquired_at) VALUES ($1, 1, $2, now())
     ON CONFLICT (reader) DO UPDATE SET fence = l.fence + 1, holder = EXCLUDED.holder, acquired_at = EXCLUDED.acquired_at
     RETURNING fence`,
    [reader, holder],
  )
  return { reader, fence: rows[0]!.fence }
}

async function describeHolder(client: pg.ClientBase, reader: string): Promise<FatalError> {
  const { rows } = await client.query<{ holder: string; since: string }>(
    'SELECT holder, to_char(acquired_at AT TIME ZONE \'UTC\', \'YYYY-MM-DD"T"HH24:MI:SS"Z"\') AS since FROM chain.leases WHERE reader = $1',
    [reader],
  )
  const holder = rows[0] ? `${rows[0].holder}, since ${rows[0].since}` : 'an unknown process'
  return new FatalError(
    'READER_LEASE_HELD',
    `reader ${reader} is being written by ${holder}; nothing was changed`,
  )
}

/**
 * Checks inside a transaction that the lease is still the newest, and share-locks the lease row until the transaction
 * ends.
 *
 * @throws FatalError `READER_LEASE_LOST`.
 */
export async function checkLease(client: pg.ClientBase, lease: Lease): Promise<void> {
  const { rowCount } = await client.query({
    name: 'check-lease',
    text: 'SELECT 1 FROM chain.leases WHERE reader = $1 AND fence = $2 FOR SHARE',
    values: [lease.reader, lease.fence],
  })
  if (rowCount !== 1) {
    throw new FatalError(
      'READER_LEASE_LOST',
      `another process took the lease of reader ${lease.reader} (this process has fence ${lease.fence}); nothing was written`,
    )
  }
}
