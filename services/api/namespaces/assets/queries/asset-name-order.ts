import type { Session } from '../../../database/index.ts'
import { Bindings, whereClause } from '../../../database/index.ts'
import type { PageQuery } from '../../paging/index.ts'
import { schemaHomes } from './asset-conditions.ts'
import type { AssetSearch } from './asset-search.ts'
import {
  areFew,
  demandsTemplate,
  expectedSorting,
  FEW_TO_SORT,
  searchConditions,
  templateSideConditions,
  unindexed,
} from './asset-search.ts'
import { INDEXED_NAME_LENGTH, TEMPLATE_NAME } from './template-conditions.ts'

/** Name among the asset's own attributes; an index holds those that have one. */
const OWN_NAME = `coalesce(a.immutable_data ->> 'name', a.mutable_data ->> 'name')`
const FIXED_NAME = `(t.immutable_data ->> 'name')`
/** Name in the merged data: the template's immutable one, the asset's own, the template's mutable one. */
const NAME = `coalesce(${FIXED_NAME}, ${OWN_NAME}, t.mutable_data ->> 'name') COLLATE "C"`
/** Templates without a fixed name up to which the named assets of each are read on their own. */
const FEW_NAMELESS = 500
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
  const sorting = await expectedSorting(session, search)
  if (sorting === 'all' || (sorting === 'perhaps all' && (await areFew(session, search, FEW_TO_SORT)))) {
    const bindings = new Bindings()
    const conditions = foundConditions(search, bindings)
    return { key: KEY, from: FROM, conditions, order: `${NAME} ${direction} NULLS LAST, ${KEY}`, bindings }
  }
  const walk = await mergedOrder(session, search, direction)
  return sorting === 'probably all' ? { ...walk, attempts: [fewNames(search, direction)] } : walk
}

/** Conditions on all that match, where these are found by their filters. */
function foundConditions(search: AssetSearch, bindings: Bindings): string[] {
  return [...searchConditions(search, bindings), ...schemaHomes(search.values, bindings)]
}

/** All that match, sorted, if they are few; those without a name are left to what follows. */
function fewNames(search: AssetSearch, direction: 'ASC' | 'DESC'): PageQuery {
  const bindings = new Bindings()
  const within = whereClause(foundConditions(search, bindings))
  return {
    key: KEY,
    with: `few AS MATERIALIZED (SELECT ${KEY}, ${NAME} AS name FROM ${FROM} ${within} LIMIT ${FEW_TO_SORT + 1})`,
    from: 'few a',
    conditions: ['a.name IS NOT NULL'],
    order: `a.name ${direction}, ${KEY}`,
    isWhole: `(SELECT count(*) FROM few) <= ${FEW_TO_SORT}`,
    bindings,
  }
}

async function mergedOrder(
  session: Session,
  search: AssetSearch,
  direction: 'ASC' | 'DESC',
): Promise<PageQuery> {
  const nameless = await namelessTemplates(session, search)
  const bindings = new Bindings()
  const conditions = searchConditions(search, bindings).map(unindexed)
  const ofTemplate = templateSideConditions(search, bindings)
  const scope: NameScope = {
    conditions,
    ofTemplate,
    direction,
    isBare: !demandsTemplate(search),
    // Spelled out: a count of the rows has no place for a bound value.
    nameless: nameless && `'{${nameless.join(',')}}'::integer[]`,
  }
  return {
    key: KEY,
    from: FROM,
    conditions: [...conditions, `(a.template_id IS NULL OR ${all(ofTemplate)})`, `${NAME} IS NOT NULL`],
    order: '',
    ordered: (most) => mergedNames(scope, most),
    bindings,
    rest: () => withoutName(search),
  }
}

function all(conditions: readonly string[]): string {
  return conditions.length === 0 ? 'TRUE' : `(${conditions.join(' AND ')})`
}

