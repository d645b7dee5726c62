import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestDatabase } from '../../../../../tests/setup/database.ts'
import type { TestDatabase } from '../../../../../tests/setup/database.ts'
import { connectDatabase } from '../../../../core/database/index.ts'
import { raw, sql } from '../../../database/index.ts'
import type { Sql } from '../../../database/index.ts'
import { isNoneOf, isNoneOfIds } from './conditions.ts'

let database: TestDatabase
let client: pg.Client

beforeAll(async () => {
  database = await createTestDatabase()
  client = await connectDatabase(database.address, { applicationName: 'test' })
})
afterAll(async () => {
  await client.end()
  await database.drop()
})

const people = raw('(SELECT n AS id, n::text AS name FROM generate_series(1, 20000) AS n) AS people')

async function rows(query: Sql): Promise<unknown[]> {
  const { text, values } = query.render()
  return (await client.query<unknown[]>({ text, values: [...values], rowMode: 'array' })).rows.flat()
}

describe('a long list of what is left out', () => {
  const ids = Array.from({ length: 10_000 }, (_, at) => BigInt(at * 2))
  const conditions = [
    ['texts', isNoneOf(raw('name'), ids.map(String))],
    ['ids', isNoneOfIds(raw('id'), ids)],
  ] as const

  it.each(conditions)(
    'a long list of what is left out of %s is hashed once: no row is compared with one after the other',
    async (_, condition) => {
      const plan = (await rows(sql`EXPLAIN SELECT * FROM ${people} WHERE ${condition}`)).join('\n')
      expect(plan).toContain('hashed SubPlan')
      expect(plan).not.toContain('<> ALL')
    },
  )

  it.each(conditions)(
    'a long list of what is left out of %s leaves out the same as a comparison',
    async (_, condition) => {
      const left = await rows(sql`SELECT id FROM ${people} WHERE ${condition} ORDER BY id`)
      const out = new Set(ids.map(Number))
      expect(left).toEqual(Array.from({ length: 20_000 }, (_, at) => at + 1).filter((id) => !out.has(id)))
    },
  )
})
