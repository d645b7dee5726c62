import type { Session, Sql } from '../../../database/index.ts'
import { sql } from '../../../database/index.ts'

/** The one number that a query selects, as text; 0 for null. */
export async function sumOf(session: Session, select: Sql): Promise<string> {
  const rows = await session.query<[string | null]>(sql`SELECT (${select})::text`.render())
  return rows[0]![0] ?? '0'
}
