import { Sql } from '../../services/api/sql/sql.ts'
import { choosePath } from '../../services/api/planner/choose.ts'
import type { AccessPath, ListRequest } from '../../services/api/planner/choose.ts'
import type { ChoosePath } from '../../services/api/planner/list.ts'

/** Settings that force each access path; all of them must return the same page. */
export const forcedPaths: Readonly<Record<string, ChoosePath>> = {
  'as chosen': choosePath,
  gathering: () => ({ kind: 'gather', expected: 1, reason: 'forced' }),
  'walking without a budget': (request) => walked(request, undefined),
  'walking with a tiny budget': (request) => walked(request, 3),
  'merging more ranges than were estimated': (request) => underestimated(walked(request, undefined)),
  'the same with a budget': (request) => underestimated(walked(request, 40)),
  'through another table, where it has the order': (request) => walked(byKeyAlone(request), 40),
}

/** A request that can be walked by the key alone, or through another table. */
function byKeyAlone(request: ListRequest): ListRequest {
  const { source } = request
  const indexes = source.indexes.filter(({ columns }) => columns.join() === source.key)
  return { ...request, source: { ...source, indexes } }
}

/** The path with an estimate of one value for each query of values: all but the first of their ranges were not expected. */
function underestimated(path: AccessPath): AccessPath {
  if (path.kind === 'gather') return path
  const walks = path.walks.map((walk) => {
    const prefix = walk.prefix.map((equals) =>
      equals.values instanceof Sql ? { ...equals, count: 1 } : equals,
    )
    return { ...walk, prefix, ranges: prefix.reduce((product, { count }) => product * count, 1) }
  })
  return { ...path, walks }
}

/** The walk that a request would have if nothing could be gathered; without an index of the order it is gathered. */
function walked(request: ListRequest, budget: number | undefined): AccessPath {
  const filters = request.filters.map((filter) => ({ ...filter, isIndexed: false }))
  const path = choosePath({ ...request, filters })
  if (path.kind === 'gather' || request.seen) return path
  return { ...path, budget }
}
