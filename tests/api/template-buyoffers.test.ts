import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { benchNamespaces } from '../../scripts/bench/families.ts'
import { generateDatabase, scaledSizes } from '../../scripts/bench/generated/index.ts'
import { createNamespace, jsonString, readRequest } from '../../services/api/index.ts'
import { parseConfig } from '../../services/core/config/index.ts'
import { connectDatabase } from '../../services/core/database/index.ts'
import { createTestDatabase } from '../setup/database.ts'
import type { TestDatabase } from '../setup/database.ts'
import { sessionOf } from './client-session.ts'

let database: TestDatabase
let client: pg.Client
beforeAll(async () => {
  database = await createTestDatabase()
  await generateDatabase(database.address, { sizes: scaledSizes(0.02), seed: 'template-buyoffers' })
  client = await connectDatabase(database.address, { applicationName: 'test' })
  await client.query(
    'UPDATE assets.templates SET transferable = template_id % 3 <> 0, burnable = template_id % 2 = 0; ANALYZE',
  )
})
afterAll(async () => {
  await client.end()
  await database.drop()
})

const { config } = parseConfig({ server: { namespaces: benchNamespaces('market') } })
const endpoints = config.server.namespaces.flatMap(
  (entry) => createNamespace(entry, { trigrams: true })?.endpoints ?? [],
)

async function idsOf(query: Readonly<Record<string, string>>): Promise<string[]> {
  const endpoint = endpoints.find(({ path }) => path === '/v1/template_buyoffers')!
  const raw = new Map(Object.entries({ ...query, sort: 'buyoffer_id', order: 'asc', limit: '50' }))
  const values = await readRequest(endpoint.parameters, { raw, lists: () => Promise.resolve([]) })
  const data = await endpoint.run({ session: sessionOf(client), values, attributes: [] })
  return (JSON.parse(jsonString(data)) as { buyoffer_id: string }[]).map((each) => each.buyoffer_id)
}

describe('template buy offers', () => {
  it.each([
    [{ is_transferable: 'true' }, 't.transferable'],
    [{ is_transferable: 'false' }, 'NOT t.transferable'],
    [{ is_burnable: 'true', state: '0' }, 't.burnable AND l.state = 0'],
    [{ is_burnable: 'false', is_transferable: 'true' }, 'NOT t.burnable AND t.transferable'],
  ])(
    'template buy offers filtered with %j are exactly the offers whose template matches',
    async (query, condition) => {
      const { rows } = await client.query<{ id: string }>(
        `SELECT buyoffer_id::text AS id FROM market.template_buyoffers l JOIN assets.templates t USING (template_id)
        WHERE ${condition} ORDER BY buyoffer_id LIMIT 50`,
      )
      expect(await idsOf(query as Readonly<Record<string, string>>)).toEqual(rows.map(({ id }) => id))
      expect(rows.length).toBeGreaterThan(0)
    },
  )
})
