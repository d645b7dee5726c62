import type { Values } from '../../../endpoint/index.ts'
import type { ListOrder } from './branches.ts'
import { nullableOrder, plainOrder } from './branches.ts'
import type { ListingTable } from './listing-table.ts'

/** Characters of a name up to which an index holds it whole: an entry of an index cannot be as long as a name can. */
const INDEXED_NAME = 100

/** Whether listings are sorted by their lowest mint number. */
export function isByMint(values: Values): boolean {
  return values.text('sort') === 'template_mint' || values.text('sort') === 'effective_mint'
}

/**
 * The order that a request asks for, but for prices that are not simply a column.
 * @param highest no listing that matches has a lowest mint number above it.
 */
export function sortOrder(table: ListingTable, values: Values, highest?: bigint): ListOrder {
  switch (values.text('sort')) {
    case 'updated':
      return plainOrder('l.updated_at_time')
    case 'ending':
      return plainOrder('l.end_time')
    case table.parameter:
      // Ids grow with time, whose index serves bounds of time as well.
      return plainOrder(values.has('before') || values.has('after') ? 'l.created_at_time' : table.key)
    case 'price':
      return plainOrder('l.price')
    case 'template_mint':
    case 'effective_mint':
      return mintOrder(table, values, highest)
    case 'name':
      return nameOrder()
    default:
      return plainOrder('l.created_at_time')
  }
}

/** By name: what an index holds whole, and the few names that are longer. */
function nameOrder(): ListOrder {
  const { branches, last } = nullableOrder('l.name')
  const cuts = [`length(l.name) <= ${INDEXED_NAME}`, `length(l.name) > ${INDEXED_NAME}`]
  const cut = branches.flatMap((branch) => cuts.map((condition) => ({ ...branch, conditions: [condition] })))
  return { branches: cut, last }
}

/** By the lowest mint number, which is not above the highest. */
function mintOrder({ mints: [lowest] }: ListingTable, values: Values, highest?: bigint): ListOrder {
  const { branches, last } = nullableOrder(lowest)
  const least = values.int('min_template_mint') ?? values.int('min_effective_mint')
  const most = values.int('max_template_mint') ?? values.int('max_effective_mint')
  const bounds = [
    ...(least === undefined ? [] : [`${lowest} >= ${least}::bigint`]),
    ...(most === undefined ? [] : [`${lowest} <= ${most}::bigint`]),
    ...(highest === undefined ? [] : [`${lowest} <= ${highest}::bigint`]),
  ]
  const bounded = branches.map((branch) => ({ ...branch, conditions: [...branch.conditions, ...bounds] }))
  const isNeverNull =
    values.text('sort') === 'effective_mint' ||
    ['min_template_mint', 'min_effective_mint', 'max_effective_mint'].some((name) => values.has(name))
  return isNeverNull ? { branches: bounded } : { branches: bounded, last }
}
