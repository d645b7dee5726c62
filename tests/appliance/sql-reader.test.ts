import { afterAll, beforeAll, expect, it } from 'vitest'
import type pg from 'pg'
import { ensureSqlReader, grantRights } from '../../services/appliance/database/roles.ts'
import { SQL_READER } from '../../services/appliance/render/index.ts'
import { connectDatabase } from '../../services/core/database/index.ts'
import { createTestDatabase } from '../setup/database.ts'
import type { TestDatabase } from '../setup/database.ts'

const serviceRoles = ['pronghorn_api', 'pronghorn_state', 'pronghorn_graphql']
let database: TestDatabase
let admin: pg.Client
let made: readonly string[]

beforeAll(async () => {
  database = await createTestDatabase()
  admin = await connectDatabase(database.address, { applicationName: 'test' })
  const { rows } = await admin.query<{ rolname: string }>('SELECT rolname::text FROM pg_roles')
  made = serviceRoles.filter((role) => !rows.some(({ rolname }) => rolname === role))
  for (const role of made) await admin.query(`CREATE ROLE ${role}`)
})
afterAll(async () => {
  for (const role of [...made, SQL_READER]) {
    await admin.query(`DROP OWNED BY ${role}`)
    await admin.query(`DROP ROLE ${role}`)
  }
  await admin.end()
  await database.drop()
})

it('the read-only SQL role can read the views but no tables, such as the table of API keys, and cannot write', async () => {
  await ensureSqlReader(admin, database.address.database)
  const password = await ensureSqlReader(admin, database.address.database)
  await grantRights(admin)
  const reader = await connectDatabase(
    { ...database.address, user: SQL_READER, password },
    { applicationName: 'test' },
  )
  try {
    expect((await reader.query('SELECT asset_id, name, data FROM graphql.assets')).rows).toEqual([])
    expect((await reader.query('SELECT price FROM graphql.listed_sales')).rows).toEqual([])
    for (const table of ['assets.assets', 'access.api_keys', 'chain.readers'])
      await expect(reader.query(`SELECT * FROM ${table}`)).rejects.toMatchObject({ code: '42501' })
    await expect(reader.query('CREATE TEMPORARY TABLE mine (id integer)')).rejects.toThrow()
  } finally {
    await reader.end()
  }
})
