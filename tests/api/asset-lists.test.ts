import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { generateDatabase, scaledSizes } from '../../scripts/bench/generated/index.ts'
import type { Session, Statement } from '../../services/api/database/index.ts'
import { readAttributeFilters, validateParameters } from '../../services/api/endpoint/index.ts'
import type { Parameter } from '../../services/api/endpoint/index.ts'
import { ListReader, Statistics } from '../../services/api/lists/index.ts'
import { createAssetsNamespace } from '../../services/api/namespaces/assets/index.ts'
import { assetListParameters } from '../../services/api/namespaces/assets/endpoints/index.ts'
import {
  assetPage,
  burnerPage,
  countAssets,
  countOwners,
  ownerPage,
} from '../../services/api/namespaces/assets/lists/index.ts'
import {
  countAccounts,
  countAssets as countOld,
  selectAccounts,
  selectAssetPage,
  selectBurners,
} from '../../services/api/namespaces/assets/queries/index.ts'
import { connectDatabase } from '../../services/core/database/index.ts'
import { createRandom } from '../integration/seeded-random.ts'
import { createTestDatabase } from '../setup/database.ts'
import type { TestDatabase } from '../setup/database.ts'
import { FORCED_PATHS } from './forced-paths.ts'

const REQUESTS = Number(process.env['LIST_REQUESTS'] ?? 250)
const TABLES = ['assets.assets', 'assets.schemas', 'assets.templates', 'assets.backed_tokens']
const FAMILIES = ['data', 'template_data', 'immutable_data', 'mutable_data'] as const

type Query = Readonly<Record<string, string>>

let database: TestDatabase
let client: pg.Client
let session: Session
let parameters: Parameter[]
beforeAll(async () => {
  database = await createTestDatabase()
  await generateDatabase(database.address, scaledSizes(0.01), 'lists')
  client = await connectDatabase(database.address, { applicationName: 'test' })
  await client.query('SET jit = off')
  session = {
    async query<Row extends readonly unknown[]>({ text, values }: Statement): Promise<Row[]> {
      const { rows } = await client.query<unknown[]>({ text, values: [...values], rowMode: 'array' })
      return rows as unknown as Row[]
    },
  }
  parameters = assetListParameters({ limits: { assets: 1_000 } } as never)
})
afterAll(async () => {
  await client.end()
  await database.drop()
})

/** Filters with the values of an asset that is there. */
async function pickFilters(random: () => number): Promise<Query> {
  const { rows } = await client.query<Record<string, unknown>>(
    `SELECT a.*, t.immutable_data AS template_data FROM assets.assets a LEFT JOIN assets.templates t USING (template_id)
     OFFSET $1 LIMIT 1`,
    [Math.floor(random() * 9_000)],
  )
  const asset = rows[0]!
  const text = (name: string): string | undefined => {
    const value = asset[name]
    return value === null || value === undefined ? undefined : String(value as string | number)
  }
  const data = (name: string): Record<string, string | number> =>
    (asset[name] as Record<string, string | number> | null) ?? {}
  const id = BigInt(text('asset_id')!)
  const { rows: others } = await client.query<{
    collection_name: string
    owner: string
    template_id: string
  }>(
    `SELECT collection_name, coalesce(owner, 'nobody') AS owner, coalesce(template_id, 1)::text AS template_id
     FROM assets.assets OFFSET $1 LIMIT 3`,
    [Math.floor(random() * 9_000)],
  )
  const several = (name: 'collection_name' | 'owner' | 'template_id'): string =>
    [text(name) ?? '1', ...others.map((other) => other[name])].join(',')
  const pool: Record<string, string | undefined> = {
    owner: random() < 0.5 ? text('owner') : several('owner'),
    collection_name: random() < 0.7 ? text('collection_name') : several('collection_name'),
    schema_name: text('schema_name'),
    template_id: random() < 0.2 ? 'null' : random() < 0.7 ? text('template_id') : several('template_id'),
    template_whitelist: several('template_id'),
    template_blacklist: several('template_id'),
    collection_whitelist: several('collection_name'),
    collection_blacklist: several('collection_name'),
    burned: random() < 0.5 ? 'true' : 'false',
    minter: text('minter'),
    initial_receiver: text('initial_receiver'),
    burner: text('burned_by_account'),
    authorized_account: text('minter'),
    is_transferable: random() < 0.5 ? 'true' : 'false',
    is_burnable: random() < 0.5 ? 'true' : 'false',
    has_backed_tokens: random() < 0.5 ? 'true' : 'false',
    only_duplicate_templates: 'true',
    hide_offers: 'true',
    hide_templates_by_accounts: several('owner'),
    has_template_buyoffer: random() < 0.5 ? 'true' : 'false',
    template_mint: text('template_mint'),
    min_template_mint: '3',
    max_template_mint: '20',
    lower_bound: String(id - 300n),
    upper_bound: String(id + 500n),
    after: text('minted_at_time'),
    before: text('transferred_at_time'),
    'template_data.rarity': data('template_data')['rarity'] as string | undefined,
    'mutable_data:number.level': data('mutable_data')['level']?.toString(),
    'immutable_data.rarity': data('immutable_data')['rarity'] as string | undefined,
    search: String(data('template_data')['name'] ?? 'a').split(' ')[0],
    match: String(data('template_data')['name'] ?? 'a').slice(0, 3),
    match_mutable_name: 'a',
    match_immutable_name: 'e',
  }
  const given = Object.entries(pool).filter((entry): entry is [string, string] => entry[1] !== undefined)
  const chosen: Record<string, string> = {}
  const count = Math.floor(random() * 5)
  for (let i = 0; i < count; i++) {
    const [name, value] = given[Math.floor(random() * given.length)]!
    chosen[name] = value
  }
  return chosen
}

