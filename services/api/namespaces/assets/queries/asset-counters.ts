import type { Session } from '../../../database/index.ts'
import { Bindings, whereClause } from '../../../database/index.ts'
import type { AttributeFilter, Values } from '../../../endpoint/index.ts'
import { bindIntegers } from '../../paging/index.ts'
import { collectionLists, oneOf } from './asset-conditions.ts'

/** Parameters that do not change how many rows match. */
const WITHOUT_EFFECT = new Set(['page', 'limit', 'order', 'count', 'hide_offers', 'account_blacklist'])
const OF_SCHEMAS = new Set([
  'burned',
  'collection_name',
  'schema_name',
  'collection_whitelist',
  'collection_blacklist',
])
const OF_TEMPLATES = new Set(['burned', 'template_id'])
const OF_OWNERS = new Set(['burned', 'owner'])

/**
 * The number of assets from the counters that the filler keeps, as text; undefined when the filters of the request
 * are not those of a counter.
 */
export async function countFromCounters(
  session: Session,
  values: Values,
  attributes: readonly AttributeFilter[],
): Promise<string | undefined> {
  if (attributes.length > 0 || values.bool('hide_offers') === true) return undefined
  if (values.text('sort') === 'original_mint') return undefined
  const filters = values.names().filter((name) => !WITHOUT_EFFECT.has(name) && name !== 'sort')
  const areAll = (allowed: ReadonlySet<string>): boolean => filters.every((name) => allowed.has(name))
  if (areAll(OF_SCHEMAS)) return sumSchemas(session, values)
  if (values.ids('template_id') && areAll(OF_TEMPLATES)) return sumTemplates(session, values)
  if (values.has('owner') && values.bool('burned') !== true && areAll(OF_OWNERS))
    return sumOwners(session, values)
  return undefined
}

/** The part of a counter that `burned` asks for. */
function counted(values: Values): string {
  const burned = values.bool('burned')
  if (burned === undefined) return 'k.minted'
  return burned ? 'k.burned' : 'k.minted - k.burned'
}

async function sumSchemas(session: Session, values: Values): Promise<string> {
  const bindings = new Bindings()
  const conditions = [
    ...oneOf('k.collection_name', values.texts('collection_name'), bindings),
    ...oneOf('k.schema_name', values.texts('schema_name'), bindings),
    ...collectionLists('k.collection_name', values, bindings),
  ]
  const table = values.has('schema_name') ? 'assets.schema_counts' : 'assets.collection_counts'
  return sum(session, `sum(${counted(values)}) FROM ${table} k ${whereClause(conditions)}`, bindings)
}

async function sumTemplates(session: Session, values: Values): Promise<string> {
  const bindings = new Bindings()
  const ids = bindIntegers(values.ids('template_id')!, bindings)
  return sum(
    session,
    `sum(${counted(values)}) FROM assets.template_counts k WHERE k.template_id = ANY(${ids})`,
    bindings,
  )
}

async function sumOwners(session: Session, values: Values): Promise<string> {
  const bindings = new Bindings()
  const conditions = oneOf('k.account', values.texts('owner'), bindings)
  return sum(session, `sum(k.assets) FROM assets.accounts k ${whereClause(conditions)}`, bindings)
}

async function sum(session: Session, expression: string, bindings: Bindings): Promise<string> {
  const rows = await session.query<[string | null]>({
    text: `SELECT (SELECT ${expression})::text`,
    values: bindings.values,
  })
  return rows[0]![0] ?? '0'
}
