import type { AccountMatch } from './account-ranking.ts'

/** Different texts of attributes up to which one asset of each is looked at. */
const MOST = 5_000

/**
 * Counts the assets of accounts, `k`, whose mutable attributes meet conditions, without a look at every asset: an index
 * tells how many of an account say the same, and one asset of those that do tells what.
 * @param column what accounts are to the assets: `a.owner` or `a.burned_by_account`.
 * @param conditions on an asset, `a`, about its mutable attributes alone.
 */
export function countedDigests(column: string, conditions: readonly string[]): AccountMatch {
  return {
    with: `said AS MATERIALIZED (SELECT k.account, c.digest, c.assets FROM k CROSS JOIN LATERAL (
        SELECT a.mutable_digest AS digest, count(*) AS assets FROM assets.assets a
        WHERE ${column} = k.account AND a.mutable_digest IS NOT NULL GROUP BY 1) c),
      texts AS MATERIALIZED (SELECT DISTINCT digest FROM said LIMIT ${MOST + 1}),
      met AS MATERIALIZED (SELECT x.digest FROM texts x CROSS JOIN LATERAL (
          SELECT a.mutable_data FROM assets.assets a WHERE a.mutable_digest = x.digest LIMIT 1) a
        WHERE (${conditions.join(' AND ')}) IS TRUE),
      l AS (SELECT s.account, sum(s.assets)::bigint AS assets FROM said s JOIN met USING (digest) GROUP BY 1),`,
    join: 'LEFT JOIN l ON l.account = k.account',
    count: 'coalesce(l.assets, 0)',
    isUnknown: `(SELECT count(*) FROM texts) > ${MOST}`,
  }
}