const SORTS = ['asset_id', 'updated', 'transferred', 'template_mint', 'name']

describe('lists of assets', () => {
  it('are the same whatever access path is chosen', { timeout: 300_000 }, async () => {
    const { fraction: random } = createRandom(Number(process.env['LIST_SEED'] ?? 7))
    const statistics = new Statistics(TABLES, ['assets.assets.mutable_data', 'assets.assets.immutable_data'])
    let shown = 0
    for (let at = 0; at < REQUESTS; at++) {
      const filters = await pickFilters(random)
      const query: Query = {
        ...filters,
        sort: SORTS[Math.floor(random() * SORTS.length)]!,
        order: random() < 0.5 ? 'asc' : 'desc',
        limit: String([1, 5, 30, 100][Math.floor(random() * 4)]!),
        page: random() < 0.7 ? '1' : '3',
      }
      const raw = new Map(Object.entries(query))
      const values = await validateParameters(parameters, {}, raw, () => Promise.resolve([]))
      const attributes = readAttributeFilters(raw, FAMILIES)
      const expected = await selectAssetPage(session, values, attributes, true)
      if (expected.keys.length > 0) shown++
      for (const [name, choose] of Object.entries(FORCED_PATHS)) {
        const reader = new ListReader(statistics, choose)
        const keys = await assetPage(reader, true, { session, values, attributes })
        expect([JSON.stringify(query), name, keys]).toEqual([JSON.stringify(query), name, expected.keys])
        if (name !== 'as chosen' || at % 5 !== 0) continue
        const count = await countAssets(reader, true, { session, values, attributes })
        expect([JSON.stringify(query), count]).toEqual([
          JSON.stringify(query),
          await countOld(session, values, attributes, true),
        ])
      }
    }
    expect(shown).toBeGreaterThan(REQUESTS / 4)
  })

  it('accounts', { timeout: 300_000 }, async () => {
    const { fraction: random } = createRandom(Number(process.env['LIST_SEED'] ?? 7))
    const statistics = new Statistics(TABLES, ['assets.assets.mutable_data', 'assets.assets.immutable_data'])
    const reader = new ListReader(statistics)
    const { endpoints } = createAssetsNamespace({
      contract: 'x',
      limits: { accounts: 1000, burns: 1000 } as never,
      trigrams: true,
    })
    for (let at = 0; at < REQUESTS; at++) {
      const { lower_bound: _lower, upper_bound: _upper, ...filters } = await pickFilters(random)
      const query: Query = {
        ...filters,
        limit: random() < 0.5 ? '10' : '100',
        page: random() < 0.7 ? '1' : '2',
        ...(random() < 0.2 ? { match_owner: 'a' } : {}),
        ...(random() < 0.2 ? { lower_bound: 'c' } : {}),
      }
      const raw = new Map(Object.entries(query))
      const parametersOf = (path: string) => endpoints.find((e) => e.path === path)!.parameters
      const values = await validateParameters(parametersOf('/v1/accounts'), {}, raw, () =>
        Promise.resolve([]),
      )
      const attributes = readAttributeFilters(raw, FAMILIES)
      const q = { session, values, attributes }
      const text = JSON.stringify(query)
      expect([text, await ownerPage(reader, true, q)]).toEqual([
        text,
        await selectAccounts(session, values, attributes, true),
      ])
      expect([text, await countOwners(reader, true, q)]).toEqual([
        text,
        await countAccounts(session, values, attributes, true),
      ])
      const burned = await validateParameters(parametersOf('/v1/burns'), {}, raw, () => Promise.resolve([]))
      expect([text, await burnerPage(reader, true, { ...q, values: burned })]).toEqual([
        text,
        await selectBurners(session, burned, attributes, true),
      ])
    }
  })
})
