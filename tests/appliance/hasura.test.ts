import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { compareHasura } from '../../services/appliance/index.ts'
import { assembleMetadata } from '../../services/appliance/hasura/files.ts'
import { generateMetadata } from '../../services/appliance/hasura/metadata.ts'
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

  it('the Hasura metadata agree with the migrated schema, table by table and column by column', async () => {
    expect(await compareHasura(client)).toEqual([])
  })

  it('the check of Hasura metadata names an added and a removed column', async () => {
    await client.query('DROP VIEW graphql.tokens')
    await client.query(
      "CREATE VIEW graphql.tokens AS SELECT token_symbol, token_precision, 'sweet' AS flavour FROM market.tokens",
    )
    const problems = await compareHasura(client)
    expect(problems).toContain('databases/pronghorn/tables/graphql_tokens.yaml: column flavour is missing')
    expect(problems).toContain(
      'databases/pronghorn/tables/graphql_tokens.yaml: column token_contract does not exist',
    )
  })

  it('the Hasura metadata allow the role reader to select from the GraphQL views, and from no table', async () => {
    const { sources } = (await assembleMetadata(50)) as {
      sources: { tables: { table: { schema: string; name: string }; select_permissions: unknown[] }[] }[]
    }
    const tables = sources[0]!.tables
    const names = tables.map(({ table }) => `${table.schema}.${table.name}`)
    expect(names).toEqual(expect.arrayContaining(['graphql.assets', 'graphql.sales', 'graphql.readers']))
    expect(names.filter((name) => !name.startsWith('graphql.'))).toEqual([])
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

  it('the check of Hasura metadata refuses a relationship to a column that does not exist', async () => {
    const catalogue = await readCatalogue()
    const tables = await readTables(client, catalogue.schemas)
    const wrong = {
      from: 'graphql.assets',
      name: 'x',
      one: 'graphql.templates',
      columns: { owner: 'nobody' },
    }
    expect(() => generateMetadata({ ...catalogue, relationships: [wrong] }, tables)).toThrow(
      /no column nobody/,
    )
  })

  it('the check of Hasura metadata refuses relationships of incomparable columns, and relationships named like a column', async () => {
    const catalogue = await readCatalogue()
    const tables = await readTables(client, catalogue.schemas)
    const to = { from: 'graphql.assets', one: 'graphql.templates', columns: { owner: 'template_id' } }
    expect(() => generateMetadata({ ...catalogue, relationships: [{ ...to, name: 'x' }] }, tables)).toThrow(
      /owner \(text\) and template_id \(integer\) cannot be compared/,
    )
    expect(() =>
      generateMetadata({ ...catalogue, relationships: [{ ...to, name: 'minter' }] }, tables),
    ).toThrow(/minter of graphql\.assets has the name of a column/)
  })

  it('the Hasura metadata contain the limits that only some editions of Hasura enforce', async () => {
    expect(await assembleMetadata(50)).toMatchObject({
      api_limits: { disabled: false, depth_limit: { global: 8, per_role: {} }, node_limit: { global: 60 } },
    })
  })
})
