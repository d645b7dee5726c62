import type { PageWindow } from '../../lists/index.ts'
import type { OrderValues, PageValues } from '../parameter-groups/index.ts'

/** Undefined when the page is further out than any table is long. */
export function pageWindow({ page, limit }: PageValues): PageWindow | undefined {
  const offset = (page - 1) * limit
  return Number.isSafeInteger(offset + limit) ? { offset, limit } : undefined
}

/** Sort direction of a request, as SQL. */
export function directionOf({ order }: OrderValues): 'ASC' | 'DESC' {
  return order === 'asc' ? 'ASC' : 'DESC'
}
