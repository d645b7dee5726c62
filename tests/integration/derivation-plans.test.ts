import type pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { connectDatabase } from '../../services/core/database/index.ts'
import { createHandler } from '../../services/filler/handlers/index.ts'
import { createTestDatabase } from '../setup/database.ts'
import type { TestDatabase } from '../setup/database.ts'

interface PlanNode {
  readonly Filter?: string
  readonly Plans?: readonly PlanNode[]
}

const entries = [
  { handler: 'assets', args: { assets_account: 'assets' } },
  { handler: 'oracle', args: { oracle_account: 'oracle' } },
  { handler: 'market', args: { market_account: 'market' } },
  { handler: 'tools', args: { tools_account: 'tools' } },
]
const statements = entries
  .flatMap((entry) => createHandler(entry, entries)!.derived ?? [])
  .flatMap((derived) =>
    derived.kind === 'derivation' ? [{ name: derived.name, statement: derived.statement }] : [],
  )

let database: TestDatabase
let client: pg.Client

beforeAll(async () => {
  database = await createTestDatabase()
  client = await connectDatabase(database.address, { applicationName: 'test' })
  await client.query('SET plan_cache_mode = force_generic_plan')
})
afterAll(async () => {
  await client.end()
  await database.drop()
})

const filtersOf = ({ Filter: filter, Plans: plans = [] }: PlanNode): string[] => [
  ...(filter === undefined ? [] : [filter]),
  ...plans.flatMap(filtersOf),
]

it.each(statements)(
  'the statement of the derivation $name compares columns in their own type: an index cannot find a converted column',
  async ({ statement }) => {
    await client.query('DEALLOCATE ALL')
    await client.query(`PREPARE derivation AS ${statement}`)
    const { rows: parameters } = await client.query<{ count: number }>(
      `SELECT cardinality(parameter_types) AS count FROM pg_prepared_statements WHERE name = 'derivation'`,
    )
    const nulls = Array.from({ length: parameters[0]!.count }, () => 'NULL').join(', ')
    const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
      `EXPLAIN (FORMAT JSON) EXECUTE derivation(${nulls})`,
    )
    const filters = filtersOf(rows[0]!['QUERY PLAN'][0].Plan)
    expect(filters.filter((filter) => /\(\w+\)::(?:double precision|numeric)/.test(filter))).toEqual([])
  },
)
