import type { Session } from '../../../database/index.ts'
import type { Sql } from '../../../sql/index.ts'
import { joinSql, raw, sql, where } from '../../../sql/index.ts'
import type { AttributeFilter } from '../../../request/index.ts'
import { authorizedBy, inCollections, oneOf, oneOfIds } from '../../nft/conditions/index.ts'
import { templateConditions } from '../../nft/filters/index.ts'
import { countIdRange } from './asset-id-range.ts'
import { sumOf } from './sum.ts'
import type { AssetValues } from '../../nft/parameters/index.ts'

/**
 * Parameters that do not change the number of matching assets, such as the page. A request with such a parameter can be
 * counted from counters.
 */
const withoutEffect = new Set(['page', 'limit', 'order', 'sort', 'count', 'account_blacklist'])
const schemaCounters = [
  'burned',
  'collection_name',
  'schema_name',
  'collection_whitelist',
  'collection_blacklist',
  'authorized_account',
]

const templateCounters = [
  'template_id',
  'template_whitelist',
  'template_blacklist',
  'is_transferable',
  'is_burnable',
  'match',
  'search',
]

const ofOwners = ['burned', 'owner', 'collection_name', 'collection_whitelist', 'collection_blacklist']
const ofIds = ['lower_bound', 'upper_bound', 'before', 'after']

/**
 * Number of assets that match the request, summed from the counters that the filler maintains, as text. Undefined if
 * the counters do not cover every filter.
 */
export async function countFromCounters(
  session: Session,
  values: AssetValues,
  attributes: readonly AttributeFilter[],
  trigrams: boolean,
): Promise<string | undefined> {
  if (values.sort === 'original_mint') return undefined
  if (attributes.some(({ family }) => family === 'immutable_data' || family === 'mutable_data')) {
    return undefined
  }
  const filters = Object.keys(values).filter(
    (name) => !withoutEffect.has(name) && (name !== 'hide_offers' || values[name] === true),
  )
  const areAll = (allowed: readonly string[]): boolean => filters.every((name) => allowed.includes(name))
  if (attributes.length === 0) {
    if (values.owner !== undefined && values.burned !== true && areAll(ofOwners)) {
      return sumOwners(session, values)
    }
    const isDated = ['updated', 'transferred'].includes(values.sort ?? '')
    if (filters.length > 0 && !isDated && areAll(ofIds)) return countIdRange(session, values)
  }
  return areAll([...schemaCounters, ...templateCounters])
    ? sumTemplates(session, values, attributes, trigrams)
    : undefined
}

/**
 * Number of assets that the requested accounts own, summed from the counters by account. If collections are given, the
 * counters by account and collection are summed.
 */
async function sumOwners(session: Session, values: AssetValues): Promise<string> {
  const conditions = [...oneOf('k.account', values.owner), ...inCollections('k.collection_name', values)]
  const isWhole = conditions.length === 1
  const table = raw(isWhole ? 'assets.accounts' : 'assets.collection_accounts')
  return sumOf(session, sql`SELECT sum(k.assets) FROM ${table} k ${where(conditions)}`)
}

/**
 * Number of assets that match the request. If the request selects templates, the counters of these templates are
 * summed. Otherwise the counters of the collections or schemas are summed, which include assets without a template, and
 * the counters of the templates that the request excludes are subtracted.
 */
async function sumTemplates(
  session: Session,
  values: AssetValues,
  attributes: readonly AttributeFilter[],
  trigrams: boolean,
): Promise<string> {
  const isWithoutTemplate = values.template_id === null
  const wanted = [
    ...oneOfIds('t.template_id', values.template_id),
    ...oneOfIds('t.template_id', values.template_whitelist),
    ...templateConditions({ values, attributes, trigrams }),
  ]
  // No asset matches: the request wants assets without a template, and has filters on templates.
  if (isWithoutTemplate && wanted.length > 0) return '0'
  const black = isWithoutTemplate ? [] : (values.template_blacklist ?? [])
  const excluded = [
    ...(black.length > 0 ? oneOfIds('t.template_id', black) : []),
    ...(values.is_transferable === true ? [raw('NOT t.transferable')] : []),
    ...(values.is_burnable === true ? [raw('NOT t.burnable')] : []),
  ]
  if (wanted.length > 0) {
    const others = excluded.map((condition) => sql`NOT (${condition})`)
    return sumOf(session, ofTemplates(values, [...wanted, ...others]))
  }
  const all = ofSchemas(values)
  if (!isWithoutTemplate && excluded.length === 0) return sumOf(session, all)
  const less = ofTemplates(values, isWithoutTemplate ? [] : [sql`(${joinSql(excluded, ' OR ')})`])
  return sumOf(session, sql`SELECT coalesce((${all}), 0) - coalesce((${less}), 0)`)
}

function ofTemplates(values: AssetValues, conditions: readonly Sql[]): Sql {
  return sql`SELECT sum(${counted(values)}) FROM assets.template_counts k JOIN assets.templates t USING (template_id)
    ${where([...conditions, ...homeConditions('t', values)])}`
}

function ofSchemas(values: AssetValues): Sql {
  const table = raw(values.schema_name !== undefined ? 'assets.schema_counts' : 'assets.collection_counts')
  return sql`SELECT sum(${counted(values)}) FROM ${table} k ${where(homeConditions('k', values))}`
}

/**
 * SQL expression on a row of counters (alias `k`): number of burned assets if `burned` is true, of other assets if
 * `burned` is false, of all minted assets if `burned` is undefined.
 */
function counted(values: AssetValues): Sql {
  const burned = values.burned
  if (burned === undefined) return raw('k.minted')
  return raw(burned ? 'k.burned' : 'k.minted - k.burned')
}

/** SQL conditions on the collection and the schema in the table with the alias `row`. */
function homeConditions(row: string, values: AssetValues): Sql[] {
  return [
    ...oneOf(`${row}.schema_name`, values.schema_name),
    ...inCollections(`${row}.collection_name`, values),
    ...authorizedBy(`${row}.collection_name`, values.authorized_account),
  ]
}
