import { Sql } from '../../services/api/sql/sql.ts'
import { choosePath } from '../../services/api/planner/choose.ts'
import type { AccessPath, ListRequest } from '../../services/api/planner/access-path.ts'
import type { ChoosePath } from '../../services/api/planner/list.ts'

/** Planner overrides by name. Each forces one access path; all must return the same page. */
export const forcedPaths: Readonly<Record<string, ChoosePath>> = {
  'the access path that the planner chooses': choosePath,
  collecting: () => ({ kind: 'collect', expected: 1, reason: 'forced' }),
  'scanning without a budget': (request) => scanned(request, undefined),
  'scanning with a tiny budget': (request) => scanned(request, 3),
  'merging more ranges than were estimated': (request) => underestimated(scanned(request, undefined)),
  'merging more ranges, with a budget': (request) => underestimated(scanned(request, 40)),
  'through another table that has the order': (request) => scanned(byKeyAlone(request), 40),
  'through another table, without a budget': (request) => scanned(byKeyAlone(request), undefined),
}

/** Removes all indexes except the key's: the list can be scanned only by key, or via another table. */
function byKeyAlone(request: ListRequest): ListRequest {
  const { source } = request
  const indexes = source.indexes.filter(({ columns }) => columns.join() === source.key)
  return { ...request, source: { ...source, indexes } }
}

/**
 * Sets the estimated number of values of every subquery to one: each subquery then returns more values than estimated.
 */
function underestimated(path: AccessPath): AccessPath {
  if (path.kind === 'collect') return path
  const scans = path.scans.map((scan) => {
    const prefix = scan.prefix.map((equals) =>
      equals.values instanceof Sql ? { ...equals, count: 1 } : equals,
    )
    return { ...scan, prefix, ranges: prefix.reduce((product, { count }) => product * count, 1) }
  })
  return { ...path, scans }
}

/**
 * Access path if no filter is indexed: an index scan in the order of the list, or collect and sort if no index has this
 * order.
 */
function scanned(request: ListRequest, budget: number | undefined): AccessPath {
  const filters = request.filters.map((filter) => ({ ...filter, isIndexed: false }))
  const path = choosePath({ ...request, filters })
  if (path.kind === 'collect' || request.seen) return path
  return { ...path, budget }
}
