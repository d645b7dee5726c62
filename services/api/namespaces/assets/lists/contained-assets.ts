import { pick } from '../../../../core/endpoint/index.ts'
import { bindIds, bindIntegers, raw, sql, where } from '../../../sql/index.ts'
import type { Session } from '../../../database/index.ts'
import type { Sql } from '../../../sql/index.ts'
import { estimateRows, foundConditions, nothing } from '../../../planner/filters/index.ts'
import type { Filter, FilterPart } from '../../../planner/filters/index.ts'
import type { DrivingTable, PageWindow } from '../../../planner/sources/index.ts'
import type { Statistics } from '../../../planner/index.ts'
import { resolveTemplates, keyAtTime } from '../../nft/filters/index.ts'
import type { ResolvedTemplates } from '../../nft/filters/index.ts'
import { assetFilters } from '../../nft/asset-lists/index.ts'
import { ASSETS } from '../../nft/tables.ts'
import { isOneOf } from '../../nft/conditions/index.ts'
import type { AssetValues } from '../../nft/parameters/index.ts'

/**
 * Request parameters that filter offers or transfers by properties of the contained assets. These filters read rows of
 * assets. A filter on asset ids alone, or on collections alone, reads no row of assets.
 */
const assetDetails = [
  ...(['owner', 'burned', 'template_id', 'schema_name', 'is_transferable', 'is_burnable'] as const),
  ...(['minter', 'initial_receiver', 'burner'] as const),
] as const

/** All request parameters that filter offers or transfers by the contained assets. */
const picked = [...assetDetails, 'asset_id', 'collection_name'] as const

/** Maximum number of collections that `ContainedAssets.home` lists. */
const MAX_COLLECTIONS = 64

/** Filters on the assets that an offer or a transfer contains, and the data for planning them. */
export interface ContainedAssets {
  /**
   * Filters on an asset `a` of an offer or a transfer. At least one asset of the offer or transfer passes all these
   * filters.
   */
  readonly filters: readonly Filter[]
  /** Names of the request parameters that `filters` apply. */
  readonly names: readonly string[]
  /** Estimated number of assets that pass all `filters`. */
  readonly assets: number
  /**
   * Collections of the requested templates or schemas, and the number of all assets in these collections. Undefined if
   * there are more than MAX_COLLECTIONS collections.
   */
  readonly home?: { readonly collections: readonly string[]; readonly assets: number }
  /** Whether the filter selects assets that cannot be transferred. */
  readonly isFixed: boolean
}

/**
 * Prepares the filters on the assets that an offer or a transfer contains. At most one statement runs:
 * - for a filter on templates that are not transferable or not burnable, it reads these templates;
 * - for any other filter on template ids or schemas, it reads their collections and numbers of assets.
 * @param isOfOneCollection whether all assets of a row belong to the collection of the row: true for transfers, false
 * for offers.
 * @returns undefined if no filter of the request reads rows of assets.
 */
export async function resolveContained(
  session: Session,
  values: AssetValues,
  statistics: Statistics,
  isOfOneCollection: boolean,
): Promise<ContainedAssets | undefined> {
  const isOfCollection = !isOfOneCollection && values.asset_id && values.collection_name
  const names = (isOfCollection ? picked : assetDetails).filter((name) => values[name] !== undefined)
  if (names.length === 0) return undefined
  const details = pick(values, picked)
  const isFixed = details.is_transferable === false
  const isOfFlags = isFixed || details.is_burnable === false
  const request = { values: details, attributes: [], trigrams: false }
  const templates: ResolvedTemplates = isOfFlags
    ? await resolveTemplates(session, request)
    : { kind: 'unfiltered' }
  const filters = assetFilters({ ...request, templates, statistics })
  const all = statistics.rows(ASSETS)
  const known = isOfFlags ? undefined : await resolveHome(session, details)
  if (known?.matching === 0) return { filters: [nothing('template_id')], names, assets: 0, isFixed }
  if (!known) return { filters, names, assets: estimateRows(all, filters), isFixed }
  const others = filters.filter(({ group }) => group !== 'template')
  const assets = (known.matching * estimateRows(all, others)) / all
  return { filters, names, assets, isFixed, ...(known.home ? { home: known.home } : {}) }
}

