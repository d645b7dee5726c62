import type { Session } from '../../../database/index.ts'
import { Bindings, whereClause } from '../../../database/index.ts'
import type { PageQuery } from '../../paging/index.ts'
import { pageWindow } from '../../paging/index.ts'
import type { AssetSearch } from './asset-search.ts'
import {
  areFew,
  assetsAbout,
  demandsTemplate,
  expectedSorting,
  foundConditions,
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
  const { sorted, expected } = await expectedSorting(session, search)
  if (sorted === 'all' || (sorted === 'perhaps all' && (await areFew(session, search, FEW_TO_SORT)))) {
    const bindings = new Bindings()
    const conditions = foundConditions(search, bindings)
    const all = {
      key: KEY,
      from: FROM,
      conditions,
      order: `${NAME} ${direction} NULLS LAST, ${KEY}`,
      bindings,
    }
    const length = expected <= FEW_TO_SORT ? undefined : await stretchLength(session, search, expected)
    return length === undefined
      ? all
      : { ...all, attempts: [await firstNames(session, search, direction, length)] }
  }
  const walk = await mergedOrder(session, search, direction)
  return sorted === 'probably all' ? { ...walk, attempts: [fewNames(search, direction)] } : walk
}

/** A stretch is so many times as long as would do if the matching assets were spread evenly. */
const RESERVE = 2
/** Part of the matching assets: to look at so many in order takes little time beside sorting all that match. */
const AFFORDED = 1 / 2

/** How many assets to look at in the order of their names before all that match are sorted; undefined for none. */
async function stretchLength(
  session: Session,
  search: AssetSearch,
  expected: number,
): Promise<number | undefined> {
  const window = pageWindow(search.values)
  if (!window) return undefined
  const needed = ((window.offset + window.limit) * (await assetsAbout(session))) / expected
  const afforded = Math.ceil(expected * AFFORDED)
  return needed * RESERVE > afforded ? undefined : Math.min(afforded, STRETCH)
}

/** How many assets are looked at in order, at most, before all that match are sorted. */
const STRETCH = 20_000
/** Templates that are walked in a stretch, at most. */
const MOST_TEMPLATES = 300

/**
 * Assets with a name up to that of a template, by which so many assets have been passed: nothing but looking tells
 * where in the order those are that match.
 */
async function firstNames(
  session: Session,
  search: AssetSearch,
  direction: 'ASC' | 'DESC',
  length: number,
): Promise<PageQuery> {
  const bindings = new Bindings()
  const ofTemplate = templateSideConditions(search, bindings)
  const name = head(TEMPLATE_NAME)
  const named = whereClause([`${name} IS NOT NULL`, ...ofTemplate])
  const scope = { ...(await nameScope(session, search, direction, bindings)), bound: '(SELECT h FROM bound)' }
  return {
    key: KEY,
    with: `walked AS (SELECT t.h, sum(t.issued_supply) OVER w - t.issued_supply AS passed, row_number() OVER w AS place
        FROM (SELECT ${name} AS h, t.template_id, t.issued_supply FROM assets.templates t ${named}
          ORDER BY h ${direction} LIMIT ${MOST_TEMPLATES + 1}) t
        WINDOW w AS (ORDER BY t.h ${direction}, t.template_id ROWS UNBOUNDED PRECEDING)),
      bound AS MATERIALIZED (SELECT w.h FROM walked w WHERE w.passed >= ${length} OR w.place > ${MOST_TEMPLATES}
        ORDER BY w.place LIMIT 1)`,
    from: FROM,
    conditions: [],
    order: '',
    ordered: (most) => mergedNames(scope, most),
    bindings,
  }
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
  const bindings = new Bindings()
  const scope = await nameScope(session, search, direction, bindings)
  const { conditions, ofTemplate } = scope
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

async function nameScope(
  session: Session,
  search: AssetSearch,
  direction: 'ASC' | 'DESC',
  bindings: Bindings,
): Promise<NameScope> {
  const nameless = await namelessTemplates(session, search)
  return {
    conditions: searchConditions(search, bindings).map(unindexed),
    ofTemplate: templateSideConditions(search, bindings),
    direction,
    isBare: !demandsTemplate(search),
    // Spelled out: a count of the rows has no place for a bound value.
    nameless: nameless && `'{${nameless.join(',')}}'::integer[]`,
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
  readonly direction: 'ASC' | 'DESC'
  /** Head of a name that all are before in the order; of all names if undefined. */
  readonly bound?: string
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

/** That a name is within the bound. */
function boundCondition(name: string, { bound, direction }: NameScope): string[] {
  return bound === undefined ? [] : [`${head(name)} ${direction === 'ASC' ? '<' : '>'} ${bound}`]
}

/** Assets that are called like their templates. */
function namesOfTemplates(scope: NameScope, most: number): string {
  const { conditions, ofTemplate, direction } = scope
  const within = whereClause([
    'a.template_id = t.template_id',
    `(${FIXED_NAME} IS NOT NULL OR ${OWN_NAME} IS NULL)`,
    ...conditions,
  ])
  return `SELECT ${head(TEMPLATE_NAME)} AS h, ${TEMPLATE_NAME} COLLATE "C" AS n, x.asset_id AS k
    FROM assets.templates t CROSS JOIN LATERAL (
      SELECT a.asset_id FROM assets.assets a ${within} ORDER BY a.asset_id LIMIT ${most}) x
    ${whereClause([`${head(TEMPLATE_NAME)} IS NOT NULL`, ...boundCondition(TEMPLATE_NAME, scope), ...ofTemplate])}
    ORDER BY h ${direction}, n ${direction}, k LIMIT ${most}`
}

/** Assets with a name of their own, in its order. */
function ownNames(scope: NameScope, further: readonly string[], most: number): string {
  const { conditions, direction } = scope
  return `SELECT ${head(OWN_NAME)} AS h, ${OWN_NAME} COLLATE "C" AS n, a.asset_id AS k
    FROM assets.assets a ${whereClause([`${OWN_NAME} IS NOT NULL`, ...boundCondition(OWN_NAME, scope), ...further, ...conditions])}
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
