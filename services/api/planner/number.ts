import { raw } from '../sql/index.ts'
import type { Sql } from '../sql/index.ts'

/** Puts a row count into the SQL text as a literal, not as a parameter: PostgreSQL plans by LIMIT and OFFSET values. */
export function number(value: number): Sql {
  return raw(String(value))
}