interface KnownHome {
  /** Number of assets of the requested templates or schemas. */
  readonly matching: number
  readonly home?: { readonly collections: readonly string[]; readonly assets: number }
}

/**
 * Reads the collections of the requested templates or schemas, the number of all assets in these collections, and the
 * number of assets of the templates or schemas.
 */
async function resolveHome(session: Session, values: AssetValues): Promise<KnownHome | undefined> {
  const { template_id: ids, schema_name: schemas, collection_name: collections } = values
  if (!ids && !schemas) return undefined
  const counts = ids
    ? sql`SELECT t.collection_name, k.minted FROM assets.template_counts k LEFT JOIN assets.templates t USING (template_id)
        WHERE k.template_id = ANY(${bindIntegers(ids)})`
    : sql`SELECT k.collection_name, k.minted FROM assets.schema_counts k
        ${where([
          isOneOf(raw('k.schema_name'), schemas!),
          ...(collections ? [isOneOf(raw('k.collection_name'), collections)] : []),
        ])}`
  const { text, values: bound } = sql`WITH m AS (${counts})
    SELECT coalesce(sum(m.minted), 0)::float8, bool_or(m.collection_name IS NULL), string_agg(DISTINCT m.collection_name, ','),
      (SELECT sum(c.minted) FROM assets.collection_counts c WHERE c.collection_name IN (SELECT m.collection_name FROM m))::float8
    FROM m`.render()
  const name = ids ? 'home-of-templates' : undefined
  const [row] = await session.query<[number, boolean | null, string | null, number | null]>({
    text,
    values: bound,
    ...(name === undefined ? {} : { name }),
  })
  const [matching, isUnknown, list, assets] = row!
  const named = list?.split(',') ?? []
  if (isUnknown !== false || named.length > MAX_COLLECTIONS) return { matching }
  return { matching, home: { collections: named, assets: assets ?? matching } }
}

/** A table whose rows contain assets: offers or transfers. */
export interface ContainingTable {
  /** Schema-qualified name, such as `assets.offers`. */
  readonly table: string
  readonly alias: string
  readonly key: string
  /**
   * SQL of the ids of all assets of a row. The text equals the indexed expression, so that PostgreSQL uses the index.
   */
  readonly ids: (alias: string) => Sql
  /** Creates the filter for rows of the given collections. */
  readonly ofCollections: (collections: readonly string[]) => Filter
  /**
   * Maximum number of asset ids in one index scan. More ids are split among several scans, because a scan compares
   * every row that it finds with all ids of the scan.
   */
  readonly atOnce: number
}

/**
 * Number of transfers of an asset that is not transferable, relative to the average asset. The contract forbids new
 * transfers of such an asset.
 */
const FIXED_SHARE = 0.001
/** Costs, in units of one visited row: reading one asset; looking up the offers or transfers that contain one asset. */
const ASSET_VISITS = 0.5
const FIND_VISITS = 2.5
/** Cost of checking the filters on the assets of one offer or transfer, in units of one visited row. */
const CHECK_VISITS = 6

/**
 * Condition that excludes assets that never moved. The contract forbids transfers of assets that are not transferable.
 * Many of these assets therefore have no transfer, and a look-up of their transfers finds nothing.
 */
const MOVED = raw(`(a.transferred_at_block > a.minted_at_block
  OR coalesce(a.owner, a.burned_by_account) <> a.initial_receiver)`)

/**
 * Filters on the assets of an offer or a transfer: the row contains an asset with one of the given ids, or an asset
 * with the given properties.
 */
