import { bind, raw, sql, where } from '../../../database/index.ts'
import type { Sql } from '../../../database/index.ts'
import type { Driven, Order } from '../../../lists/index.ts'
import type { AssetRequest } from './asset-filters.ts'
import { ASSETS, assetsWithoutValue } from './asset-source.ts'
import { templateScope } from './template-scope.ts'

/** The order by mint number, across templates. */
export function mintOrder(direction: 'ASC' | 'DESC', request: AssetRequest): Order {
  const { values, statistics } = request
  const most = values.max_template_mint
  const none = statistics.equal(ASSETS, 'template_mint', [null]) / statistics.rows(ASSETS)
  const isOfTemplates = direction === 'DESC' && most === undefined && values.template_id !== null
  return {
    direction,
    branches: [
      {
        rank: 0,
        column: 'template_mint',
        conditions: [
          raw('a.template_mint IS NOT NULL'),
          // Those without a number, which the filter lets pass, are in the other branch.
          ...(most === undefined ? [] : [sql`a.template_mint <= ${bind(most, 'bigint')}`]),
        ],
        share: 1 - none,
        ...(isOfTemplates ? { driven: lastMints(request) } : {}),
      },
      assetsWithoutValue('integer', [raw('a.template_mint IS NULL')], none),
    ],
    sorted: { value: raw('a.template_mint') },
  }
}

/**
 * The highest mint numbers, found by the supplies of templates: the last mint of a template has its supply as its number,
 * and those before it follow downwards, by their ids.
 */
function lastMints(request: AssetRequest): Driven {
  const { conditions, applied, isWide, templates, assets } = templateScope(request)
  return {
    applied,
    rows: assets,
    // Of all templates the first are read by an index.
    drivers: isWide ? 0 : templates,
    rowsOfEach: assets / Math.max(1, templates),
    isBounded: true,
    query: (checks, wanted, budget) => sql`WITH least AS MATERIALIZED (${leastMint(conditions, budget)})
      (SELECT a.asset_id AS k, a.template_mint AS v
        FROM (SELECT t.template_id, t.issued_supply - (SELECT mint FROM least) + 1 AS mints FROM assets.templates t
            ${where([raw('t.issued_supply >= (SELECT mint FROM least)'), ...conditions])}) t
          CROSS JOIN LATERAL (SELECT l.* FROM assets.assets l WHERE l.template_id = t.template_id
            ORDER BY l.asset_id DESC LIMIT t.mints) a
        ${where(checks)} ORDER BY a.template_mint DESC FETCH FIRST ${raw(String(wanted))} ROWS WITH TIES)
      UNION ALL SELECT NULL, mint - 1 FROM least WHERE mint > 1`,
  }
}

/** Query of the highest `mint` that at least so many assets of templates have, or a higher one; 1 without a number. */
function leastMint(conditions: readonly Sql[], rows: number | undefined): Sql {
  if (rows === undefined) return raw('SELECT 1::bigint AS mint')
  const wanted = raw(String(rows))
  // The first templates in this order, so many that the next one has no such mint.
  return sql`SELECT coalesce((SELECT div(s.mints - ${wanted}, s.place)::bigint + 1 FROM (
      SELECT row_number() OVER w AS place, sum(t.issued_supply) OVER w AS mints, lead(t.issued_supply, 1, 0::bigint) OVER w AS next
      FROM assets.templates t ${where([raw('t.issued_supply > 0'), ...conditions])}
      WINDOW w AS (ORDER BY t.issued_supply DESC, t.template_id DESC ROWS UNBOUNDED PRECEDING)) s
    WHERE s.mints - s.place * s.next >= ${wanted} LIMIT 1), 1) AS mint`
}