/** Templates of a search without a fixed name, by whose assets' own names these are found; undefined when many. */
async function namelessTemplates(session: Session, search: AssetSearch): Promise<number[] | undefined> {
  const bindings = new Bindings()
  const conditions = [`${FIXED_NAME} IS NULL`, ...templateSideConditions(search, bindings)]
  const rows = await session.query<[number]>({
    text: `SELECT t.template_id FROM assets.templates t ${whereClause(conditions)} LIMIT ${FEW_NAMELESS + 1}`,
    values: bindings.values,
  })
  return rows.length > FEW_NAMELESS ? undefined : rows.map(([id]) => id)
}

/** Which assets are to be put in the order of their names. */
interface NameScope {
  readonly conditions: readonly string[]
  readonly ofTemplate: readonly string[]
  readonly direction: string
  /** Assets without a template may be among them. */
  readonly isBare: boolean
  /** Array of the templates without a fixed name, where these are few. */
  readonly nameless: string | undefined
}

function mergedNames(scope: NameScope, most: number): string {
  const { direction, isBare, nameless } = scope
  const sources = [namesOfTemplates(scope, most)]
  if (nameless !== undefined) sources.push(ownNamesOf(nameless, scope, most))
  else sources.push(ownNames(scope, ['a.template_id IS NOT NULL', NO_FIXED_NAME], most))
  if (isBare) sources.push(ownNames(scope, ['a.template_id IS NULL'], most))
  const all = sources.map((source) => `(${source})`).join(' UNION ALL ')
  return `SELECT u.k FROM (${all}) u ORDER BY u.h ${direction}, u.n ${direction}, u.k LIMIT ${most}`
}

const NO_FIXED_NAME = `NOT EXISTS (SELECT FROM assets.templates t WHERE t.template_id = a.template_id AND ${FIXED_NAME} IS NOT NULL)`

function head(name: string): string {
  return `left(${name}, ${INDEXED_NAME_LENGTH}) COLLATE "C"`
}

/** Assets that are called like their templates. */
function namesOfTemplates({ conditions, ofTemplate, direction }: NameScope, most: number): string {
  const within = whereClause([
    'a.template_id = t.template_id',
    `(${FIXED_NAME} IS NOT NULL OR ${OWN_NAME} IS NULL)`,
    ...conditions,
  ])
  return `SELECT ${head(TEMPLATE_NAME)} AS h, ${TEMPLATE_NAME} COLLATE "C" AS n, x.asset_id AS k
    FROM assets.templates t CROSS JOIN LATERAL (
      SELECT a.asset_id FROM assets.assets a ${within} ORDER BY a.asset_id LIMIT ${most}) x
    ${whereClause([`${head(TEMPLATE_NAME)} IS NOT NULL`, ...ofTemplate])}
    ORDER BY h ${direction}, n ${direction}, k LIMIT ${most}`
}

/** Assets with a name of their own, in its order. */
function ownNames({ conditions, direction }: NameScope, further: readonly string[], most: number): string {
  return `SELECT ${head(OWN_NAME)} AS h, ${OWN_NAME} COLLATE "C" AS n, a.asset_id AS k
    FROM assets.assets a ${whereClause([`${OWN_NAME} IS NOT NULL`, ...further, ...conditions])}
    ORDER BY h ${direction}, n ${direction}, k LIMIT ${most}`
}

/** The same of each of these templates. */
function ownNamesOf(templates: string, scope: NameScope, most: number): string {
  return `SELECT x.h, x.n, x.k FROM unnest(${templates}) b(template_id)
    CROSS JOIN LATERAL (${ownNames(scope, ['a.template_id IS NOT NULL', 'a.template_id = b.template_id'], most)}) x
    ORDER BY x.h ${scope.direction}, x.n ${scope.direction}, x.k LIMIT ${most}`
}

function withoutName(search: AssetSearch): PageQuery {
  const bindings = new Bindings()
  const conditions = [...foundConditions(search, bindings), `${NAME} IS NULL`]
  return { key: KEY, from: FROM, conditions, order: KEY, bindings }
}