export function containedFilters(
  values: AssetValues,
  contained: ContainedAssets | undefined,
  statistics: Statistics,
  containing: ContainingTable,
): Filter[] {
  // Requested ids of 0 and below match nothing. They are left out, because the index of offers stores 0 and -1 as marks
  // (see `contentsOf` of offers).
  const ids = values.asset_id?.filter((id) => id > 0n)
  return [
    ...(ids ? [idsFilter(ids, statistics, containing)] : []),
    ...(contained ? detailFilters(contained, statistics, containing) : []),
  ]
}

function idsFilter(ids: readonly bigint[], statistics: Statistics, containing: ContainingTable): Filter {
  const rows = ids.length * Math.max(1, statistics.rows(containing.table) / statistics.rows(ASSETS))
  if (ids.length === 0) return nothing('asset_id')
  const list = bindIds([...new Set(ids)])
  const found = sql`SELECT unnest(${list}) AS asset_id`
  return {
    name: 'asset_id',
    condition: sql`${containing.ids(containing.alias)} && ${list}`,
    rows,
    isIndexed: true,
    // One index scan compares every row that it finds with all ids of the scan, so many ids are split among several
    // scans.
    ...(ids.length > containing.atOnce
      ? { through: { from: rowsWith(found, containing), visits: FIND_VISITS * ids.length } }
      : {}),
  }
}

function detailFilters(
  { filters, names, assets, home, isFixed }: ContainedAssets,
  statistics: Statistics,
  containing: ContainingTable,
): Filter[] {
  if (filters.some(({ equals }) => equals?.count === 0)) return [nothing(names.join(', '))]
  const { alias, table } = containing
  const conditions = filters.map(({ condition }) => condition)
  const isTransfer = table === TRANSFERS
  const all = statistics.rows(table)
  const atHome = home ? containing.ofCollections(home.collections) : undefined
  const share = assets / Math.max(1, home?.assets ?? statistics.rows(ASSETS))
  const expected = Math.min(1, share) * (atHome?.rows ?? all)
  const rows = Math.max(isFixed && isTransfer ? expected * FIXED_SHARE : expected, 1)
  const group = 'contained'
  const looked = sql`SELECT FROM unnest(${containing.ids(alias)}) u(id)
    CROSS JOIN LATERAL (SELECT x.* FROM assets.assets x WHERE x.asset_id = u.id OFFSET 0) a ${where(conditions)} OFFSET 0`
  const isSkipped = isFixed && isTransfer
  const found = sql`SELECT a.asset_id FROM assets.assets a
    ${where([...foundConditions(filters), ...(isSkipped ? [MOVED] : [])])}`
  const findVisits = isSkipped ? 2 * ASSET_VISITS : ASSET_VISITS + FIND_VISITS
  const name = names.join(', ')
  return [
    ...(atHome ? [{ ...atHome, name: `collections of ${name}`, group }] : []),
    {
      name,
      condition: sql`EXISTS (${looked})`,
      rows,
      isIndexed: true,
      through: {
        from: rowsWith(found, containing),
        visits: findVisits * assets,
      },
      visits: CHECK_VISITS,
      group,
      ...(isTransfer ? { parts: countedParts(looked, filters, rows) } : {}),
    },
  ]
}

/** Schema-qualified name of the table of transfers. `Statistics` stores row estimates by this name. */
export const TRANSFERS = 'assets.transfers'
/**
 * Transfers have no time column. Their ids are sequence numbers, and the table of blocks maps a time to the first
 * sequence number of a block.
 */
export const blocks = { table: 'assets.blocks', key: 'first_seq', time: 'block_time' }

/**
 * Splits the filter into two disjoint parts, whose counts are added up: transfers of one asset, and transfers of
 * several assets (bundles). Most transfers contain one asset. For these transfers the condition is an IN subquery,
 * which PostgreSQL plans as a join in the cheaper direction.
 */
