import { allOf, bind, raw, sql, where, anyOf, bindIds, bindIntegers, Sql } from '../../../sql/index.ts'
import type { Filter } from '../../../planner/filters/index.ts'
import type { Statistics } from '../../../planner/index.ts'
import {
  wantedCollections,
  authorizedBy,
  inCollections,
  oneOf,
  contains,
  containsText,
  resembles,
  oneOfIds,
  isOneOf,
} from '../conditions/index.ts'
import { createHash } from 'node:crypto'
import { ASSETS, SCHEMAS } from '../tables.ts'
import type { AssetValues } from '../parameters/index.ts'
import type { AttributeFilter } from '../../../request/index.ts'
import type { Session } from '../../../database/index.ts'
import { NEVER } from '../../../planner/filters/index.ts'
import type { BoundaryValues } from '../paging/index.ts'

/**
 * Maximum number of (collection, schema) pairs whose schema keys the API computes. For more pairs, a subquery returns
 * the keys.
 */
export const MAX_SCHEMA_PAIRS = 64
/** Approximate share of the assets, schemas or templates that belong to collections which authorize a given account. */
export const AUTHORIZED = 0.02

/**
 * The key of a schema: the first 64 bits of the MD5 of `collection/schema`, as a signed integer. The column
 * assets.schemas.schema_key stores the same number.
 */
export function schemaKey(collection: string, schema: string): bigint {
  return createHash('md5').update(`${collection}/${schema}`).digest().readBigInt64BE(0)
}

/**
 * Condition that every asset `a` meets: the asset's schema exists. An index whose first column is the schema key then
 * serves conditions on its later columns: PostgreSQL searches the index once for each schema (skip scan).
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

/**
 * The filter on the collections and schemas of assets, whose SQL alias is `a`. The filter applies collection names,
 * schema names, white-list, black-list and authorized account.
 * A black-list alone excludes few schemas, so the filter then has no index condition (`found`). The planner can still
 * merge the index ranges of the remaining schemas, which `equals` lists.
 */
