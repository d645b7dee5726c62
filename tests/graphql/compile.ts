import pg from 'pg'
import { assembleMetadata } from '../../services/appliance/hasura/files.ts'
import type { Field, Value } from './operation.ts'

interface TableMetadata {
  readonly table: { readonly schema: string; readonly name: string }
  readonly configuration: { readonly custom_name: string }
  readonly object_relationships?: readonly RelationshipMetadata[]
  readonly array_relationships?: readonly RelationshipMetadata[]
  readonly select_permissions: readonly [
    { readonly permission: { readonly columns: readonly string[]; readonly limit: number } },
  ]
}
interface RelationshipMetadata {
  readonly name: string
  readonly using: {
    readonly manual_configuration: {
      readonly column_mapping: Readonly<Record<string, string>>
      readonly remote_table: { readonly schema: string; readonly name: string }
    }
  }
}
interface Relationship {
  readonly isList: boolean
  readonly target: Table
  readonly columns: readonly (readonly [string, string])[]
}
interface Table {
  readonly sql: string
  readonly name: string
  readonly limit: number
  /** SQL type of each column that the GraphQL role may read. */
  readonly columns: ReadonlyMap<string, string>
  readonly relationships: Map<string, Relationship>
}
/** Tables by the name of their root field in GraphQL. */
export type Tables = ReadonlyMap<string, Table>

/**
 * Reads the tables that GraphQL serves: the metadata of the repository, with the column types of a migrated database.
 */
export async function readShownTables(client: pg.ClientBase, rowLimit: number): Promise<Tables> {
  const { sources } = (await assembleMetadata(rowLimit)) as { sources: [{ tables: TableMetadata[] }] }
  const { rows } = await client.query<{ name: string; column: string; type: string }>(
    `SELECT n.nspname || '.' || c.relname AS name, a.attname AS column, format_type(a.atttypid, NULL) AS type
     FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE a.attnum > 0 AND NOT a.attisdropped AND c.relkind IN ('r', 'p', 'v') AND n.nspname !~ '^pg_'`,
  )
  const types = new Map(rows.map(({ name, column, type }) => [`${name}.${column}`, type]))
  const tables = new Map<string, Table>()
  for (const { table, configuration, select_permissions } of sources[0].tables) {
    const sql = `${table.schema}.${table.name}`
    const { columns, limit } = select_permissions[0].permission
    tables.set(configuration.custom_name, {
      sql,
      name: configuration.custom_name,
      limit,
      columns: new Map(columns.map((column) => [column, types.get(`${sql}.${column}`)!])),
      relationships: new Map(),
    })
  }
  const bySql = new Map([...tables.values()].map((table) => [table.sql, table]))
  for (const described of sources[0].tables) {
    const table = bySql.get(`${described.table.schema}.${described.table.name}`)!
    const add = (isList: boolean, { name, using }: RelationshipMetadata): void => {
      const { column_mapping, remote_table } = using.manual_configuration
      const target = bySql.get(`${remote_table.schema}.${remote_table.name}`)!
      table.relationships.set(name, { isList, target, columns: Object.entries(column_mapping) })
    }
    for (const each of described.object_relationships ?? []) add(false, each)
    for (const each of described.array_relationships ?? []) add(true, each)
  }
  return tables
}

/**
 * Compiles a query to one statement that returns the answer as `data`. As in Hasura's statements, each list is a
 * lateral subquery on the columns of its relationship, and numbers that JSON cannot represent are text. @throws Error
 * naming the unknown field or argument.
 */
export function compileOperation(tables: Tables, fields: readonly Field[]): string {
  const compiler = new Compiler()
  const roots = fields.map((field) => {
    const table = tables.get(field.name)
    if (!table) throw new Error(`field ${field.name} not found in query_root`)
    return `${literal(field.alias)}, (${compiler.list(table, field, [])})`
  })
  return `SELECT json_build_object(${roots.join(', ')}) AS data`
}

const operators: Readonly<Record<string, string>> = {
  _eq: '=',
  _neq: '<>',
  _gt: '>',
  _gte: '>=',
  _lt: '<',
  _lte: '<=',
  _like: 'LIKE',
  _ilike: 'ILIKE',
  _contains: '@>',
  _has_key: '?',
}
const orders: Readonly<Record<string, string>> = {
  asc: 'ASC',
  desc: 'DESC',
  asc_nulls_first: 'ASC NULLS FIRST',
  desc_nulls_last: 'DESC NULLS LAST',
}

class Compiler {
  #aliases = 0

  list(table: Table, field: Field, joined: readonly string[]): string {
    return `SELECT coalesce(json_agg(r.answer), '[]') FROM (${this.#rows(table, field, joined, table.limit)}) r`
  }