function countedParts(looked: Sql, filters: readonly Filter[], rows: number): FilterPart[] {
  const isBundle = raw('cardinality(t.asset_ids) > 1')
  const found = sql`SELECT a.asset_id FROM assets.assets a ${where(foundConditions(filters))}`
  const common = { name: 'contained', rows, isIndexed: false, visits: CHECK_VISITS }
  // The condition is `NOT (cardinality > 1)` and not `cardinality = 1`. PostgreSQL has no statistics for the
  // expression: by default it estimates that two thirds of the rows pass the first form, and 0.5 % pass the second. In
  // fact most rows pass.
  return [
    { filter: { ...common, condition: sql`t.asset_ids[1] IN (${found})` }, apart: sql`NOT (${isBundle})` },
    { filter: { ...common, condition: sql`EXISTS (${looked})` }, apart: isBundle },
  ]
}

/**
 * Reads the newest transfers of the matching assets, in these steps:
 * - Each asset stores the time of its last transfer. The query takes the newest distinct times, as many as the page
 *   needs rows.
 * - The query reads all transfers of the matching assets since the earliest of these times.
 * - An owner can change without a transfer, so the number of found transfers can be too small. Then the query reads all
 *   transfers of the matching assets.
 * @param all every filter of the list. All are filters on the assets of a transfer.
 */
export function newestTransfers(
  { filters, assets }: ContainedAssets,
  all: readonly Filter[],
  containing: ContainingTable,
  { offset, limit }: PageWindow,
): DrivingTable {
  const moved = Math.min(assets, offset + limit)
  return {
    applied: new Set(all.map(({ name }) => name)),
    rows: Math.min(...all.map(({ rows }) => rows)),
    drivingRows: 2 * (assets + 2 * FIND_VISITS * moved),
    rowsOfEach: 1,
    query: (checks, wanted) => {
      const many = raw(wanted)
      const first = rowsWith(
        raw('SELECT c.asset_id FROM matching c JOIN since b ON c.at >= b.at'),
        containing,
      )
      const whole = rowsWith(raw('SELECT c.asset_id FROM matching c'), containing)
      const key = raw(`${containing.alias}.${containing.key}`)
      return sql`WITH matching AS MATERIALIZED (
          SELECT a.asset_id, a.transferred_at_time AS at, a.transferred_at_block > a.minted_at_block AS is_moved
          FROM assets.assets a ${where(foundConditions(filters))}),
        since AS MATERIALIZED (SELECT min(d.at) AS at FROM (
          SELECT DISTINCT c.at FROM matching c WHERE c.is_moved ORDER BY 1 DESC LIMIT ${many}) d),
        newest AS MATERIALIZED (SELECT ${key} AS k FROM ${first}
          ${where([sql`${key} >= ${keyAtTime(blocks, raw('(SELECT b.at FROM since b)'))}`, ...checks])})
        SELECT x.k, x.k AS v FROM (SELECT n.k FROM newest n WHERE (SELECT count(*) FROM newest) >= ${many}
          UNION ALL SELECT ${key} FROM ${whole} ${where([sql`(SELECT count(*) FROM newest) < ${many}`, ...checks])}) x
        ORDER BY x.k DESC LIMIT ${many}`
    },
  }
}

/**
 * FROM item of the offers or transfers that contain at least one of the assets. Each offer or transfer occurs once. The
 * asset ids are split into groups of `atOnce` ids, one index scan for each group, because a scan compares every found
 * row with all ids of the scan.
 * @param assets query with the column `asset_id`.
 */
function rowsWith(assets: Sql, { table, alias, key, ids, atOnce }: ContainingTable): Sql {
  return sql`(SELECT DISTINCT ON (m.${raw(key)}) m.*
    FROM (SELECT array_agg(g.asset_id) AS ids FROM (SELECT f.asset_id, row_number() OVER () / ${raw(atOnce)} AS place
        FROM (${assets}) f) g GROUP BY g.place) p
      CROSS JOIN LATERAL (SELECT x.* FROM ${raw(table)} x WHERE ${ids('x')} && p.ids OFFSET 0) m
    ORDER BY m.${raw(key)}) ${raw(alias)}`
}
