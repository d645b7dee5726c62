import type { Session } from '../../../database/index.ts'
import { Bindings, whereClause } from '../../../database/index.ts'
import type { AttributeFilter, Values } from '../../../endpoint/index.ts'
import { bindIntegers } from '../../paging/index.ts'
import { authorizedCondition, collectionLists, oneOf } from './asset-conditions.ts'
import { countIdRange } from './asset-id-range.ts'
import { templateDataConditions } from './template-conditions.ts'

/** Parameters that do not change how many rows match. */
const WITHOUT_EFFECT = new Set(['page', 'limit', 'order', 'sort', 'count', 'account_blacklist'])
const OF_SCHEMAS = [
  'burned',
  'collection_name',
  'schema_name',
  'collection_whitelist',
  'collection_blacklist',
  'authorized_account',
]
const OF_TEMPLATES = [
  'template_id',
  'template_whitelist',
  'template_blacklist',
  'is_transferable',
  'is_burnable',
  'match',
  'search',
]
const OF_OWNERS = ['burned', 'owner', 'collection_name', 'collection_whitelist', 'collection_blacklist']
const OF_IDS = ['lower_bound', 'upper_bound', 'before', 'after']

/**
 * The number of assets from the counters that the filler keeps, as text; undefined when the filters of the request
 * are not those of a counter.
 */
export async function countFromCounters(
  session: Session,
  values: Values,
  attributes: readonly AttributeFilter[],
  trigrams: boolean,
): Promise<string | undefined> {
  if (values.text('sort') === 'original_mint') return undefined
  if (attributes.some(({ family }) => family === 'immutable_data' || family === 'mutable_data')) {
    return undefined
  }
  const filters = values
    .names()
    .filter((name) => !WITHOUT_EFFECT.has(name) && (name !== 'hide_offers' || values.bool(name) === true))
  const areAll = (allowed: readonly string[]): boolean => filters.every((name) => allowed.includes(name))
  if (attributes.length === 0) {
    if (values.has('owner') && values.bool('burned') !== true && areAll(OF_OWNERS)) {
      return sumOwners(session, values)
    }
    const isDated = ['updated', 'transferred'].includes(values.text('sort') ?? '')
    if (filters.length > 0 && !isDated && areAll(OF_IDS)) return countIdRange(session, values)
  }
  return areAll([...OF_SCHEMAS, ...OF_TEMPLATES])
    ? sumTemplates(session, values, attributes, trigrams)
    : undefined
}

/** Counters of accounts: for an owner, or an owner in some collections. */
async function sumOwners(session: Session, values: Values): Promise<string> {
  const bindings = new Bindings()
  const conditions = [
    ...oneOf('k.account', values.texts('owner'), bindings),
    ...oneOf('k.collection_name', values.texts('collection_name'), bindings),
    ...collectionLists('k.collection_name', values, bindings),
  ]
  const isWhole = conditions.length === 1
  const table = isWhole ? 'assets.accounts' : 'assets.collection_accounts'
  return total(session, `SELECT sum(k.assets) FROM ${table} k ${whereClause(conditions)}`, bindings)
}

/**
 * Counters of templates where the request asks for templates; otherwise those of schemas, which also count assets
 * without a template, less those of the templates that it leaves out.
 */
async function sumTemplates(
  session: Session,
  values: Values,
  attributes: readonly AttributeFilter[],
  trigrams: boolean,
): Promise<string> {
  const bindings = new Bindings()
  const isBare = values.isNull('template_id')
  const wanted = [
    ...['template_id', 'template_whitelist'].flatMap((name) => {
      const ids = values.ids(name)
      return ids ? [`t.template_id = ANY(${bindIntegers(ids, bindings)})`] : []
    }),
    ...flags(values, false),
    ...templateDataConditions(values, attributes, trigrams, bindings),
  ]
  // No asset has a template and none.
  if (isBare && wanted.length > 0) return '0'
  const black = isBare ? undefined : values.ids('template_blacklist')
  const left = [
    ...(black && black.length > 0 ? [`t.template_id = ANY(${bindIntegers(black, bindings)})`] : []),
    ...flags(values, true),
  ]
  if (wanted.length > 0) {
    const kept = left.map((condition) => `NOT (${condition})`)
    return total(session, ofTemplates(values, [...wanted, ...kept], bindings), bindings)
  }
  const all = ofSchemas(values, bindings)
  if (!isBare && left.length === 0) return total(session, all, bindings)
  const less = ofTemplates(values, isBare ? [] : [`(${left.join(' OR ')})`], bindings)
  return total(session, `SELECT coalesce((${all}), 0) - coalesce((${less}), 0)`, bindings)
}

/** Templates without a flag that is asked for (`wanted` true), or for whose lack is asked. */
function flags(values: Values, wanted: boolean): string[] {
  return [
    ...(values.bool('is_transferable') === wanted ? ['NOT t.transferable'] : []),
    ...(values.bool('is_burnable') === wanted ? ['NOT t.burnable'] : []),
  ]
}

function ofTemplates(values: Values, conditions: readonly string[], bindings: Bindings): string {
  return `SELECT sum(${counted(values)}) FROM assets.template_counts k JOIN assets.templates t USING (template_id)
    ${whereClause([...conditions, ...homeConditions('t', values, bindings)])}`
}

function ofSchemas(values: Values, bindings: Bindings): string {
  const table = values.has('schema_name') ? 'assets.schema_counts' : 'assets.collection_counts'
  return `SELECT sum(${counted(values)}) FROM ${table} k ${whereClause(homeConditions('k', values, bindings))}`
}

/** The part of a counter that `burned` asks for. */
function counted(values: Values): string {
  const burned = values.bool('burned')
  if (burned === undefined) return 'k.minted'
  return burned ? 'k.burned' : 'k.minted - k.burned'
}

/** Conditions on the collection and schema of a row. */
function homeConditions(row: string, values: Values, bindings: Bindings): string[] {
  return [
    ...oneOf(`${row}.collection_name`, values.texts('collection_name'), bindings),
    ...oneOf(`${row}.schema_name`, values.texts('schema_name'), bindings),
    ...collectionLists(`${row}.collection_name`, values, bindings),
    ...authorizedCondition(`${row}.collection_name`, values, bindings),
  ]
}

async function total(session: Session, select: string, bindings: Bindings): Promise<string> {
  const rows = await session.query<[string | null]>({
    text: `SELECT (${select})::text`,
    values: bindings.values,
  })
  return rows[0]![0] ?? '0'
}
