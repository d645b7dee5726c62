import type { Session } from '../../../database/index.ts'
import { Bindings, whereClause } from '../../../database/index.ts'
import type { AttributeFilter } from '../../../endpoint/index.ts'
import type { PageQuery } from '../../paging/index.ts'
import { pageWindow } from '../../paging/index.ts'
import { schemaHomes } from './asset-conditions.ts'
import { updatedByDigest } from './asset-digest-order.ts'
import { highestMints } from './asset-mint-order.ts'
import type { AssetSearch } from './asset-search.ts'
import {
  assetsAbout,
  expectedMatching,
  filterConditions,
  filtersOf,
  impliedConditions,
  leavesOutLittle,
  orderConditions,
} from './asset-search.ts'

const FROM = 'assets.assets a'
const KEY = 'a.asset_id'

/** An order that an index on the column has. */
export interface ColumnOrder {
  readonly column: string
  readonly direction: 'ASC' | 'DESC'
  /** Condition on the rows that have their place in it. */
  readonly further?: string
}

/** Assets up to which all that match are sorted. */
const FEW = 8_000

/**
 * Assets in the order of a column. With filters there are two ways: in order until the page is full, or all that match,
 * sorted. The second is right where few match. Otherwise the first is tried over a stretch of the order: which of the
 * two is quicker depends on where in the order the matching assets are, and nothing but looking tells.
 */
export async function byColumn(
  session: Session,
  search: AssetSearch,
  { column, direction, further }: ColumnOrder,
): Promise<PageQuery> {
  const bindings = new Bindings()
  const conditions = filterConditions(search, bindings)
  const rest = [
    ...orderConditions(search, bindings),
    ...impliedConditions(search, bindings),
    ...(further === undefined ? [] : [further]),
  ]
  const sorted = { key: KEY, order: `a.${column} ${direction}, ${KEY}`, bindings }
  if (conditions.length === 0) return { ...sorted, from: FROM, conditions: rest }
  const filters = [...conditions, ...schemaHomes(search.values, bindings)]
  const matching = [...filters, ...rest]
  const inOrder = { ...sorted, from: FROM, conditions: matching }
  if (hasOrderOfItsOwn(search)) return inOrder
  // The sign keeps the index of the order out of the plan.
  const page = { ...inOrder, order: `(+a.${column}) ${direction}, ${KEY}` }
  const highest = column === 'template_mint' && direction === 'DESC' ? highestMints(search) : undefined
  const quick = highest ? [highest] : []
  if (leavesOutLittle(search)) return { ...inOrder, attempts: quick }
  const expected = await expectedMatching(session, search)
  if (expected <= FEW) {
    const few: PageQuery = {
      ...sorted,
      with: `few AS MATERIALIZED (SELECT ${KEY}, a.${column} FROM ${FROM} ${whereClause(matching)} LIMIT ${FEW + 1})`,
      from: 'few a',
      conditions: [],
      isWhole: `(SELECT count(*) FROM few) <= ${FEW}`,
    }
    // Where there are more than was expected, a stretch of the order comes before all of them.
    return { ...page, attempts: [few, ...quick, { ...inOrder, from: stretch(rest, sorted.order, FEW / 2) }] }
  }
  const byDigest = column === 'updated_at_time' ? updatedByDigest(search, direction) : undefined
  const among = (length: number): PageQuery => ({
    ...sorted,
    from: FROM,
    conditions: [
      ...rest,
      // The end of the stretch: so bounded it is read from the index alone, and ends where the page does.
      `a.${column} ${direction === 'ASC' ? '<=' : '>='} (SELECT a.${column} FROM ${FROM} ${whereClause(rest)}
        ORDER BY a.${column} ${direction} OFFSET ${length} LIMIT 1)`,
      // Spelled so, the ids are hashed once, and looked up for one asset of the order after the other.
      `(${KEY} IN (SELECT ${KEY} FROM ${FROM} ${whereClause(filters)})) IS TRUE`,
    ],
  })
  const idStretch = readsIds(search, expected)
    ? among(Math.min(LOOKED_UP, Math.ceil(expected * LOOKED_UP_FOR_EACH)))
    : undefined
  const better = byDigest ?? idStretch
  const looked =
    column === 'template_mint' && (await areMostlyBare(session, search, expected))
      ? undefined
      : await stretchLength(session, search, expected, better !== undefined)
  const first = looked === undefined ? [] : [{ ...inOrder, from: stretch(rest, sorted.order, looked) }]
  return { ...page, attempts: [...quick, ...first, ...(better ? [better] : [])] }
}

/** The first assets of an order. */
function stretch(conditions: readonly string[], order: string, length: number): string {
  return `(SELECT a.* FROM ${FROM} ${whereClause(conditions)} ORDER BY ${order} LIMIT ${length}) a`
}

/** Newest assets without a template that are looked at. */
const BARE = 300
/** Part of the matching assets from which on they are mostly without a template. */
const MOSTLY = 1 / 2

