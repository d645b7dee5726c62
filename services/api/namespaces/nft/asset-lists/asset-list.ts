import type { Session } from '../../../database/index.ts'
import type { AttributeFilter } from '../../../request/index.ts'
import type { Filter } from '../../../planner/filters/index.ts'
import type { List, ListReader, Statistics } from '../../../planner/index.ts'
import type { Order, Segment, DrivingRows, Source, DrivingTable } from '../../../planner/sources/index.ts'
import { resolveTemplates } from '../filters/index.ts'
import { assetFilters, timeOfSort } from './asset-filters.ts'
import type { AssetRequest } from './asset-filters.ts'
import { ASSETS, SCHEMAS } from '../tables.ts'
import type { AssetValues } from '../parameters/index.ts'
import { raw, sql, PreparedNames, where, bind } from '../../../sql/index.ts'
import type { Sql } from '../../../sql/index.ts'
import { rowsByDrivingTable } from '../../../planner/sources/index.ts'
import { TEMPLATE_NAME_HEAD } from '../template-name.ts'
import { templateScope } from './template-scope.ts'

/** A request for assets. The filters on template data are not yet resolved to template ids. */
export interface AssetQuery {
  readonly session: Session
  readonly values: AssetValues
  readonly attributes: readonly AttributeFilter[]
}

/** A list of assets, and the request from which `assetFilters` created the filters of the list. */
export interface AssetList {
  readonly list: List
  readonly request: AssetRequest
}

type OrderOf = (request: AssetRequest, filters: readonly Filter[], session: Session) => Order | Promise<Order>

/**
 * List of the requested assets. One statement first resolves filters on templates to template ids.
 * @param orderOf returns the order; default: the sort of the request.
 */
export async function assetList(
  reader: ListReader,
  trigrams: boolean,
  { session, values, attributes }: AssetQuery,
  orderOf: OrderOf = assetOrder,
): Promise<AssetList> {
  const { statistics } = reader
  await statistics.refresh(session)
  const question = { values, attributes, trigrams }
  const templates = await resolveTemplates(session, question)
  const request = { ...question, templates, statistics }
  const filters = assetFilters(request)
  const order = await orderOf(request, filters, session)
  return { list: { source: assetSource(statistics), table: ASSETS, filters, order }, request }
}

/** The number of requested assets, as text. */
export async function countAssets(reader: ListReader, trigrams: boolean, query: AssetQuery): Promise<string> {
  const { list } = await assetList(reader, trigrams, query)
  return reader.count(query.session, list)
}

/**
 * SQL of an asset's own name: the attribute `name` that the asset stores itself, apart from the name of its template.
 */
const OWN_NAME = sql`coalesce(a.immutable_data ->> 'name', a.mutable_data ->> 'name')`
/**
 * First 100 characters of an asset's own name, the expression in the index assets_name_idx. A B-tree entry holds at
 * most 2.7 kB, and names can be longer.
 */
const OWN_NAME_HEAD = sql`left(${OWN_NAME}, 100) COLLATE "C"`

/**
 * FROM item of the assets `a` of one template `t`, sorted by id. OFFSET 0 is an optimization fence. Without the fence,
 * a generic plan can read the index that serves another condition on `a`, and reads this index again for each template.
 */
const OF_ONE_TEMPLATE = raw(`(SELECT a.* FROM assets.assets a WHERE a.template_id = t.template_id
  ORDER BY a.asset_id OFFSET 0) a`)

/** Query of the assets `a` of the driving templates `t`. The query reads the assets of one template after the other. */
export function assetsOfTemplates(rows: Omit<DrivingRows, 'from' | 'key'>): Sql {
  return rowsByDrivingTable({ ...rows, from: OF_ONE_TEMPLATE, key: raw('a.asset_id') })
}

/**
 * Last segment of a list: the assets without a sort value (NULL), sorted by id.
 * @param type SQL type of the sort value.
 */
export function assetsWithoutValue(type: string, conditions: readonly Sql[], share: number): Segment {
  return { rank: 1, column: 'asset_id', direction: 'ASC', value: raw(`NULL::${type}`), conditions, share }
}

