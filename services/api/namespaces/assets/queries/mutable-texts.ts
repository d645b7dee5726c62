/** Different texts of mutable attributes up to which one asset of each is looked at. */
export const MOST_TEXTS = 3_000

/** There are not more of them. */
export const KNOWS_TEXTS = `(SELECT count(*) FROM texts) <= ${MOST_TEXTS}`

/**
 * Many assets say the same of what can change: one of each text is looked at. What follows WITH, with the digests of
 * the texts that meet all conditions on `a.mutable_data` in `met (digest)`; none of them unless `KNOWS_TEXTS`.
 */
export function metTexts(conditions: readonly string[]): string {
  const next = (further: string): string =>
    `SELECT a.mutable_digest FROM assets.assets a WHERE ${further} ORDER BY a.mutable_digest LIMIT 1`
  return `RECURSIVE d(digest) AS ((${next('a.mutable_digest IS NOT NULL')})
      UNION ALL SELECT (${next('a.mutable_digest > d.digest')}) FROM d WHERE d.digest IS NOT NULL),
    texts AS MATERIALIZED (SELECT d.digest FROM d WHERE d.digest IS NOT NULL LIMIT ${MOST_TEXTS + 1}),
    met AS MATERIALIZED (SELECT t.digest FROM texts t CROSS JOIN LATERAL (
        SELECT a.mutable_data FROM assets.assets a WHERE a.mutable_digest = t.digest LIMIT 1) a
      WHERE (${conditions.join(' AND ')}) IS TRUE AND ${KNOWS_TEXTS})`
}
