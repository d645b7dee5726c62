import { bind, raw, sql, where } from '../../../sql/index.ts'
import type { Sql } from '../../../sql/index.ts'
import type { Driven, Order } from '../../../planner/sources/index.ts'
import type { AssetRequest } from './asset-filters.ts'
import { ASSETS } from '../tables.ts'
import { assetsWithoutValue } from './asset-source.ts'
import { templateScope } from './template-scope.ts'

/** The order by mint number, across templates. */
export function mintOrder(direction: 'ASC' | 'DESC', request: AssetRequest): Order {
  const { values, statistics } = request
  const most = values.max_template_mint
  const none = statistics.equal(ASSETS, 'template_mint', [null]) / statistics.rows(ASSETS)
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
        ...mintsOfTemplates(direction, request),
      },
      assetsWithoutValue('integer', [raw('a.template_mint IS NULL')], none),
    ],
    sorted: { value: raw('a.template_mint') },
  }
}

/** What is read of each template so that there are enough mints: its supply is the number of its last mint. */
interface MintBound {
  /** Query of the `mint` that bounds them, so that they are at least so many; without a number, all. */
  bound(templates: readonly Sql[], rows: number | undefined): Sql
  /** Conditions of the templates, `t`, with assets within the bound. */
  readonly templates: readonly Sql[]
  /** These assets of a template, `a`: numbers ascend with the ids. */
  readonly assets: Sql
  /** Query of the number behind the bound, where there is one. */
  readonly behind: Sql
}

/**
 * The first assets in the order, template by template: the index has those of all templates. Upwards each template has some
 * of the first numbers, so this is for a part of the templates.
 */
function mintsOfTemplates(direction: 'ASC' | 'DESC', request: AssetRequest): { readonly driven?: Driven } {
  const {
    template_id: id,
    template_mint: exact,
    min_template_mint: low,
    max_template_mint: high,
  } = request.values
  const { conditions, applied, isWide, templates, assets } = templateScope(request)
  const isUpwards = direction === 'ASC'
  // Numbers in front of a requested one would be read in vain.
  const isInVain = isUpwards ? low !== undefined || isWide : high !== undefined
  if (id === null || exact !== undefined || isInVain) return {}
  const mints = isUpwards ? firstMints(high) : lastMints(low ?? 1)
  const driven: Driven = {
    applied,
    rows: assets,
    // Of all templates the first are read by an index.
    drivers: isWide ? 0 : templates,
    least: isUpwards ? templates : 0,
    rowsOfEach: assets / Math.max(1, templates),
    isBounded: true,
    query: (checks, wanted, budget) => sql`WITH bound AS MATERIALIZED (${mints.bound(conditions, budget)})
      (SELECT a.asset_id AS k, a.template_mint AS v
        FROM (SELECT t.template_id, t.issued_supply FROM assets.templates t ${where([...mints.templates, ...conditions])}) t
          CROSS JOIN LATERAL (${mints.assets}) a
        ${where(checks)} ORDER BY a.template_mint ${raw(direction)} FETCH FIRST ${raw(String(wanted))} ROWS WITH TIES)
      UNION ALL ${mints.behind}`,
  }
  return { driven }
}

/** The highest numbers, down to one. */
function lastMints(low: number): MintBound {
  const lowest = bind(low, 'bigint')
  return {
    bound(templates, rows) {
      if (rows === undefined) return sql`SELECT ${lowest} AS mint`
      const wanted = raw(String(rows))
      // The first templates, so many that the next one has no such number.
      return sql`SELECT greatest(${lowest}, (SELECT div(s.mints - ${wanted}, s.place)::bigint + 1 FROM (
          SELECT row_number() OVER w AS place, sum(t.issued_supply) OVER w AS mints, lead(t.issued_supply, 1, 0::bigint) OVER w AS next
          FROM assets.templates t ${where([raw('t.issued_supply > 0'), ...templates])}
          WINDOW w AS (ORDER BY t.issued_supply DESC, t.template_id DESC ROWS UNBOUNDED PRECEDING)) s
        WHERE s.mints - s.place * s.next >= ${wanted} LIMIT 1)) AS mint`
    },
    templates: [raw('t.issued_supply >= (SELECT mint FROM bound)')],
    assets: raw(`SELECT l.* FROM assets.assets l WHERE l.template_id = t.template_id
      ORDER BY l.asset_id DESC LIMIT t.issued_supply - (SELECT mint FROM bound) + 1`),
    behind: sql`SELECT NULL, mint - 1 FROM bound WHERE mint > ${lowest}`,
  }
}

/** The lowest numbers, up to one. */
function firstMints(high: number | undefined): MintBound {
  const supply =
    high === undefined ? raw('t.issued_supply') : sql`least(t.issued_supply, ${bind(high, 'bigint')})`
  return {
    bound(templates, rows) {
      const from = sql`FROM assets.templates t ${where([raw('t.issued_supply > 0'), ...templates])}`
      if (rows === undefined) return sql`SELECT max(${supply}) AS mint, max(${supply}) AS last ${from}`
      // Of the templates with less all are read, of the others an equal share of the rest.
      return sql`SELECT least(max(s.supply),
          max(ceil((${raw(String(rows))} - s.mints + s.supply) / (s.templates - s.place + 1)))::bigint) AS mint, max(s.supply) AS last
        FROM (SELECT ${supply} AS supply, count(*) OVER () AS templates,
            row_number() OVER w AS place, sum(${supply}) OVER w AS mints
          ${from} WINDOW w AS (ORDER BY t.issued_supply, t.template_id ROWS UNBOUNDED PRECEDING)) s`
    },
    templates: [],
    assets:
      raw(`SELECT l.* FROM assets.assets l WHERE l.template_id = t.template_id AND l.template_mint IS NOT NULL
      ORDER BY l.asset_id LIMIT (SELECT mint FROM bound)`),
    behind: raw('SELECT NULL, mint + 1 FROM bound WHERE mint < last'),
  }
}
