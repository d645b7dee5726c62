import type { Session } from '../../../database/index.ts'
import { bind, sql, where } from '../../../sql/index.ts'
import { keyAtTime } from '../../nft/filters/index.ts'
import type { AssetValues } from '../../nft/parameters/index.ts'

const minted = { table: 'assets.assets', key: 'asset_id', time: 'minted_at_time' }

/**
 * Counts the assets between bounds of id or mint time, without reading every row. Asset ids are consecutive, so the
 * number is the highest id minus the lowest id within the bounds, plus one. Undefined if the counters show that the
 * database lacks some assets.
 */
export async function countIdRange(session: Session, values: AssetValues): Promise<string | undefined> {
  const { lower_bound: lower, upper_bound: upper, before, after } = values
  const conditions = [
    ...(lower === undefined ? [] : [sql`a.asset_id >= ${bind(lower, 'bigint')}`]),
    ...(upper === undefined ? [] : [sql`a.asset_id < ${bind(upper, 'bigint')}`]),
    ...(before === undefined ? [] : [sql`a.asset_id < ${keyAtTime(minted, before)}`]),
    ...(after === undefined ? [] : [sql`a.asset_id >= ${keyAtTime(minted, after + 1)}`]),
  ]
  const rows = await session.query<[isWhole: boolean | null, count: string]>(
    sql`SELECT (SELECT max(asset_id) - min(asset_id) + 1 FROM assets.assets)
        = (SELECT sum(minted) FROM assets.collection_counts),
      (SELECT coalesce(max(a.asset_id) - min(a.asset_id) + 1, 0)::text FROM assets.assets a ${where(conditions)})`.render(),
  )
  const [isWhole, count] = rows[0]!
  return isWhole === true ? count : undefined
}
