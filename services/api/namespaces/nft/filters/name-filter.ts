import { raw } from '../../../sql/index.ts'
import type { Filter } from '../../../planner/filters/index.ts'
import type { Statistics } from '../../../planner/index.ts'
import { isOneOf } from '../conditions/index.ts'

/** The table of collections, or a table whose rows belong to collections. */
export interface OfCollections {
  /** Schema-qualified name, as statistics know it. */
  readonly table: string
  readonly alias: string
  /** Column of the collection's name. */
  readonly column: string
}

/** Filter of a column of names. */
export function nameFilter(
  name: string,
  names: readonly string[],
  statistics: Statistics,
  { table, alias, column }: OfCollections,
): Filter {
  return {
    name,
    condition: isOneOf(raw(`${alias}.${column}`), names),
    rows: statistics.equal(table, column, names),
    equals: { column, values: names, type: 'text', count: names.length },
    columns: [column],
    isIndexed: true,
  }
}
