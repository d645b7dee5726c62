import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readCatalogue } from '../../services/appliance/hasura/catalogue.ts'
import { packageRoot } from '../../services/core/paths/index.ts'
import { compileOperation, readShownTables } from './compile.ts'
import type { Tables } from './compile.ts'
import { parseOperation } from './operation.ts'
import { pretendMillions, readUnservedScans } from './plans.ts'
import { createRecordedDatabase } from './recorded-database.ts'
import type { RecordedDatabase } from './recorded-database.ts'

const ROLE = 'test_graphql_reader'
const page = join(packageRoot, 'docs/graphql.md')
/** With the environment variable WRITE_ANSWERS the test writes the answers into docs/graphql.md. */
const isWriting = process.env.WRITE_ANSWERS !== undefined

let database: RecordedDatabase
let client: pg.Client
let tables: Tables

beforeAll(async () => {
  database = await createRecordedDatabase()
  client = database.client
  // Grants of the GraphQL role, as in services/appliance/database/roles.ts.
  await client.query(`DROP ROLE IF EXISTS ${ROLE}`)
  await client.query(`CREATE ROLE ${ROLE}`)
  await client.query(`GRANT USAGE ON SCHEMA graphql, market TO ${ROLE}`)
  await client.query(`GRANT SELECT ON ALL TABLES IN SCHEMA graphql TO ${ROLE}`)
  tables = await readShownTables(client, 1_000)
})
afterAll(async () => {
  await client.query('RESET ROLE')
  await client.query(`DROP OWNED BY ${ROLE}`)
  await client.query(`DROP ROLE ${ROLE}`)
  await database.drop()
})

const answer = async (query: string): Promise<unknown> => {
  await client.query(`SET ROLE ${ROLE}`)
  try {
    const { rows } = await client.query<{ data: unknown }>(compileOperation(tables, parseOperation(query)))
    return rows[0]!.data
  } finally {
    await client.query('RESET ROLE')
  }
}

const text = readFileSync(page, 'utf8')

describe('docs/graphql.md', () => {
  const examples = [
    ...text.matchAll(/^## (.+)\n(?:(?!^## )[^])*?```graphql\n([^]*?)```\n\n```json\n([^]*?)```/gm),
  ]

  it('docs/graphql.md has at least ten queries', () => {
    expect(examples.length).toBeGreaterThanOrEqual(10)
    expect(text.match(/```graphql/g)).toHaveLength(examples.length)
  })

  it.each(examples.map(([, title, query, json]) => ({ title: title!, query: query!, json: json! })))(
    '$title: returns the answer that docs/graphql.md shows',
    async ({ query, json }) => {
      const data = await answer(query)
      if (isWriting) {
        const block = '```graphql\n' + query + '```\n\n```json\n'
        const now = readFileSync(page, 'utf8')
        const written = `${block}${JSON.stringify({ data }, null, 2)}\n`
        writeFileSync(
          page,
          now.replace(`${block}${json}`, () => written),
        )
        return
      }
      expect({ data }).toEqual(JSON.parse(json))
      for (const list of Object.values(data as Record<string, unknown[]>)) expect(list).not.toEqual([])
    },
  )
})

describe('the role of GraphQL', () => {
  it.each(['assets.assets', 'market.sales', 'chain.readers'])(
    'the role of GraphQL cannot read %s',
    async (table) => {
      await client.query(`SET ROLE ${ROLE}`)
      await expect(client.query(`SELECT FROM ${table}`)).rejects.toThrow(/permission denied/)
      await client.query('RESET ROLE')
    },
  )

  it('the role of GraphQL reads every column of every view', async () => {
    await client.query(`SET ROLE ${ROLE}`)
    for (const { sql } of tables.values()) await client.query(`SELECT * FROM ${sql} LIMIT 5`)
    await client.query('RESET ROLE')
    expect(tables.size).toBeGreaterThan(30)
  })
})

describe('query plans for large tables', () => {
  const filters = [...text.matchAll(/^\| `(\w+)` +\| (`.+`) +\|$/gm)].flatMap(([, table, columns]) =>
    columns!
      .split('; ')
      .map((group) => [table!, [...group.matchAll(/`(\w+)`/g)].map(([, name]) => name!)] as const),
  )
  const scansOf = async (table: string, columns: readonly string[]): Promise<string[]> => {
    const { sql, columns: types } = tables.get(table)!
    const parameters = columns.map((column) => types.get(column) ?? `"no column ${column}"`)
    const where = columns.map((column, index) => `${column} = $${index + 1}`).join(' AND ')
    await client.query(
      `PREPARE filtered (${parameters.join(', ')}) AS SELECT ${columns.join(', ')} FROM ${sql} WHERE ${where}`,
    )
    const scans = await readUnservedScans(
      client,
      `EXECUTE filtered (${columns.map(() => 'NULL').join(', ')})`,
    )
    await client.query('DEALLOCATE filtered')
    return scans
  }

  beforeAll(async () => {
    await pretendMillions(client)
    await client.query('SET plan_cache_mode = force_generic_plan')
    // The planner treats tables without rows as small and would choose sequential scans.
    await client.query('SET enable_seqscan = off')
  })

  it('every relationship uses an index', async () => {
    const { relationships } = await readCatalogue()
    const unserved: string[] = []
    for (const { from, name, one, many, columns } of relationships) {
      const target = tables.get((one ?? many)!.split('.')[1]!)!
      const scans = await scansOf(target.name, Object.values(columns))
      unserved.push(...scans.map((scan) => `${from}.${name}: ${scan}`))
    }
    expect(unserved).toEqual([])
    expect(relationships.length).toBeGreaterThan(100)
  })

  it.each(filters)('%s: a filter on %j uses an index', async (table, columns) => {
    expect(await scansOf(table, columns)).toEqual([])
  })

  it('the check of query plans reports a filter without an index', async () => {
    expect(filters.length).toBeGreaterThan(30)
    expect(await scansOf('auctions', ['seller'])).not.toEqual([])
    expect(await scansOf('assets', ['name'])).not.toEqual([])
  })
})
