import type { Session } from '../../../database/index.ts'
import { Bindings, whereClause } from '../../../database/index.ts'
import type { PageQuery } from '../../paging/index.ts'
import type { AssetSearch } from './asset-search.ts'
import { leavesOutLittle, matchesFew, searchConditions, templateSideConditions } from './asset-search.ts'
import { INDEXED_NAME_LENGTH, TEMPLATE_NAME } from './template-conditions.ts'

/** Assets up to which all that match are looked at and sorted. */
const FEW = 4_000

/** Name among the asset's own attributes; an index holds those that have one. */
const OWN_NAME = `coalesce(a.immutable_data ->> 'name', a.mutable_data ->> 'name')`
const FIXED_NAME = `(t.immutable_data ->> 'name')`
/** Name in the merged data: the template's immutable one, the asset's own, the template's mutable one. */
const NAME = `coalesce(${FIXED_NAME}, ${OWN_NAME}, t.mutable_data ->> 'name') COLLATE "C"`
const FROM = 'assets.assets a LEFT JOIN assets.templates t ON t.template_id = a.template_id'
const KEY = 'a.asset_id'

/**
 * Assets by the name in their merged data, those without one last. Most names are those of templates, which are few: so
 * the templates are walked in the order of their names, merged with the assets that have a name of their own. Where few
 * assets match, they are sorted.
 */
export async function nameOrder(
  session: Session,
  search: AssetSearch,
  direction: 'ASC' | 'DESC',
): Promise<PageQuery> {
  if (!leavesOutLittle(search) && (await matchesFew(session, search, FEW))) {
    const bindings = new Bindings()
    const conditions = searchConditions(search, bindings)
    return { key: KEY, from: FROM, conditions, order: `${NAME} ${direction} NULLS LAST, ${KEY}`, bindings }
  }
  const bindings = new Bindings()
  const conditions = searchConditions(search, bindings)
  const ofTemplate = templateSideConditions(search, bindings)
  return {
    key: KEY,
    from: FROM,
    conditions: [...conditions, `(a.template_id IS NULL OR ${all(ofTemplate)})`, `${NAME} IS NOT NULL`],
    order: '',
    ordered: (most) => mergedNames(conditions, ofTemplate, direction, most),
    bindings,
    rest: () => withoutName(search),
  }
}

function all(conditions: readonly string[]): string {
  return conditions.length === 0 ? 'TRUE' : `(${conditions.join(' AND ')})`
}

function mergedNames(
  conditions: readonly string[],
  ofTemplate: readonly string[],
  direction: string,
  most: number,
): string {
  const head = (name: string): string => `left(${name}, ${INDEXED_NAME_LENGTH}) COLLATE "C"`
  const within = whereClause([
    'a.template_id = t.template_id',
    `(${FIXED_NAME} IS NOT NULL OR ${OWN_NAME} IS NULL)`,
    ...conditions,
  ])
  const templates = `SELECT ${head(TEMPLATE_NAME)} AS h, ${TEMPLATE_NAME} COLLATE "C" AS n, x.asset_id AS k
    FROM assets.templates t CROSS JOIN LATERAL (
      SELECT a.asset_id FROM assets.assets a ${within} ORDER BY a.asset_id LIMIT ${most}) x
    ${whereClause([`${head(TEMPLATE_NAME)} IS NOT NULL`, ...ofTemplate])}
    ORDER BY h ${direction}, n ${direction}, k LIMIT ${most}`
  const own = `SELECT ${head(OWN_NAME)} AS h, ${OWN_NAME} COLLATE "C" AS n, a.asset_id AS k
    FROM assets.assets a
    ${whereClause([
      `${OWN_NAME} IS NOT NULL`,
      `NOT EXISTS (SELECT FROM assets.templates t WHERE t.template_id = a.template_id AND ${FIXED_NAME} IS NOT NULL)`,
      ...conditions,
    ])}
    ORDER BY h ${direction}, n ${direction}, k LIMIT ${most}`
  return `SELECT u.k FROM ((${templates}) UNION ALL (${own})) u ORDER BY u.h ${direction}, u.n ${direction}, u.k LIMIT ${most}`
}

function withoutName(search: AssetSearch): PageQuery {
  const bindings = new Bindings()
  const conditions = [...searchConditions(search, bindings), `${NAME} IS NULL`]
  return { key: KEY, from: FROM, conditions, order: KEY, bindings }
}
