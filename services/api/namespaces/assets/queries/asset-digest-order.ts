import { Bindings, whereClause } from '../../../database/index.ts'
import type { PageQuery } from '../../paging/index.ts'
import type { AssetSearch } from './asset-search.ts'
import { filterConditions, filtersOf, orderConditions } from './asset-search.ts'
import { KNOWS_TEXTS, metTexts } from './mutable-texts.ts'

/**
 * Assets by the time of their last change, filtered by mutable attributes alone: what is changed last says other things
 * than what never was, so the first that match may be far down the order. But many assets say the same: one of each text
 * is looked at, and each text that matches has its assets in order in an index. Undefined with other filters.
 */
export function updatedByDigest(search: AssetSearch, direction: 'ASC' | 'DESC'): PageQuery | undefined {
  if (!filtersOf(search).every((name) => name === 'mutable_data')) return undefined
  const bindings = new Bindings()
  const conditions = filterConditions(search, bindings)
  const within = whereClause(['a.mutable_digest = m.digest', ...orderConditions(search, bindings)])
  const order = (row: 'a' | 'x'): string => `${row}.updated_at_time ${direction}, ${row}.asset_id`
  return {
    key: 'a.asset_id',
    with: metTexts(conditions),
    from: 'assets.assets a',
    conditions: [],
    order: '',
    ordered: (most) => `SELECT x.asset_id AS k FROM met m CROSS JOIN LATERAL (
        SELECT a.asset_id, a.updated_at_time FROM assets.assets a ${within} ORDER BY ${order('a')} LIMIT ${most}) x
      ORDER BY ${order('x')} LIMIT ${most}`,
    isWhole: KNOWS_TEXTS,
    bindings,
  }
}
