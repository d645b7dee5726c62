import type { Session } from '../../../database/index.ts'
import { Bindings, whereClause } from '../../../database/index.ts'
import type { AttributeFilter } from '../../../endpoint/index.ts'
import type { PageWindow } from '../../paging/index.ts'
import type { AccountMatch } from './account-ranking.ts'
import { accountRow } from './account-ranking.ts'

/** Different texts of attributes up to which one asset of each is looked at. */
const MOST = 5_000
const ARE_MANY = `(SELECT count(*) FROM texts) > ${MOST}`

/** Conditions on an asset, `a`, of filters on its mutable attributes; undefined where others are among them. */
export function mutableConditions(
  attributes: readonly AttributeFilter[],
  bindings: Bindings,
): string[] | undefined {
  const conditions = attributes.flatMap(({ family, containment }) =>
    family === 'mutable_data' && containment !== undefined
      ? [`a.mutable_data @> ${bindings.bind(containment, 'jsonb')}`]
      : [],
  )
  return conditions.length < attributes.length ? undefined : conditions
}

/**
 * Counts the assets of owners, `k`, whose mutable attributes meet conditions, without a look at every asset: an index
 * tells how many of an owner say the same, and one asset of those that do tells what.
 */
export function countedDigests(conditions: readonly string[]): AccountMatch {
  return {
    with: `said AS MATERIALIZED (SELECT k.account, c.digest, c.assets FROM k CROSS JOIN LATERAL (
        SELECT a.mutable_digest AS digest, count(*) AS assets FROM assets.assets a
        WHERE a.owner = k.account AND a.mutable_digest IS NOT NULL GROUP BY 1) c),
      ${countedTexts(conditions)}`,
    join: 'LEFT JOIN l ON l.account = k.account',
    count: 'coalesce(l.assets, 0)',
    isUnknown: ARE_MANY,
  }
}

/** Which of the texts that accounts have `said` meet the conditions, and how often each account, `l`, has said these. */
function countedTexts(conditions: readonly string[]): string {
  return `texts AS MATERIALIZED (SELECT DISTINCT digest FROM said LIMIT ${MOST + 1}),
    met AS MATERIALIZED (SELECT x.digest FROM texts x CROSS JOIN LATERAL (
        SELECT a.mutable_data FROM assets.assets a WHERE a.mutable_digest = x.digest LIMIT 1) a
      WHERE (${conditions.join(' AND ')}) IS TRUE),
    l AS (SELECT s.account, sum(s.assets)::bigint AS assets FROM said s JOIN met USING (digest) GROUP BY 1)`
}

/**
 * The page of accounts that burned the most assets whose mutable attributes meet filters, as JSON text; undefined where
 * the burned assets say too many different things. All that are burned are in one index with what they say.
 * @param accounts makes the conditions on the account that burned an asset, `a`.
 */
export async function burnersByDigest(
  session: Session,
  attributes: readonly AttributeFilter[],
  accounts: (bindings: Bindings) => readonly string[],
  { limit, offset }: PageWindow,
): Promise<string[] | undefined> {
  const bindings = new Bindings()
  const conditions = mutableConditions(attributes, bindings)
  if (conditions === undefined) return undefined
  const burned = ['a.burned_by_account IS NOT NULL', 'a.mutable_digest IS NOT NULL', ...accounts(bindings)]
  const rows = await session.query<[page: string | null, areMany: boolean]>({
    text: `WITH said AS MATERIALIZED (SELECT a.burned_by_account AS account, a.mutable_digest AS digest,
          count(*) AS assets FROM assets.assets a ${whereClause(burned)} GROUP BY 1, 2),
        ${countedTexts(conditions)}
      SELECT (SELECT string_agg(${accountRow('l.account', 'l.assets')}, ',' ORDER BY l.assets DESC, l.account)
        FROM (SELECT * FROM l ORDER BY l.assets DESC, l.account LIMIT ${limit} OFFSET ${offset}) l), ${ARE_MANY}`,
    values: bindings.values,
  })
  const [page, areMany] = rows[0]!
  if (areMany) return undefined
  return page === null ? [] : [page]
}
