import { stringify } from 'yaml'
import { FatalError } from '../../core/errors/index.ts'
import type { Catalogue, Relationship } from './catalogue.ts'
import type { ShownTable } from './schema.ts'

/** Role of GraphQL requests without Hasura's admin secret. */
const READER_ROLE = 'reader'
/** Placeholder in the metadata. The configured row limit replaces the placeholder when Hasura gets the metadata. */
export const ROW_LIMIT = 1_000

/** Name of the database in Hasura, and the environment variable with the PostgreSQL URL of the database. */
const source = { name: 'pronghorn', urlVariable: 'PRONGHORN_DATABASE_URL' } as const

/** Text of one metadata file, by its path below `metadata/`. */
export type MetadataFiles = Readonly<Record<string, string>>

/**
 * The metadata directory (format 3 of Hasura 2) for a schema.
 * @throws FatalError CONFIG_INVALID naming catalogue entries whose table or column does not exist.
 */
export function generateMetadata(catalogue: Catalogue, tables: readonly ShownTable[]): MetadataFiles {
  const shown = tables.filter((table) => !catalogue.hidden.includes(nameOf(table)))
  const problems = findProblems(catalogue, tables, shown)
  if (problems.length > 0) {
    throw new FatalError('CONFIG_INVALID', `infra/hasura/catalogue.yaml: ${problems.join('; ')}`)
  }
  const files: Record<string, string> = {
    'version.yaml': stringify({ version: 3 }),
    'api_limits.yaml': stringify(describeLimits(catalogue.limits)),
    'databases/databases.yaml': stringify([
      {
        name: source.name,
        kind: 'postgres',
        configuration: {
          connection_info: {
            database_url: { from_env: source.urlVariable },
            isolation_level: 'read-committed',
            pool_settings: { max_connections: 10, pool_timeout: 5, idle_timeout: 180, retries: 1 },
            use_prepared_statements: true,
          },
        },
      },
    ]),
    'databases/pronghorn/tables/tables.yaml': stringify(shown.map((table) => `!include ${fileOf(table)}`)),
  }
  for (const table of shown) {
    const relationships = catalogue.relationships.filter(({ from }) => from === nameOf(table))
    files[`databases/pronghorn/tables/${fileOf(table)}`] = stringify(describeTable(table, relationships), {
      lineWidth: 120,
    })
  }
  return files
}

function typeOf(table: ShownTable | undefined, name: string): string | null {
  return table?.columns.find((column) => column.name === name)?.type ?? null
}

/** Group of a column type. Columns of one group can be joined through an index of either column. */
function comparable(type: string): string {
  return /^(?:smallint|integer|bigint)$/.test(type) ? 'integers' : type
}

/** Format of Hasura's `set_api_limits`. */
function describeLimits({ depth, nodes, seconds, batch }: Catalogue['limits']): unknown {
  const forAll = (global: number): unknown => ({ global, per_role: {} })
  return {
    disabled: false,
    depth_limit: forAll(depth),
    node_limit: forAll(nodes),
    time_limit: forAll(seconds),
    batch_limit: forAll(batch),
  }
}

function nameOf({ schema, name }: ShownTable): string {
  return `${schema}.${name}`
}

function fileOf({ schema, name }: ShownTable): string {
  return `${schema}_${name}.yaml`
}

function findProblems(
  catalogue: Catalogue,
  tables: readonly ShownTable[],
  shown: readonly ShownTable[],
): string[] {
  const problems: string[] = []
  for (const hidden of catalogue.hidden) {
    if (!tables.some((table) => nameOf(table) === hidden))
      problems.push(`hidden table ${hidden} does not exist`)
  }
  const seen = new Set<string>()
  for (const { from, name, one, many, columns } of catalogue.relationships) {
    const place = `relationship ${name} of ${from}`
    if ((one === undefined) === (many === undefined)) problems.push(`${place} needs either "one" or "many"`)
    if (seen.has(place)) problems.push(`${place} occurs twice`)
    seen.add(place)
    const home = shown.find((each) => nameOf(each) === from)
    if (home?.columns.some((column) => column.name === name))
      problems.push(`${place} has the name of a column`)
    const there = shown.find((each) => nameOf(each) === (one ?? many))
    for (const [left, right] of Object.entries(columns)) {
      const [here, remote] = [typeOf(home, left), typeOf(there, right)]
      if (here === null || remote === null || comparable(here) === comparable(remote)) continue
      problems.push(`${place}: ${left} (${here}) and ${right} (${remote}) cannot be compared`)
    }
    for (const [table, wanted] of [
      [from, Object.keys(columns)],
      [one ?? many ?? '', Object.values(columns)],
    ] as const) {
      const found = shown.find((each) => nameOf(each) === table)
      if (!found) problems.push(`${place}: Hasura does not show table ${table}`)
      for (const column of wanted) {
        if (found && !found.columns.some((each) => each.name === column)) {
          problems.push(`${place}: ${table} has no column ${column}`)
        }
      }
    }
  }
  return problems
}

function describeTable(table: ShownTable, relationships: readonly Relationship[]): unknown {
  const commented = table.columns.filter(({ comment }) => comment !== null)
  const relate = (relationship: Relationship, target: string): unknown => {
    const [schema, name] = target.split('.')
    return {
      name: relationship.name,
      using: {
        manual_configuration: {
          column_mapping: relationship.columns,
          insertion_order: null,
          remote_table: { schema, name },
        },
      },
    }
  }
  const one = relationships.filter((each) => each.one !== undefined)
  const many = relationships.filter((each) => each.many !== undefined)
  return {
    table: { schema: table.schema, name: table.name },
    configuration: {
      custom_name: table.name,
      custom_root_fields: {},
      ...(table.comment === null ? {} : { comment: table.comment }),
      column_config: Object.fromEntries(commented.map(({ name, comment }) => [name, { comment }])),
      custom_column_names: {},
    },
    ...(one.length > 0 ? { object_relationships: one.map((each) => relate(each, each.one!)) } : {}),
    ...(many.length > 0 ? { array_relationships: many.map((each) => relate(each, each.many!)) } : {}),
    select_permissions: [
      {
        role: READER_ROLE,
        permission: {
          columns: table.columns.map(({ name }) => name),
          filter: {},
          limit: ROW_LIMIT,
          allow_aggregations: false,
          subscription_root_fields: [],
        },
      },
    ],
  }
}
