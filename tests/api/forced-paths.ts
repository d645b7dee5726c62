import { choosePath } from '../../services/api/lists/index.ts'
import type { AccessPath, ChoosePath, ListRequest } from '../../services/api/lists/index.ts'

/** Settings that force each access path; all of them must return the same page. */
export const FORCED_PATHS: Readonly<Record<string, ChoosePath>> = {
  'as chosen': choosePath,
  gathering: () => ({ kind: 'gather', expected: 1, reason: 'forced' }),
  'walking without a budget': (request) => walked(request, undefined),
  'walking with a budget': (request) => walked(request, 40),
  'walking with a tiny budget': (request) => walked(request, 3),
}

/** The walk that a request would have if nothing could be gathered; without an index of the order it is gathered. */
function walked(request: ListRequest, budget: number | undefined): AccessPath {
  const filters = request.filters.map((filter) => ({ ...filter, isIndexed: false }))
  const path = choosePath({ ...request, filters })
  if (path.kind === 'gather' || request.seen) return path
  return { ...path, budget }
}