export function schemaFilters(values: AssetValues, statistics: Statistics): Filter[] {
  const { schema_name: schemas, authorized_account: authorized, collection_blacklist: black = [] } = values
  const wanted = wantedCollections(values)
  const names = [
    ...(wanted ? ['collection_name'] : []),
    ...(schemas ? ['schema_name'] : []),
    ...(authorized === undefined ? [] : ['authorized_account']),
  ]
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

/** Values of a request that select templates by data and flags. */
export interface TemplateRequest<
  V = Pick<AssetValues, 'match' | 'search' | 'is_transferable' | 'is_burnable'>,
> {
  readonly values: V
  readonly attributes: readonly AttributeFilter[]
  /** Whether the database has the `pg_trgm` extension. */
  readonly trigrams: boolean
}

/**
 * Conditions on a template with the SQL alias `t`: filters on attributes, searches for names, and filters on flags. A
 * flag has a condition only if the request requires that the flag is false.
 */
export function templateConditions({ values, attributes, trigrams }: TemplateRequest): Sql[] {
  const conditions: Sql[] = []
  for (const { family, containments } of attributes) {
    if (family !== 'data' && family !== 'template_data') continue
    const columns = ['t.immutable_data', 't.mutable_data']
    conditions.push(anyOf(columns.flatMap((column) => containments.map((pair) => contains(column, pair)))))
  }
  const names = [raw(`(t.immutable_data ->> 'name')`), raw(`(t.mutable_data ->> 'name')`)]
  const anyName = (test: (name: Sql) => Sql): Sql => {
    const [fixed, changing] = names.map(test)
    return sql`(${fixed!} OR ${changing!})`
  }
  const { match, search } = values
  if (match) conditions.push(anyName((name) => containsText(name, match)))
  if (search) conditions.push(anyName((name) => resembles(name, search, trigrams)))
  for (const flag of ['transferable', 'burnable'] as const) {
    if (values[`is_${flag}` as const] === false) conditions.push(raw(`NOT t.${flag}`))
  }
  return conditions
}

/**
 * Maximum number of template ids that replace a filter on template data in a list of assets. If more templates match,
 * the filter checks the template of each asset instead.
 */
const MAX_RESOLVED = 2_000

/** Name of the filter that selects assets by the data of their templates. */
export const TEMPLATE_DATA = 'attributes of templates'

/** The templates that match a request's filters on template data, for a list of assets. */
export type ResolvedTemplates =
  | { readonly kind: 'unfiltered' }
  /** All matching templates. */
  | {
      readonly kind: 'ids'
      readonly ids: readonly number[]
      /** Number of unburned assets of the matching templates. */
      readonly held: number
      /**
       * Number of unburned assets of the matching templates without an immutable name. Only these assets can have a
       * name that differs from the name of the template.
       */
      readonly unnamed: number
    }
  /** More than MAX_RESOLVED templates match, so the filter checks the template of each asset. */
  | { readonly kind: 'many' }

/**
 * Looks up the ids of the templates that match a request's filters on template data. There are far fewer templates than
 * assets, and with the template ids an index returns the assets in the wanted order.
 * @param isWithin whether to look up the requested template ids even if the request has no filter on template data. The
 * result then has only the ids of templates that exist in the requested collections and schemas.
 */
export async function resolveTemplates(
  session: Session,
  request: TemplateRequest<AssetValues>,
  isWithin = false,
): Promise<ResolvedTemplates> {
  const { values } = request
  const selected = templateConditions(request)
  if (selected.length === 0 && !(isWithin && values.template_id)) return { kind: 'unfiltered' }
  const conditions = [
    ...selected,
    ...oneOf('t.schema_name', values.schema_name),
    ...inCollections('t.collection_name', values),
    ...oneOfIds('t.template_id', values.template_id),
  ]
  const rows = await session.query<[ids: string | null, held: number, unnamed: number]>(
    // Returns the template ids as one text, because one text is cheaper than a row for each template.
    sql`SELECT string_agg(t.template_id::text, ','), coalesce(sum(n.minted - n.burned), 0)::float8,
        coalesce(sum(n.minted - n.burned) FILTER (WHERE NOT t.is_named), 0)::float8
      FROM (SELECT t.template_id, t.immutable_data ->> 'name' IS NOT NULL AS is_named FROM assets.templates t ${where(conditions)} LIMIT ${raw(`${MAX_RESOLVED + 1}`)}) t
      LEFT JOIN assets.template_counts n USING (template_id)`.render(),
  )
  const [text, held, unnamed] = rows[0]!
  const found = text === null ? [] : text.split(',').map(Number)
  if (found.length > MAX_RESOLVED) return { kind: 'many' }
  return { kind: 'ids', ids: found, held, unnamed }
}

/**
 * A table whose rows have the name of a collection: the table of collections, or a table of things that belong to
 * collections.
 */
export interface OfCollections {
  /** Schema-qualified name, such as `assets.offers`. `Statistics` stores row estimates by this name. */
  readonly table: string
  readonly alias: string
  /** Column with the name of the collection. */
  readonly column: string
}

/** Filter on a column of names: the row has one of the given names. */
export function nameFilter(
  name: string,
  names: readonly string[],
  statistics: Statistics,
  { table, alias, column }: OfCollections,
): Filter {
  return {
    name,
    condition: isOneOf(raw(`${alias}.${column}`), names),
    rows: statistics.equal(table, column, names),
    equals: { column, values: names, type: 'text', count: names.length },
    columns: [column],
    isIndexed: true,
  }
}

/**
 * The table of a list, with its key column and time column. These columns are compared with the parameters `ids`,
 * `lower_bound`, `upper_bound`, `before` and `after`. The key column is also compared with the parameter that has its
 * name, such as `offer_id`.
 */
export interface BoundedTable {
  /** Schema-qualified name, such as `assets.offers`. `Statistics` stores row estimates by this name. */
  readonly table: string
  readonly alias: string
  readonly key: string
  /** SQL type of the key. */
  readonly type: 'bigint' | 'integer' | 'text'
  /**
   * Source of the times that `before` and `after` are compared with: a time column, or another table that maps times to
   * keys.
   */
  readonly time?: { readonly column: string } | { readonly keysOf: TimedTable }
}

/**
 * Filters of the parameters `ids`, `lower_bound`, `upper_bound`, `before` and `after`, and of the parameter with the
 * name of the key column, such as `offer_id`.
 * @param named values of the parameter with the name of the key column. A row matches if its key is in `named` or in
 * the parameter `ids`.
 */
export function boundaryFilters(
  values: BoundaryValues,
  statistics: Statistics,
  bounded: BoundedTable,
  named?: readonly (bigint | string)[],
): Filter[] {
  return [
    ...keyFilter(values.ids, named, bounded),
    ...boundFilter(values, statistics, bounded),
    ...timeFilter(values, statistics, bounded),
  ]
}

function keyFilter(
  ids: BoundaryValues['ids'],
  named: BoundaryValues['ids'],
  { alias, key, type }: BoundedTable,
): Filter[] {
  const lists = [ids, named].filter((list) => list !== undefined)
  if (lists.length === 0) return []
  const keys = [...new Set(lists.flat())]
  const column = raw(`${alias}.${key}`)
  const bound =
    type === 'text'
      ? bind(keys as string[], 'text[]')
      : type === 'integer'
        ? bindIntegers(keys as bigint[])
        : bindIds(keys as bigint[])
  return [
    {
      name: `ids, ${key}`,
      condition: keys.length === 0 ? NEVER : sql`${column} = ANY(${bound})`,
      rows: keys.length,
      equals: { column: key, values: keys, type, count: keys.length },
      columns: [key],
      isIndexed: true,
    },
  ]
}

function boundFilter(values: BoundaryValues, statistics: Statistics, bounded: BoundedTable): Filter[] {
  const { table, alias, key, type } = bounded
  const { lower_bound: lower, upper_bound: upper } = values
  if (lower === undefined && upper === undefined) return []
  // A requested bound may exceed the 32-bit integers of the key column, so the bound is compared as a 64-bit integer.
  const cast = type === 'text' ? 'text' : 'bigint'
  const column = raw(`${alias}.${key}`)
  const bounds: Sql[] = []
  if (lower !== undefined) bounds.push(sql`${column} >= ${bind(lower, cast)}`)
  if (upper !== undefined) bounds.push(sql`${column} < ${bind(upper, cast)}`)
  const number = (value: string | number | undefined): bigint | undefined =>
    value === undefined ? undefined : BigInt(value)
  const rows =
    type === 'text'
      ? statistics.rows(table) / 3
      : statistics.between(table, key, number(lower), upper === undefined ? undefined : BigInt(upper) - 1n)
  return [
    {
      name: 'lower_bound, upper_bound',
      condition: allOf(bounds),
      rows,
      range: { column: key },
      columns: [key],
      isIndexed: true,
    },
  ]
}

function timeFilter(values: BoundaryValues, statistics: Statistics, bounded: BoundedTable): Filter[] {
  const { table, alias, key, time } = bounded
  const { before, after } = values
  if (!time || (before === undefined && after === undefined)) return []
  const low = after === undefined ? undefined : BigInt(after) + 1n
  const high = before === undefined ? undefined : BigInt(before) - 1n
  const bounds: Sql[] = []
  if ('column' in time) {
    const column = raw(`${alias}.${time.column}`)
    if (before !== undefined) bounds.push(sql`${column} < ${bind(before, 'bigint')}`)
    if (after !== undefined) bounds.push(sql`${column} > ${bind(after, 'bigint')}`)
  } else {
    const column = raw(`${alias}.${key}`)
    if (before !== undefined) bounds.push(sql`${column} < ${keyAtTime(time.keysOf, before)}`)
    if (after !== undefined) bounds.push(sql`${column} >= ${keyAtTime(time.keysOf, after + 1)}`)
  }
  const rows =
    'column' in time
      ? statistics.between(table, time.column, low, high)
      : (statistics.rows(table) * statistics.between(time.keysOf.table, time.keysOf.time, low, high)) /
        statistics.rows(time.keysOf.table)
  const column = 'column' in time ? time.column : key
  return [
    {
      name: 'before, after',
      condition: allOf(bounds),
      rows,
      range: { column },
      columns: [column],
      isIndexed: true,
    },
  ]
}

/** A table whose key grows with time. */
export interface TimedTable {
  readonly table: string
  readonly key: string
  /** Name of the time column, ms since 1970. */
  readonly time: string
}

/** Largest 64-bit key, above the key of every row. */
const BEYOND_ALL = '9223372036854775807'

/**
 * SQL of the smallest key whose row is at or after a time. If no row is that late, the result is the largest 64-bit
 * number. The query bisects over the key, because times grow with keys. Bisection needs no index on the time, and about
 * as many index probes as the key has bits.
 * @param timeMs ms since 1970; NULL gives the largest 64-bit number.
 */
export function keyAtTime({ table, key, time }: TimedTable, timeMs: number | Sql): Sql {
  const [from, k, t] = [raw(table), raw(key), raw(time)]
  const wanted = timeMs instanceof Sql ? timeMs : bind(timeMs, 'bigint')
  return sql`coalesce((WITH RECURSIVE bisection(low, high) AS (
        SELECT min(${k})::bigint, max(${k})::bigint + 1 FROM ${from}
        UNION ALL
        SELECT CASE WHEN probe.at >= ${wanted} THEN low ELSE probe.key + 1 END,
               CASE WHEN probe.at >= ${wanted} THEN middle ELSE high END
        FROM bisection CROSS JOIN LATERAL (SELECT low + (high - low) / 2 AS middle) m CROSS JOIN LATERAL (
          SELECT ${k}::bigint AS key, ${t} AS at FROM ${from} WHERE ${k} >= middle ORDER BY ${k} LIMIT 1) probe
        WHERE low < high)
      SELECT (SELECT min(${k}) FROM ${from} WHERE ${k} >= low) FROM bisection WHERE low >= high), ${raw(BEYOND_ALL)})`
}
