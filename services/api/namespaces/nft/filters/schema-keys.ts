import { allOf, bind, raw, sql, where } from '../../../sql/index.ts'
import type { Sql } from '../../../sql/index.ts'
import type { Filter } from '../../../planner/filters/index.ts'
import type { Statistics } from '../../../planner/index.ts'
import { wantedCollections } from '../parameters/index.ts'
import { createHash } from 'node:crypto'
import { ASSETS, SCHEMAS } from '../tables.ts'
import { authorizedBy, inCollections, oneOf } from '../conditions/index.ts'
import type { AssetValues } from '../parameters/index.ts'

/** Up to this number of pairs of collection and schema, the API computes the schema keys; above, SQL does. */
export const MAX_SCHEMA_PAIRS = 64
/** Approximate share of the rows in collections that authorize a given account. */
export const AUTHORIZED = 0.02

/**
 * The key of a schema: the first 64 bits of the MD5 of `collection/schema`, signed; equals assets.schemas.schema_key.
 */
export function schemaKey(collection: string, schema: string): bigint {
  return createHash('md5').update(`${collection}/${schema}`).digest().readBigInt64BE(0)
}

/**
 * Condition that every asset, `a`, meets: it lets an index led by the schema key serve conditions on its further
 * columns (skip scan).
 */
export const OF_ANY_SCHEMA = raw('a.schema_key = ANY(ARRAY(SELECT s.schema_key FROM assets.schemas s))')

/** Conditions on collections and schemas, for a row with `collection_name` and `schema_name`. */
export function schemaConditions(values: AssetValues, row: string): Sql[] {
  return [
    ...inCollections(`${row}.collection_name`, values),
    ...oneOf(`${row}.schema_name`, values.schema_name),
    ...authorizedBy(`${row}.collection_name`, values.authorized_account),
  ]
}

/** Names of the parameters that select schemas. */
function schemaNames(values: AssetValues): string[] {
  return [
    ...(wantedCollections(values) ? ['collection_name'] : []),
    ...(values.schema_name ? ['schema_name'] : []),
    ...(values.authorized_account === undefined ? [] : ['authorized_account']),
  ]
}

/**
 * The filter on collections and schemas of assets, `a`: names, white-list, authorized account, black-list. A
 * black-list alone leaves nearly all schemas; their index ranges can be merged.
 */
export function schemaFilters(values: AssetValues, statistics: Statistics): Filter[] {
  const { schema_name: schemas, authorized_account: authorized, collection_blacklist: black = [] } = values
  const wanted = wantedCollections(values)
  const names = schemaNames(values)
  const isNarrow = names.length > 0
  if (!isNarrow && black.length === 0) return []
  const common = {
    name: isNarrow ? names.join(', ') : 'collection_blacklist',
    isIndexed: isNarrow,
    group: 'template',
  }
  if (wanted && schemas && authorized === undefined && wanted.length * schemas.length <= MAX_SCHEMA_PAIRS) {
    const keys = wanted.flatMap((collection) => schemas.map((schema) => schemaKey(collection, schema)))
    const equals = { column: 'schema_key', values: keys, type: 'bigint', count: keys.length }
    const rows = statistics.equal(ASSETS, 'schema_key', keys)
    return [{ ...common, columns: ['schema_key'], condition: isKey(keys), rows, equals }]
  }
  const keys = sql`SELECT s.schema_key AS value FROM assets.schemas s ${where(schemaConditions(values, 's'))}`
  const isNever = wanted?.length === 0 || schemas?.length === 0
  const estimate = (table: string): number => {
    if (isNever) return 0
    const all = statistics.rows(table)
    const rows = Math.min(
      wanted
        ? statistics.equal(table, 'collection_name', wanted)
        : all - statistics.equal(table, 'collection_name', black),
      schemas ? statistics.equal(table, 'schema_name', schemas) : Infinity,
      authorized === undefined ? Infinity : all * AUTHORIZED,
    )
    return Math.max(1, rows)
  }
  return [
    {
      ...common,
      columns: ['collection_name', 'schema_name'],
      condition: allOf(schemaConditions(values, 'a')),
      ...(isNarrow ? { found: sql`a.schema_key = ANY(ARRAY(${keys}))` } : {}),
      rows: estimate(ASSETS),
      equals: {
        column: 'schema_key',
        values: keys,
        type: 'bigint',
        count: Math.round(estimate(SCHEMAS)),
      },
    },
  ]
}

function isKey(keys: readonly bigint[]): Sql {
  return keys.length === 1
    ? sql`a.schema_key = ${bind(keys[0]!, 'bigint')}`
    : sql`a.schema_key = ANY(${bind(`{${keys.join(',')}}`, 'bigint[]')})`
}