/** Source of lists of assets, SQL alias `a`, with the indexes that serve these lists. */
function assetSource(statistics: Statistics): Source {
  return {
    from: raw('assets.assets a'),
    alias: 'a',
    key: 'asset_id',
    indexes: [
      { name: 'assets_pkey', columns: ['asset_id'] },
      {
        name: 'assets_owned_idx',
        columns: ['owner', 'asset_id'],
        includes: ['schema_key', 'template_id', 'updated_at_time', 'transferred_at_time'],
      },
      { name: 'assets_held_idx', columns: ['owner', 'schema_key', 'template_id'] },
      { name: 'assets_schema_idx', columns: ['schema_key', 'asset_id'] },
      {
        name: 'assets_schema_changed_idx',
        columns: ['schema_key', 'updated_at_time', 'asset_id'],
        includes: ['owner'],
      },
      { name: 'assets_of_template_idx', columns: ['template_id', 'asset_id'], includes: ['owner'] },
      { name: 'assets_mint_idx', columns: ['template_mint', 'asset_id'] },
      { name: 'assets_updated_idx', columns: ['updated_at_time', 'asset_id'] },
      { name: 'assets_transferred_idx', columns: ['transferred_at_time', 'asset_id'] },
      { name: 'assets_name_idx', columns: ['schema_key', 'own_name', 'asset_id'] },
    ],
    ranges: {
      schema_key: {
        column: 'schema_key',
        values: raw('SELECT s.schema_key AS value FROM assets.schemas s'),
        type: 'bigint',
        count: statistics.rows(SCHEMAS),
      },
    },
  }
}

const FIXED_NAME = raw(`(t.immutable_data ->> 'name')`)
const CHANGING_NAME = raw(`(t.mutable_data ->> 'name')`)
/**
 * SQL of the shown name of an asset. The first source with an attribute `name` wins: immutable attributes of the
 * template, attributes of the asset, mutable attributes of the template.
 */
const NAME = sql`coalesce(${FIXED_NAME}, ${OWN_NAME}, ${CHANGING_NAME}) COLLATE "C"`
/**
 * Names of prepared statements that return the asset with the lowest id of a template. Each form of the filter on the
 * template needs a statement of its own.
 */
const firstAssets = new PreparedNames(8)
/** Approximate share of the assets that have a name of their own, not only the name of the template. */
const OWN_NAMES = 0.1

/** The order of a request for assets. Assets without mint number or name come last in both directions. */
async function assetOrder(
  request: AssetRequest,
  filters: readonly Filter[],
  session: Session,
): Promise<Order> {
  const { values } = request
  const direction = values.order === 'asc' ? 'ASC' : 'DESC'
  const sort = values.sort ?? ''
  const time = timeOfSort[sort]
  if (time !== undefined) return { direction, segments: [{ rank: 0, column: time }] }
  if (sort === 'template_mint' && !(await haveOrderOfMints(filters, session)))
    return mintOrder(direction, request)
  if (sort === 'name') return nameOrder(direction, request)
  return { direction, segments: [{ rank: 0, column: 'asset_id' }] }
}

/**
 * Whether the mint numbers of the requested assets ascend with the asset ids. True if the request selects one template
 * and the first asset of this template has a mint number. The first assets have no mint number after an import of the
 * chain state.
 */
async function haveOrderOfMints(filters: readonly Filter[], session: Session): Promise<boolean> {
  const template = filters.find(({ equals }) => equals?.column === 'template_id' && equals.count === 1)
  if (!template) return false
  const query = sql`SELECT a.template_mint IS NOT NULL FROM assets.assets a WHERE ${template.condition}
    ORDER BY a.asset_id LIMIT 1`
  const [first] = await session.query<[isNumbered: boolean]>(firstAssets.prepared(query.render()))
  return first?.[0] !== false
}

function nameOrder(direction: 'ASC' | 'DESC', request: AssetRequest): Order {
  // OFFSET 0 is an optimization fence: without it PostgreSQL turns EXISTS into a join, which reads all rows before the
  // LIMIT.
  const named = (condition: string): Sql =>
    raw(
      `EXISTS (SELECT FROM assets.templates t WHERE t.template_id = a.template_id AND ${condition} OFFSET 0)`,
    )
  const ofTemplates: Segment = {
    rank: 0,
    column: 'name of the template',
    driving: templatesByName(direction, request),
  }
  return {
    direction,
    segments: [
      ...(request.values.template_id === null ? [] : [ofTemplates]),
      {
        rank: 0,
        column: 'own_name',
        expression: OWN_NAME_HEAD,
        value: sql`${OWN_NAME} COLLATE "C"`,
        conditions: [
          sql`${OWN_NAME} IS NOT NULL`,
          sql`NOT ${named(`t.immutable_data ->> 'name' IS NOT NULL`)}`,
        ],
        share: OWN_NAMES,
        ...ownNamesOfTemplates(direction, request),
      },
      assetsWithoutValue(
        'text COLLATE "C"',
        [
          sql`${OWN_NAME} IS NULL`,
          sql`NOT ${named(`coalesce(t.immutable_data ->> 'name', t.mutable_data ->> 'name') IS NOT NULL`)}`,
        ],
        OWN_NAMES,
      ),
    ],
    sorted: {
      from: raw('assets.assets a LEFT JOIN assets.templates t ON t.template_id = a.template_id'),
      value: NAME,
    },
  }
}

/**
 * Access path to assets with a name of their own. The driving table is `templates`: the templates that match the
 * filters of the request.
 */
