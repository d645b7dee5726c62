import type { Session } from '../../../database/index.ts'
import type { Sql } from '../../../sql/index.ts'
import { sql } from '../../../sql/index.ts'

/** Runs a query that selects one number, and returns the number as text; 0 for NULL. */
export async function sumOf(session: Session, select: Sql): Promise<string> {
  const rows = await session.query<[string | null]>(sql`SELECT (${select})::text`.render())
  return rows[0]![0] ?? '0'
}
