import { createHash } from 'node:crypto'
import { allOf, bind, raw, sql, where } from '../../../database/index.ts'
import type { Sql } from '../../../database/index.ts'
import type { Filter, Statistics } from '../../../lists/index.ts'
import { ASSETS, SCHEMAS } from './asset-source.ts'
import { isNoneOf, isOneOf } from './conditions.ts'
import type { AssetValues } from '../parameters.ts'

/** Pairs of collection and schema up to which their keys are computed here. */
const MAX_PAIRS = 64

/** The key of a schema: the first 64 bits of the MD5 of `collection/schema`, signed; as assets.schemas.schema_key. */
export function schemaKey(collection: string, schema: string): bigint {
  return createHash('md5').update(`${collection}/${schema}`).digest().readBigInt64BE(0)
}

/** Holds for every asset, `a`: with it an index led by the schema serves conditions on the columns behind. */
export const OF_ANY_SCHEMA = raw('a.schema_key = ANY(ARRAY(SELECT s.schema_key FROM assets.schemas s))')

/** The collections that are requested by name and white-list; undefined for all. */
function wantedCollections(values: AssetValues): readonly string[] | undefined {
  const { collection_name: collections, collection_whitelist: white } = values
  return collections && white ? collections.filter((name) => white.includes(name)) : (collections ?? white)
}

/** Conditions of collections and schemas on a row with `collection_name` and `schema_name`. */
export function schemaConditions(values: AssetValues, row: string): Sql[] {
  const wanted = wantedCollections(values)
  const { schema_name: schemas, authorized_account: authorized, collection_blacklist: black } = values
  return [
    ...(black && black.length > 0 ? [isNoneOf(raw(`${row}.collection_name`), black)] : []),
    ...(wanted ? [isOneOf(raw(`${row}.collection_name`), wanted)] : []),
    ...(schemas ? [isOneOf(raw(`${row}.schema_name`), schemas)] : []),
    ...(authorized === undefined
      ? []
      : [
          sql`${raw(row)}.collection_name IN (SELECT k.collection_name FROM assets.collections k
            WHERE k.authorized_accounts @> ARRAY[${bind(authorized, 'text')}])`,
        ]),
  ]
}

/** Filters of collections and schemas on assets, `a`: names, white-list, authorized account, black-list. */
export function schemaFilters(values: AssetValues, statistics: Statistics): Filter[] {
  const { collection_name: collections, collection_whitelist: white, schema_name: schemas } = values
  const { authorized_account: authorized, collection_blacklist: black } = values
  const filters: Filter[] = []
  if (black && black.length > 0) {
    const without = statistics.rows(ASSETS) - statistics.equal(ASSETS, 'collection_name', black)
    filters.push({
      name: 'collection_blacklist',
      condition: isNoneOf(raw('a.collection_name'), black),
      rows: Math.max(1, without),
      columns: ['collection_name'],
      isIndexed: false,
    })
  }
  const names = [
    ...(collections ? ['collection_name'] : []),
    ...(white ? ['collection_whitelist'] : []),
    ...(schemas ? ['schema_name'] : []),
    ...(authorized === undefined ? [] : ['authorized_account']),
  ]
  if (names.length === 0) return filters
  const wanted = wantedCollections(values)
  const common = {
    name: names.join(', '),
    columns: ['collection_name', 'schema_name'],
    isIndexed: true,
    group: 'template',
  }
  const isPaired =
    wanted && schemas && authorized === undefined && wanted.length * schemas.length <= MAX_PAIRS
  if (isPaired) {
    const keys = wanted.flatMap((collection) => schemas.map((schema) => schemaKey(collection, schema)))
    const condition = isKey(keys)
    return [
      ...filters,
      {
        ...common,
        columns: ['schema_key'],
        condition,
        rows: statistics.equal(ASSETS, 'schema_key', keys),
        equals: { column: 'schema_key', values: keys, type: 'bigint', count: keys.length },
      },
    ]
  }
  const keys = sql`SELECT s.schema_key AS value FROM assets.schemas s ${where(schemaConditions(values, 's'))}`
  const estimate = (table: string): number =>
    Math.min(
      wanted ? statistics.equal(table, 'collection_name', wanted) : Infinity,
      schemas ? statistics.equal(table, 'schema_name', schemas) : Infinity,
      // Accounts are authorized for few collections.
      authorized === undefined ? Infinity : statistics.rows(table) / 50,
    )
  const isNever = wanted?.length === 0 || schemas?.length === 0
  return [
    ...filters,
    {
      ...common,
      condition: allOf(schemaConditions(values, 'a')),
      found: sql`a.schema_key = ANY(ARRAY(${keys}))`,
      rows: isNever ? 0 : estimate(ASSETS),
      equals: {
        column: 'schema_key',
        values: keys,
        type: 'bigint',
        count: isNever ? 0 : Math.max(1, Math.round(estimate(SCHEMAS))),
      },
    },
  ]
}

function isKey(keys: readonly bigint[]): Sql {
  return keys.length === 1
    ? sql`a.schema_key = ${bind(keys[0]!, 'bigint')}`
    : sql`a.schema_key = ANY(${bind(`{${keys.join(',')}}`, 'bigint[]')})`
}