function ownNamesOfTemplates(direction: 'ASC' | 'DESC', request: AssetRequest): { driving?: DrivingTable } {
  if (request.templates.kind !== 'ids') return {}
  const { conditions, applied, templates } = templateScope(request)
  const unnamed = where([...conditions, raw(`t.immutable_data ->> 'name' IS NULL`)])
  const driving: DrivingTable = {
    applied,
    rows: request.templates.unnamed,
    drivingRows: templates,
    rowsOfEach: request.templates.unnamed / Math.max(1, templates),
    least: request.templates.unnamed,
    query: (checks, wanted) => sql`SELECT a.asset_id AS k, ${OWN_NAME} COLLATE "C" AS v
      FROM (SELECT t.template_id FROM assets.templates t ${unnamed} OFFSET 0) t JOIN assets.assets a USING (template_id)
      ${where(checks)} ORDER BY v ${raw(direction)} FETCH FIRST ${raw(wanted)} ROWS WITH TIES`,
  }
  return { driving }
}

/**
 * Access path to assets in the order of the names of their templates. The driving table is `templates`, read in the
 * order of the names.
 */
function templatesByName(direction: 'ASC' | 'DESC', request: AssetRequest): DrivingTable {
  const { conditions, applied, isWide, templates, assets } = templateScope(request)
  const rowsOfEach = assets / Math.max(1, templates)
  const name = sql`coalesce(${FIXED_NAME}, ${CHANGING_NAME}) COLLATE "C"`
  return {
    applied,
    rows: assets,
    // Without a filter on templates, an index returns the templates in the order of their names, so no templates are
    // collected and sorted.
    drivingRows: isWide ? 0 : templates,
    rowsOfEach,
    query(checks, wanted, budget) {
      const columns = sql`t.template_id, ${name} AS value, ${FIXED_NAME} IS NOT NULL AS is_fixed`
      const drivingRows = isWide
        ? sql`SELECT ${columns}, ${TEMPLATE_NAME_HEAD} AS head FROM assets.templates t
          ${where([sql`${TEMPLATE_NAME_HEAD} IS NOT NULL`, ...conditions])} ORDER BY 4 ${raw(direction)}, 2 ${raw(direction)}`
        : sql`SELECT ${columns} FROM assets.templates t
          ${where([sql`${name} IS NOT NULL`, ...conditions])} ORDER BY 2 ${raw(direction)}`
      const own = [sql`(t.is_fixed OR ${OWN_NAME} IS NULL)`, ...checks]
      const head = isWide ? { head: 'head' } : {}
      return assetsOfTemplates({
        drivingRows,
        conditions: own,
        direction,
        ...head,
        wanted,
        budget,
        rowsOfEach,
      })
    },
  }
}

/** Order of a list by mint number, if the list has assets of several templates. */
function mintOrder(direction: 'ASC' | 'DESC', request: AssetRequest): Order {
  const { values, statistics } = request
  const most = values.max_template_mint
  const none = statistics.equal(ASSETS, 'template_mint', [null]) / statistics.rows(ASSETS)
  return {
    direction,
    segments: [
      {
        rank: 0,
        column: 'template_mint',
        conditions: [
          raw('a.template_mint IS NOT NULL'),
          // The filter `max_template_mint` also accepts assets without a mint number (NULL). The next segment reads the
          // assets without a mint number, so the condition of this segment has no test for NULL.
          ...(most === undefined ? [] : [sql`a.template_mint <= ${bind(most, 'bigint')}`]),
        ],
        share: 1 - none,
        ...mintsOfTemplates(direction, request, 1 - none),
      },
      assetsWithoutValue('integer', [raw('a.template_mint IS NULL')], none),
    ],
    sorted: { value: raw('a.template_mint') },
  }
}

/**
 * A list in the order of mint numbers reads only some assets of each template: up to a mint number (ascending order),
 * or down to a mint number (descending order). This mint number is the mint bound. The highest mint number of a
 * template equals its supply, so the mint bound is computed from the supplies of the templates.
 */
interface MintBound {
  /**
   * Query that returns the mint bound in the column `mint`: the last mint number to read, in the order of the list. The
   * given templates have at least `rows` requested mint numbers from the start of the list to the mint bound. If they
   * have fewer in total, the mint bound excludes no requested mint number.
   */
  bound(templates: readonly Sql[], rows: number): Sql
  /**
   * Conditions that exclude each template `t` without a mint number to read. Ascending order needs no condition,
   * because the mint numbers of each template begin with 1.
   */
  readonly templates: readonly Sql[]
  /**
   * Query of the assets to read of template `t`, up or down to the mint bound. Mint numbers ascend with asset ids, so
   * the query sorts by asset id and limits the number of assets.
   */
  readonly assets: Sql
  /**
   * Query of a marker row, which says that the mint bound excludes requested mint numbers. The row has a NULL key and
   * the first excluded mint number. If no requested mint number is excluded, the query returns no row.
   */
  readonly behind: Sql
}

