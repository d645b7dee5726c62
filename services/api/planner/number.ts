import { raw } from '../sql/index.ts'
import type { Sql } from '../sql/index.ts'

/** Numbers of rows are part of the text: PostgreSQL plans by them. */
export function number(value: number): Sql {
  return raw(String(value))
}
