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
          // Assets without a mint number pass the filter, but belong to the other segment.
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

/**
 * Bound of the mint numbers that are read from each template. A template's supply is its highest mint number, so the
 * supplies tell how many assets are within a bound.
 */
interface MintBound {
  /** Query of the `mint` that bounds at least `rows` assets of the templates; without `rows` it bounds all. */
  bound(templates: readonly Sql[], rows: number | undefined): Sql
  /** Conditions on templates, `t`, that have assets within the bound. */
  readonly templates: readonly Sql[]
  /** Query of the assets of a template, `t`, within the bound. Mint numbers ascend with ids. */
  readonly assets: Sql
  /**
   * Query of the first mint number beyond the bound, without a key: the list continues from it. No row if nothing lies
   * beyond.
   */
  readonly behind: Sql
}

/**
 * The first assets in mint order, read template by template. In ascending order only for a filter that selects some of
 * the templates: otherwise every template has low numbers, and the index on mint numbers is faster.
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
  // Each template is read from its lowest mint number (ascending) or its highest (descending), so a bound at that end
  // would make the first rows useless.
  const isInVain = isUpwards ? low !== undefined || isWide : high !== undefined
  if (id === null || exact !== undefined || isInVain) return {}
  const mints = isUpwards ? firstMints(high) : lastMints(low ?? 1)
  const driven: Driven = {
    applied,
    rows: assets,
    // Without a filter on templates, an index has the first templates of the order, so none has to be collected.
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

/** Bound for descending order: the highest mint numbers, down to `low`. */
function lastMints(low: number): MintBound {
  const lowest = bind(low, 'bigint')
  return {
    bound(templates, rows) {
      if (rows === undefined) return sql`SELECT ${lowest} AS mint`
      const wanted = raw(String(rows))
      // Takes the templates with the highest supply until the next template has no mint number above the bound.
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

/** Bound for ascending order: the lowest mint numbers, up to `high`. */
function firstMints(high: number | undefined): MintBound {
  const supply =
    high === undefined ? raw('t.issued_supply') : sql`least(t.issued_supply, ${bind(high, 'bigint')})`
  return {
    bound(templates, rows) {
      const from = sql`FROM assets.templates t ${where([raw('t.issued_supply > 0'), ...templates])}`
      if (rows === undefined) return sql`SELECT max(${supply}) AS mint, max(${supply}) AS last ${from}`
      // Templates with a supply below the bound give all their assets; the others share the rest equally.
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
