import type pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { listingTables } from '../../services/api/namespaces/market/lists/listing-table.ts'
import { buildQueryIndexes, connectDatabase } from '../../services/core/database/index.ts'
import { createTestDatabase } from '../setup/database.ts'
import type { TestDatabase } from '../setup/database.ts'

let database: TestDatabase
let client: pg.Client

beforeAll(async () => {
  database = await createTestDatabase()
  client = await connectDatabase(database.address, { applicationName: 'test' })
  await buildQueryIndexes(client, 'market')
})
afterAll(async () => {
  await client.end()
  await database.drop()
})

const known = Object.values(listingTables).flatMap(({ table, source }) =>
  source.indexes.map(({ name, only }) => ({ name, table, only })),
)

it.each(known)(
  'the index $name of the planner exists, and its predicate has the state that the planner knows',
  async (index) => {
    const { rows } = await client.query<{ table: string; predicate: string | null }>(
      `SELECT indrelid::regclass::text AS table, pg_get_expr(indpred, indrelid) AS predicate
     FROM pg_index WHERE indexrelid = to_regclass($1)`,
      [`market.${index.name}`],
    )
    expect(rows).toHaveLength(1)
    expect(rows[0]!.table).toBe(index.table)
    const state = /\bstate = (\d+)/.exec(rows[0]!.predicate ?? '')?.[1]
    expect(index.only).toEqual(state === undefined ? undefined : { column: 'state', value: Number(state) })
  },
)
