import { joinSql, sql, where } from '../sql/index.ts'
import type { Sql } from '../sql/index.ts'
import { conditionAmong, withoutImplied } from './filters/index.ts'
import type { Filter } from './filters/index.ts'
import { foundRows } from './statement.ts'
import type { StatementRequest } from './statement.ts'

/**
 * Query of the number of rows that match all filters, as text.
 * @param through filter whose rows another table finds (`Filter.through`). Undefined if the list's own table finds the
 * rows.
 */
export function countOf(
  { source, filters }: Pick<StatementRequest, 'source' | 'filters'>,
  through?: Filter,
): Sql {
  const { from, conditions } = foundRows(source.from, filters, through)
  if (through) return sql`SELECT count(*)::text FROM ${from} ${where(conditions)}`
  const counts = partsOf(withoutImplied(filters)).map(
    (all) => sql`(SELECT count(*) FROM ${source.from} ${where(all)})`,
  )
  return sql`SELECT (${joinSql(counts, ' + ')})::text`
}

/** Conditions of all combinations of the filters' parts. The combinations are disjoint and cover all matching rows. */
function partsOf(filters: readonly Filter[]): Sql[][] {
  return filters.reduce<Sql[][]>(
    (lists, filter) => {
      const own = filter.parts
        ? filter.parts.map((part) => [
            part.filter.found ?? part.filter.condition,
            ...(part.apart ? [part.apart] : []),
          ])
        : [[conditionAmong(filter, filters)]]
      return lists.flatMap((list) => own.map((conditions) => [...list, ...conditions]))
    },
    [[]],
  )
}