  #rows(table: Table, field: Field, joined: readonly string[], most: number): string {
    const base = this.#alias()
    const where: string[] = joined.map((condition) => condition.replaceAll('TARGET', base))
    let order = ''
    let limit = most
    let offset = ''
    for (const [name, value] of field.args) {
      if (name === 'where') where.push(this.#condition(table, base, value))
      else if (name === 'order_by') order = ` ORDER BY ${this.#order(table, base, value)}`
      else if (name === 'limit') limit = Math.min(most, Number(value))
      else if (name === 'offset') offset = ` OFFSET ${Number(value)}`
      else throw new Error(`argument ${name} not found in ${table.name}`)
    }
    const inner = this.#alias()
    const joins: string[] = []
    const values = field.fields.map((each) => {
      if (table.columns.has(each.name)) {
        if (each.fields.length > 0) throw new Error(`${each.name} of ${table.name} has no fields`)
        return `${literal(each.alias)}, ${shown(`${inner}.${each.name}`, table.columns.get(each.name)!)}`
      }
      const relationship = table.relationships.get(each.name)
      if (!relationship) throw new Error(`field ${each.name} not found in ${table.name}`)
      const alias = this.#alias()
      const on = relationship.columns.map(([here, there]) => `TARGET.${there} = ${inner}.${here}`)
      joins.push(
        relationship.isList
          ? `LEFT JOIN LATERAL (${this.list(relationship.target, each, on)}) ${alias}(answer) ON true`
          : `LEFT JOIN LATERAL (${this.#rows(relationship.target, each, on, 1)}) ${alias}(answer) ON true`,
      )
      return `${literal(each.alias)}, ${alias}.answer`
    })
    if (values.length === 0) throw new Error(`${table.name} needs fields`)
    const condition = where.length === 0 ? '' : ` WHERE ${where.join(' AND ')}`
    return (
      `SELECT json_build_object(${values.join(', ')}) AS answer FROM (SELECT * FROM ${table.sql} ${base}${condition}` +
      `${order} LIMIT ${limit}${offset}) ${inner} ${joins.join(' ')}`
    )
  }

  #condition(table: Table, base: string, value: Value): string {
    const parts = [...objectOf(value)].map(([name, inner]) => {
      if (name === '_and' || name === '_or') {
        const each = (inner as readonly Value[]).map((one) => this.#condition(table, base, one))
        return `(${each.join(name === '_and' ? ' AND ' : ' OR ')})`
      }
      if (name === '_not') return `NOT ${this.#condition(table, base, inner)}`
      const type = table.columns.get(name)
      if (type !== undefined) return comparison(`${base}.${name}`, type, inner)
      const relationship = table.relationships.get(name)
      if (!relationship) throw new Error(`field ${name} not found in ${table.name}_bool_exp`)
      const alias = this.#alias()
      const on = relationship.columns.map(([here, there]) => `${alias}.${there} = ${base}.${here}`)
      const more = this.#condition(relationship.target, alias, inner)
      return `EXISTS (SELECT 1 FROM ${relationship.target.sql} ${alias} WHERE ${on.join(' AND ')} AND ${more})`
    })
    return parts.length === 0 ? 'true' : `(${parts.join(' AND ')})`
  }

  #order(table: Table, base: string, value: Value): string {
    const items = Array.isArray(value) ? (value as readonly Value[]) : [value]
    const keys = items.flatMap((item) =>
      [...objectOf(item)].map(([column, direction]) => {
        const keyword = orders[(direction as { enum: string }).enum]
        if (!table.columns.has(column) || keyword === undefined) {
          throw new Error(`${table.name} cannot be ordered by ${column}`)
        }
        return `${base}.${column} ${keyword}`
      }),
    )
    return keys.join(', ')
  }

  #alias(): string {
    return `t${this.#aliases++}`
  }
}

function comparison(column: string, type: string, value: Value): string {
  const parts = [...objectOf(value)].map(([operator, operand]) => {
    if (operator === '_is_null') return `${column} IS ${operand === true ? '' : 'NOT '}NULL`
    if (operator === '_in' || operator === '_nin') {
      const items = (operand as readonly Value[]).map((each) => typed(each, type))
      return `${column} ${operator === '_in' ? '= ANY' : '<> ALL'}(ARRAY[${items.join(', ')}]::${type}[])`
    }
    const sql = operators[operator]
    if (sql === undefined) throw new Error(`operator ${operator} is not known`)
    return `${column} ${sql} ${typed(operand, operator === '_has_key' ? 'text' : type)}`
  })
  return parts.join(' AND ')
}

function typed(value: Value, type: string): string {
  const plain = typeof value === 'object' && value !== null ? JSON.stringify(toJson(value)) : String(value)
  return `(${literal(plain)})::${type}`
}

function toJson(value: Value): unknown {
  if (Array.isArray(value)) return (value as readonly Value[]).map(toJson)
  if (typeof value !== 'object' || value === null || 'enum' in value) return value
  return Object.fromEntries([...objectOf(value)].map(([key, inner]) => [key, toJson(inner)]))
}

function objectOf(value: Value): ReadonlyMap<string, Value> {
  if (typeof value !== 'object' || value === null || !('fields' in value))
    throw new Error('expected an object')
  return value.fields
}

function shown(column: string, type: string): string {
  return /^(?:bigint|numeric|double precision)$/.test(type) ? `${column}::text` : column
}

function literal(text: string): string {
  return pg.escapeLiteral(text)
}
