import type { Session } from './server.ts'

/** SQL expression that identifies the snapshot of a statement: two statements with the same value see the same rows, because it contains the set of finished transactions and the server's start time. Null on a standby, whose snapshots lack a part of that.
 */
export const SNAPSHOT = `CASE WHEN NOT pg_is_in_recovery()
  THEN concat(pg_postmaster_start_time(), ' ', pg_current_snapshot()) END`

/** Start time of the server; then the oldest running transaction, the first unassigned id, all running ones. */
const PARTS = /^(.*) (\d+):(\d+):([\d,]*)$/

/** Canonical form of a value of `SNAPSHOT`: running transactions at the end are left out, because they are equivalent to transactions that have not begun. Undefined on a standby.
 */
export function snapshotOf(named: string | null): string | undefined {
  if (named === null) return undefined
  const parts = PARTS.exec(named)
  if (!parts) return named
  const [, run, , next, list] = parts
  const running = list === '' ? [] : list!.split(',').map(BigInt)
  let first = BigInt(next!)
  while (running.length > 0 && running.at(-1) === first - 1n) {
    running.pop()
    first--
  }
  return `${run!} ${first}:${running.join(',')}`
}

/** The current snapshot of the server that a session reads from. Undefined on a standby. */
export async function currentSnapshot(session: Session): Promise<string | undefined> {
  const [row] = await session.query<[string | null]>({
    name: 'snapshot',
    text: `SELECT ${SNAPSHOT}`,
    values: [],
  })
  return snapshotOf(row?.[0] ?? null)
}