/**
 * Whether most assets that match attributes of their own seem to have no template, and so no mint number: the order then
 * has few of them.
 */
async function areMostlyBare(session: Session, search: AssetSearch, expected: number): Promise<boolean> {
  const isOwnData = ({ family }: AttributeFilter): boolean =>
    family === 'immutable_data' || family === 'mutable_data'
  if (!search.attributes.some(isOwnData)) return false
  const bindings = new Bindings()
  const matches = `(${filterConditions(search, bindings).join(' AND ')}) IS TRUE`
  const rows = await session.query<[share: number | null, bare: number | null]>({
    text: `SELECT avg((${matches})::integer)::float8,
        (SELECT c.reltuples::float8 FROM pg_class c WHERE c.oid = to_regclass('assets.assets_bare_idx'))
      FROM (SELECT a.* FROM ${FROM} WHERE a.template_id IS NULL ORDER BY ${KEY} DESC LIMIT ${BARE}) a`,
    values: bindings.values,
  })
  const [share, bare] = rows[0]!
  return (share ?? 0) * (bare ?? 0) > expected * MOSTLY
}

/** How many assets are looked at in order, at most, before all that match are sorted. */
const STRETCH = 20_000
/** The same where the index of the order is all that is looked at. */
const STRETCH_OF_INDEX = 100_000
/** A stretch is so many times as long as would do if the matching assets were spread evenly. */
const RESERVE = 2
/** The same where all that match are sorted after it. */
const RESERVE_ALONE = 3
/** Parts of the matching assets: to look at so many in order is worth trying, and is still quicker than sorting all. */
const TRIED = 1 / 8
const AFFORDED = 1 / 2
const LONGEST = 3 / 4
/** Matching assets from which on sorting takes so long that all of the stretch is worth trying. */
const MANY = 60_000
/** The same as the last where the index of the order is all that is looked at. */
const AFFORDED_OF_INDEX = 1
/** The same as the first where a better way follows: longer stretches take longer than that. */
const AFFORDED_BEFORE = 1 / 5
/** Ids that are hashed at most. */
const MOST_IDS = 60_000
/** How many assets of an order are looked up among hashed ids, at most, and for each of these: it takes little time. */
const LOOKED_UP = 50_000
const LOOKED_UP_FOR_EACH = 2.5

/**
 * How many assets to look at in order. Looking in vain must not take long beside sorting all that match; undefined when
 * what can be afforded would not fill the page if the matching assets were spread evenly.
 * @param isFollowed another way is tried before sorting.
 */
async function stretchLength(
  session: Session,
  search: AssetSearch,
  expected: number,
  isFollowed: boolean,
): Promise<number | undefined> {
  if (hasBoundsOfIds(search)) return stretchOfIndex(expected)
  const window = pageWindow(search.values)
  if (!window) return undefined
  const needed = ((window.offset + window.limit) * (await assetsAbout(session))) / expected
  if (isFollowed) {
    const reserved = needed * RESERVE
    return reserved > expected * AFFORDED_BEFORE ? undefined : Math.ceil(Math.min(STRETCH, reserved))
  }
  if (needed > expected * AFFORDED) return undefined
  const tried = expected < MANY ? expected * TRIED : STRETCH
  return Math.ceil(Math.min(STRETCH, expected * LONGEST, Math.max(tried, needed * RESERVE_ALONE)))
}

function stretchOfIndex(expected: number): number {
  return Math.min(STRETCH_OF_INDEX, Math.ceil(expected * AFFORDED_OF_INDEX))
}

/** Filters by what an index has together with the ids. */
const WITH_IDS = new Set([
  ...['owner', 'minter', 'initial_receiver', 'collection_name', 'schema_name'],
  ...['template_id', 'template_whitelist', 'data', 'template_data', 'match', 'search'],
])
const UNSET_FLAGS = new Set(['is_transferable', 'is_burnable'])
const BOUNDS = new Set(['lower_bound', 'upper_bound', 'before, after'])

/** Whether the ids of all that match, not too many, are read from one index. */
function readsIds(search: AssetSearch, expected: number): boolean {
  const { values, templates } = search
  const filters = filtersOf(search)
  return (
    expected <= MOST_IDS &&
    filters.length === 1 &&
    // Neither has a condition that an index of templates could answer.
    templates.kind !== 'many' &&
    !(templates.kind === 'ids' && templates.isBroad) &&
    !values.isNull('template_id') &&
    filters.every((name) => WITH_IDS.has(name) || (UNSET_FLAGS.has(name) && values.bool(name) === false))
  )
}

/** Whether ids tell which assets match. */
function hasBoundsOfIds(search: AssetSearch): boolean {
  return filtersOf(search).every((name) => BOUNDS.has(name))
}

/** What is burned has indexes of its own for every order. */
function hasOrderOfItsOwn(search: AssetSearch): boolean {
  return search.values.bool('burned') === true && filtersOf(search).every((name) => name === 'burned')
}
