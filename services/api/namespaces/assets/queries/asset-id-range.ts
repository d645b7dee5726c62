import type { Session } from '../../../database/index.ts'
import { Bindings, whereClause } from '../../../database/index.ts'
import type { Values } from '../../../endpoint/index.ts'
import { keyBoundConditions, keyBounds } from '../../paging/index.ts'

const MINTED = { table: 'assets.assets', key: 'asset_id', time: 'minted_at_time' }

/**
 * The number of assets between bounds of id or mint time, as text. Ids are given without gaps: where the counters say
 * that none is missing, the lowest and highest id between the bounds tell how many they are. Undefined otherwise.
 */
export async function countIdRange(session: Session, values: Values): Promise<string | undefined> {
  const bindings = new Bindings()
  const lower = values.int('lower_bound')
  const upper = values.int('upper_bound')
  const conditions = [
    ...(lower === undefined ? [] : [`a.asset_id >= ${bindings.bind(lower, 'bigint')}`]),
    ...(upper === undefined ? [] : [`a.asset_id < ${bindings.bind(upper, 'bigint')}`]),
    ...keyBoundConditions(await keyBounds(session, values, MINTED), 'a.asset_id', bindings),
  ]
  const rows = await session.query<[isWhole: boolean | null, count: string]>({
    text: `SELECT (SELECT max(asset_id) - min(asset_id) + 1 FROM assets.assets)
        = (SELECT sum(minted) FROM assets.collection_counts),
      (SELECT coalesce(max(a.asset_id) - min(a.asset_id) + 1, 0)::text FROM assets.assets a ${whereClause(conditions)})`,
    values: bindings.values,
  })
  const [isWhole, count] = rows[0]!
  return isWhole === true ? count : undefined
}
