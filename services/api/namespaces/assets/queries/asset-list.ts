import type { Session } from '../../../database/index.ts'
import { Bindings, whereClause } from '../../../database/index.ts'
import type { AttributeFilter, Values } from '../../../endpoint/index.ts'
import type { KeyPage, PageQuery } from '../../paging/index.ts'
import { countRows, directionOf, selectPage } from '../../paging/index.ts'
import { assetArms } from './asset-arms.ts'
import { schemaHomes } from './asset-conditions.ts'
import { highestMints } from './asset-mint-order.ts'
import { nameOrder } from './asset-name-order.ts'
import type { AssetSearch } from './asset-search.ts'
import {
  countMatching,
  filterConditions,
  filtersOf,
  impliedConditions,
  leavesOutLittle,
  orderConditions,
  searchAssets,
  searchConditions,
} from './asset-search.ts'

const FROM = 'assets.assets a'
const KEY = 'a.asset_id'

/** The page of assets that a request asks for. */
export async function selectAssetPage(
  session: Session,
  values: Values,
  attributes: readonly AttributeFilter[],
  trigrams: boolean,
): Promise<KeyPage> {
  const search = await searchAssets(session, values, attributes, trigrams)
  return selectPage(session, values, await orderedQuery(session, search))
}

/** Number of assets that satisfy a request, as text. */
export async function countAssets(
  session: Session,
  values: Values,
  attributes: readonly AttributeFilter[],
  trigrams: boolean,
): Promise<string> {
  return countRows(session, await assetQuery(session, values, attributes, trigrams))
}

/** The assets, `a`, that satisfy a request, in no order. */
export async function assetQuery(
  session: Session,
  values: Values,
  attributes: readonly AttributeFilter[],
  trigrams: boolean,
): Promise<Pick<PageQuery, 'from' | 'conditions' | 'bindings'>> {
  const search = await searchAssets(session, values, attributes, trigrams)
  const bindings = new Bindings()
  const conditions = [...searchConditions(search, bindings), ...schemaHomes(values, bindings)]
  return { from: FROM, conditions, bindings }
}

/** Assets up to which all that match are sorted. */
const FEW = 8_000
/**
 * How many assets are looked at in order before all that match are sorted: at most so many, and no more than half of
 * those that are to be sorted then, so that looking in vain does not take longer than sorting.
 */
const STRETCH = 20_000

async function orderedQuery(session: Session, search: AssetSearch): Promise<PageQuery> {
  const direction = directionOf(search.values)
  switch (search.values.text('sort')) {
    case 'updated':
      return byColumn(session, search, { column: 'updated_at_time', direction })
    case 'transferred':
      return byColumn(session, search, { column: 'transferred_at_time', direction })
    case 'template_mint':
      // Within a template the numbers follow the ids.
      return search.values.ids('template_id')?.length === 1
        ? byId(search, direction)
        : byMint(session, search, direction)
    case 'name':
      return nameOrder(session, search, direction)
    default:
      return byId(search, direction)
  }
}

/** An order that an index on the column has. */
interface ColumnOrder {
  readonly column: string
  readonly direction: 'ASC' | 'DESC'
  /** Condition on the rows that have their place in it. */
  readonly further?: string
}

/**
 * Assets in the order of a column. With filters there are two ways: in order until the page is full, or all that match,
 * sorted. The second is right where few match. Otherwise the first is tried over a stretch of the order: which of the
 * two is quicker depends on where in the order the matching assets are, and nothing but looking tells.
 */
async function byColumn(session: Session, search: AssetSearch, order: ColumnOrder): Promise<PageQuery> {
  const bindings = new Bindings()
  const { column, direction, further } = order
  const conditions = filterConditions(search, bindings)
  const rest = [
    ...orderConditions(search, bindings),
    ...impliedConditions(search, bindings),
    ...(further === undefined ? [] : [further]),
  ]
  const sorted = { key: KEY, order: `a.${column} ${direction}, ${KEY}`, bindings }
  if (conditions.length === 0) return { ...sorted, from: FROM, conditions: rest }
  const matching = [...conditions, ...schemaHomes(search.values, bindings), ...rest]
  if (hasOrderOfItsOwn(search)) return { ...sorted, from: FROM, conditions: matching }
  const quick = column === 'template_mint' && direction === 'DESC' ? highestMints(search) : undefined
  const attempts = quick ? [quick] : []
  if (leavesOutLittle(search)) return { ...sorted, from: FROM, conditions: matching, attempts }
  // The sign keeps the index of the order out of the plan.
  const page = {
    ...sorted,
    from: FROM,
    conditions: matching,
    order: `(+a.${column}) ${direction}, ${KEY}`,
  }
  const { areFew, expected } = await countMatching(session, search, FEW)
  if (areFew) return page
  const looked = Math.min(STRETCH, Math.ceil(Math.max(FEW, expected) / 2))
  const stretch = `(SELECT a.* FROM ${FROM} ${whereClause(rest)} ORDER BY ${sorted.order} LIMIT ${looked}) a`
  return { ...page, attempts: [...attempts, { ...sorted, from: stretch, conditions: matching }] }
}

/** What is burned has indexes of its own for every order. */
function hasOrderOfItsOwn(search: AssetSearch): boolean {
  return search.values.bool('burned') === true && filtersOf(search).every((name) => name === 'burned')
}

/** Assets without a mint number come last in both directions. */
async function byMint(session: Session, search: AssetSearch, direction: 'ASC' | 'DESC'): Promise<PageQuery> {
  if (search.values.isNull('template_id')) return byId(search, 'ASC')
  return {
    ...(await byColumn(session, search, {
      column: 'template_mint',
      direction,
      further: 'a.template_mint IS NOT NULL',
    })),
    rest: () => byId(search, 'ASC', ['a.template_mint IS NULL']),
  }
}

function byId(search: AssetSearch, direction: 'ASC' | 'DESC', further: readonly string[] = []): PageQuery {
  const bindings = new Bindings()
  return {
    key: KEY,
    from: FROM,
    conditions: [...searchConditions(search, bindings), ...further],
    order: `${KEY} ${direction}`,
    keyDirection: direction,
    arms: () => assetArms(search, bindings),
    bindings,
  }
}
