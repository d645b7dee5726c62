import type { Session } from '../../../database/index.ts'
import { Bindings } from '../../../database/index.ts'
import type { AttributeFilter, Values } from '../../../endpoint/index.ts'
import type { KeyPage, PageQuery } from '../../paging/index.ts'
import { countRows, directionOf, selectPage } from '../../paging/index.ts'
import { assetArms } from './asset-arms.ts'
import { byColumn } from './asset-column-order.ts'
import { nameOrder } from './asset-name-order.ts'
import type { AssetSearch } from './asset-search.ts'
import { foundConditions, searchAssets, searchConditions } from './asset-search.ts'

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
  return { from: FROM, conditions: foundConditions(search, bindings), bindings }
}

async function orderedQuery(session: Session, search: AssetSearch): Promise<PageQuery> {
  const direction = directionOf(search.values)
  switch (search.values.text('sort')) {
    case 'updated':
      return byColumn(session, search, { column: 'updated_at_time', direction })
    case 'transferred':
      return byColumn(session, search, { column: 'transferred_at_time', direction })
    case 'template_mint':
      // Within a template the numbers follow the ids.
      return isOfOneTemplate(search) ? byId(search, direction) : byMint(session, search, direction)
    case 'name':
      return nameOrder(session, search, direction)
    default:
      return byId(search, direction)
  }
}

function isOfOneTemplate({ values, templates }: AssetSearch): boolean {
  const lists = [values.ids('template_id'), values.ids('template_whitelist')]
  return [...lists, templates.kind === 'ids' ? templates.ids : undefined].some((list) => list?.length === 1)
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
