import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { compareHasura } from '../../services/appliance/index.ts'
import { assembleMetadata } from '../../services/appliance/hasura/index.ts'
import { makeMetadata } from '../../services/appliance/hasura/metadata.ts'
import { readCatalogue } from '../../services/appliance/hasura/catalogue.ts'
import { readTables } from '../../services/appliance/hasura/schema.ts'
import { connectDatabase } from '../../services/core/database/index.ts'
import { createTestDatabase } from '../setup/database.ts'
import type { TestDatabase } from '../setup/database.ts'

describe('Hasura metadata', () => {
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

  it('agree with the migrated schema, table by table and column by column', async () => {
    expect(await compareHasura(client)).toEqual([])
  })

  it('name a column that has come and one that has gone', async () => {
    await client.query('ALTER TABLE assets.tokens ADD COLUMN flavour text')
    await client.query('ALTER TABLE assets.schemas RENAME COLUMN created_at_block TO born_at_block')
    const problems = await compareHasura(client)
    expect(problems.some((problem) => /assets_tokens\.yaml: column flavour is missing/.test(problem))).toBe(
      true,
    )
    expect(problems.some((problem) => /created_at_block does not exist/.test(problem))).toBe(true)
  })

  it('show every table of the families to readers only, without undo, access or leases', async () => {
    const { sources } = (await assembleMetadata(50)) as {
      sources: { tables: { table: { schema: string; name: string }; select_permissions: unknown[] }[] }[]
    }
    const tables = sources[0]!.tables
    const names = tables.map(({ table }) => `${table.schema}.${table.name}`)
    expect(names).toEqual(expect.arrayContaining(['assets.assets', 'market.sales', 'chain.readers']))
    expect(names.filter((name) => /^(undo|access|public)\.|leases/.test(name))).toEqual([])
    for (const table of tables) {
      expect(table.select_permissions).toEqual([
        expect.objectContaining({
          role: 'reader',
          permission: expect.objectContaining({ limit: 50 }) as unknown,
        }),
      ])
      expect(Object.keys(table)).not.toContain('insert_permissions')
    }
  })

  it('refuses a relationship to a column that does not exist', async () => {
    const catalogue = await readCatalogue()
    const tables = await readTables(client, catalogue.schemas)
    const wrong = { from: 'assets.assets', name: 'x', one: 'assets.templates', columns: { owner: 'nobody' } }
    expect(() => makeMetadata({ ...catalogue, relationships: [wrong] }, tables)).toThrow(/no column nobody/)
  })
})
