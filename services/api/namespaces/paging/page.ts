import type { Values } from '../../endpoint/index.ts'
import type { PageWindow } from '../../lists/index.ts'

/** Undefined when the page is further out than any table is long. */
export function pageWindow(values: Values): PageWindow | undefined {
  const limit = values.int('limit')!
  const offset = (values.int('page')! - 1) * limit
  return Number.isSafeInteger(offset + limit) ? { offset, limit } : undefined
}

/** Sort direction of a request, as SQL. */
export function directionOf(values: Values): 'ASC' | 'DESC' {
  return values.text('order') === 'asc' ? 'ASC' : 'DESC'
}
