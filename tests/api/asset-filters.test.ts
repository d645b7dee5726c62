import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { connectDatabase } from '../../services/core/database/index.ts'
import { readingOf } from './reading.ts'
import type { Asset, Reading } from './reading.ts'
import { serveRecordings } from './server.ts'
import type { TestServer } from './server.ts'

let server: TestServer
let read: Reading
beforeAll(async () => {
  server = await serveRecordings(['main'])
  read = readingOf(server)
})
afterAll(() => server.close())

describe('has_template_buyoffer', () => {
  it('has_template_buyoffer selects assets whose template has a listed buy offer, and no asset without a template', async () => {
    const templates = await read.get<{ template_id: string }[]>('/v1/templates?has_assets=true&limit=3')
    const [wanted, sold] = templates.map(({ template_id }) => template_id)
    const client = await connectDatabase(server.database.address, { applicationName: 'test' })
    await client.query(
      `INSERT INTO market.template_buyoffers (buyoffer_id, created_at_time, updated_at_time, price, collection_fee,
          created_at_block, updated_at_block, template_id, state, buyer, token_symbol, collection_name, maker_marketplace)
        SELECT 1000 + n, 1, 1, 1, 0, 1, 1, template_id, state, 'buyer', 'WAX', 'col', ''
        FROM unnest($1::integer[], $2::smallint[]) WITH ORDINALITY AS u(template_id, state, n)`,
      [
        [wanted, sold],
        [0, 2],
      ],
    )
    await client.end()
    const all = await read.everything<Asset>('/v1/assets', 1000)
    const asked = await read.get<Asset[]>('/v1/assets?has_template_buyoffer=true&limit=1000')
    const unasked = await read.get<Asset[]>('/v1/assets?has_template_buyoffer=false&limit=1000')
    expect(asked.length).toBeGreaterThan(0)
    expect(asked).toEqual(all.filter(({ template }) => template?.template_id === wanted))
    expect(unasked).toEqual(all.filter(({ template }) => template?.template_id !== wanted))
    expect(await read.get('/v1/assets/_count?has_template_buyoffer=true')).toBe(String(asked.length))
  })
})

describe('the endpoint of a single schema', () => {
  it('a request for a schema by several names in the path returns the newest matching schema', async () => {
    const schemas =
      await read.get<{ schema_name: string; collection: { collection_name: string } }[]>('/v1/schemas')
    const newest = schemas[0]!
    const collections = `nosuch,${newest.collection.collection_name},testcollect1`
    const found = await read.get(`/v1/schemas/${collections}/none,${newest.schema_name},minimal`)
    expect(found).toEqual(newest)
    expect(await read.failure('/v1/schemas/nosuch,none/minimal')).toBe('416 Schema not found')
    expect(await read.failure('/v1/schemas/NOSUCH/minimal')).toBe(
      '400 Invalid value for parameter collection_name',
    )
  })
})
