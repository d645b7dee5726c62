import { raw } from '../database/index.ts'
import type { Sql } from '../database/index.ts'

/** Numbers of rows are part of the text: PostgreSQL plans by them. */
export function number(value: number): Sql {
  return raw(String(value))
}