/** Selects the assets of the template with the SQL alias `t`. */
const OF_TEMPLATE = raw('SELECT l.* FROM assets.assets l WHERE l.template_id = t.template_id')

/**
 * Access path to assets in the order of mint numbers: reads some assets of each template, lowest or highest mint
 * numbers first. In ascending order, the path requires a filter on collections, schemas or template data. Without such
 * a filter, the index on mint numbers is faster: it begins with the first asset of every template.
 * @param share estimated share of the assets that have a mint number.
 */
function mintsOfTemplates(
  direction: 'ASC' | 'DESC',
  request: AssetRequest,
  share: number,
): { readonly driving?: DrivingTable } {
  const {
    template_id: id,
    template_mint: exact,
    min_template_mint: low,
    max_template_mint: high,
  } = request.values
  const { conditions, applied, isWide, templates, assets } = templateScope(request)
  const isUpwards = direction === 'ASC'
  // The scan of a template starts at its lowest mint number (ascending order) or at its highest mint number (descending
  // order). If a filter excludes the mint numbers at the start, the scan reads rows of each template in vain.
  const isInVain = isUpwards ? low !== undefined || isWide : high !== undefined
  if (id === null || exact !== undefined || isInVain) return {}
  const mints = isUpwards ? firstMints(high) : lastMints(low ?? 1)
  const driving: DrivingTable = {
    applied,
    rows: assets,
    // Without a filter on templates, an index returns the templates in the order of their supplies, so no templates are
    // collected and sorted.
    drivingRows: isWide ? 0 : templates,
    least: isUpwards ? Math.min(templates, assets * share) : 0,
    rowsOfEach: assets / Math.max(1, templates),
    query(checks, wanted, budget) {
      const assetsOf = (
        some: readonly Sql[],
        own: Sql,
      ): Sql => sql`SELECT a.asset_id AS k, a.template_mint AS v
        FROM (SELECT t.template_id, t.issued_supply FROM assets.templates t ${where([...some, ...conditions])}) t
          CROSS JOIN LATERAL (${own}) a
        ${where(checks)} ORDER BY a.template_mint ${raw(direction)} FETCH FIRST ${raw(wanted)} ROWS WITH TIES`
      const bound = sql`WITH bound AS MATERIALIZED (${mints.bound(conditions, budget ?? wanted)})`
      const within = assetsOf(mints.templates, mints.assets)
      if (budget !== undefined) return sql`${bound} (${within}) UNION ALL ${mints.behind}`
      // The assets up or down to the mint bound can be fewer than the page needs: filters reject assets, and assets
      // from an import of the chain state have no mint number. Then the query reads all assets of the templates.
      const isShort = sql`(SELECT count(*) FROM page) < ${raw(wanted)} AND EXISTS (${mints.behind})`
      return sql`${bound}, page AS MATERIALIZED (${within}) SELECT * FROM page WHERE NOT (${isShort})
        UNION ALL SELECT * FROM (${assetsOf([], OF_TEMPLATE)}) w WHERE ${isShort}`
    },
  }
  return { driving }
}

/**
 * Mint bound of a list in descending order: each template is read from its highest mint number down to the mint bound.
 * @param low lowest requested mint number; the mint bound is not lower.
 */
function lastMints(low: number): MintBound {
  const lowest = bind(low, 'bigint')
  return {
    bound(templates, rows) {
      const wanted = raw(rows)
      // The subquery lists the templates in descending order of supply. `mints` is the sum of the supplies so far, and
      // `next` is the supply of the following template. Only the templates so far have mint numbers above `next`. The
      // query takes the first row at which the templates have `rows` mint numbers above `next`. The result is the
      // highest mint number for which `rows` mint numbers are as high or higher.
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

/**
 * Mint bound of a list in ascending order: each template is read from its lowest mint number up to the mint bound.
 * @param high highest requested mint number; the mint bound is not higher. Undefined without a maximum.
 */
function firstMints(high: number | undefined): MintBound {
  const supply =
    high === undefined ? raw('t.issued_supply') : sql`least(t.issued_supply, ${bind(high, 'bigint')})`
  return {
    bound(templates, rows) {
      const from = sql`FROM assets.templates t ${where([raw('t.issued_supply > 0'), ...templates])}`
      // The mint bound is the lowest number up to which the templates together have `rows` mint numbers. A template
      // with a supply below the mint bound contributes all its mint numbers. Each other template contributes as many
      // mint numbers as the mint bound.
      return sql`SELECT least(max(s.supply),
          max(ceil((${raw(rows)} - s.mints + s.supply) / (s.templates - s.place + 1)))::bigint) AS mint, max(s.supply) AS last
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
