import type { Session } from './server.ts'

/**
 * SQL expression that names the state of the database that a statement sees: two statements with the same name see the
 * same rows, for it says which transactions have ended, of which run of the server. Null on a standby, whose snapshots
 * do not tell all of that.
 */
export const MOMENT = `CASE WHEN NOT pg_is_in_recovery()
  THEN concat(pg_postmaster_start_time(), ' ', pg_current_snapshot()) END`

/** A run of the server; then of its transactions the first that runs, the first that has no number yet, all that run. */
const PARTS = /^(.*) (\d+):(\d+):([\d,]*)$/

/**
 * The one name of a moment for all that `MOMENT` gives it: the transactions that began last and still run are left
 * out, for nothing tells them from those that are still to begin. Undefined on a standby.
 */
export function momentOf(named: string | null): string | undefined {
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

/** The moment of the database now, of the server that a session reads from. Undefined where that is a standby. */
export async function currentMoment(session: Session): Promise<string | undefined> {
  const [row] = await session.query<[string | null]>({ name: 'moment', text: `SELECT ${MOMENT}`, values: [] })
  return momentOf(row?.[0] ?? null)
}
