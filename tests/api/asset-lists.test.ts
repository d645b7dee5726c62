import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { generateDatabase, scaledSizes } from '../../scripts/bench/generated/index.ts'
import { raw, sql, where } from '../../services/api/sql/sql.ts'
import type { Session } from '../../services/api/index.ts'
import type { Sql } from '../../services/api/sql/sql.ts'
import { readAttributeFilters, readRequest } from '../../services/api/index.ts'
import type { EndpointContext } from '../../services/api/endpoint/endpoint.ts'
import type { List, ListReader } from '../../services/api/planner/list.ts'
import { assetList, countAssets } from '../../services/api/namespaces/nft/asset-lists/asset-list.ts'
import {
  burnerPage,
  countOwners,
  ownerPage,
} from '../../services/api/namespaces/assets/lists/account-list.ts'
import { createListReader } from '../../services/api/namespaces/nft/endpoints/list-reader.ts'
import { priceColumns, pricedAssets } from '../../services/api/namespaces/market/lists/priced-assets.ts'
import { heldAssets } from '../../services/api/namespaces/market/aggregates/held-assets.ts'
import { assetListParameters } from '../../services/api/namespaces/nft/parameters/asset-list.ts'
import { burnerParameters, ownerParameters } from '../../services/api/namespaces/assets/parameters.ts'
import { without } from '../../services/core/endpoint/index.ts'
import type { Parameters, Values } from '../../services/core/endpoint/index.ts'
import { connectDatabase } from '../../services/core/database/index.ts'
import { createRandom } from '../integration/seeded-random.ts'
import { createTestDatabase } from '../setup/database.ts'
import type { TestDatabase } from '../setup/database.ts'
import { sessionOf } from './client-session.ts'
import { forcedPaths } from './forced-paths.ts'
import { addManyTemplates } from './many-templates.ts'
import { orOfNoRow } from './values-of-no-row.ts'
import { patient } from '../setup/patience.ts'
import { roundsOfSeed, seedsBeside } from '../setup/seeds.ts'

/** Number of requests per test and seed. */
const REQUESTS = Number(process.env['LIST_REQUESTS'] ?? roundsOfSeed(8, 150))
const SEED = 7
const families = ['data', 'template_data', 'immutable_data', 'mutable_data'] as const

type Query = Readonly<Record<string, string>>

let database: TestDatabase
let client: pg.Client
let session: Session
beforeAll(async () => {
  database = await createTestDatabase()
  await generateDatabase(database.address, { sizes: scaledSizes(0.01), seed: 'lists' })
  client = await connectDatabase(database.address, { applicationName: 'test' })
  await addManyTemplates(client)
  await addChangingNames(client)
  await forgetMints(client)
  await client.query('SET jit = off')
  session = sessionOf(client)
})
afterAll(async () => {
  await client.end()
  await database.drop()
})

/** Draws filters with values of an existing asset. */
async function pickFilters(random: () => number): Promise<Query> {
  const { rows } = await client.query<Record<string, unknown>>(
    `SELECT a.*, t.immutable_data AS template_data FROM assets.assets a LEFT JOIN assets.templates t USING (template_id)
     OFFSET $1 LIMIT 1`,
    [Math.floor(random() * 9_000)],
  )
  const asset = rows[0]!
  const text = (name: string): string | undefined => {
    const value = asset[name] as string | number | bigint | null
    return value === null ? undefined : String(value)
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
    'data.rarity': data('template_data')['rarity'] as string | undefined,
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
    chosen[name] = orOfNoRow(name, value, random)
  }
  return chosen
}

const sorts = ['asset_id', 'updated', 'transferred', 'template_mint', 'name']
const readers = Object.entries(forcedPaths).map(
  ([name, choose]) => [name, createListReader(['market.template_prices'], choose)] as const,
)

async function contextOf<P extends Parameters>(
  query: Query,
  parameters: P,
): Promise<EndpointContext<Values<P>>> {
  const raw = new Map(Object.entries(query))
  const values = await readRequest(parameters, { raw, lists: () => Promise.resolve([]) })
  return { session, values, attributes: readAttributeFilters(raw, families) }
}

function keysOf(reader: ListReader, list: List, { limit, page }: Query): Promise<string[]> {
  return reader.keys(session, list, { limit: Number(limit), offset: (Number(page) - 1) * Number(limit) })
}

/** Joins the conditions of all filters of a list to one WHERE clause. Each condition checks a single row. */
function allConditions({ filters }: List): Sql {
  return where(filters.map(({ condition }) => condition))
}

async function texts(statement: Sql): Promise<string[]> {
  const rows = await session.query<[unknown]>(statement.render())
  return rows.map((row) => row.join(' '))
}

/** Reads the keys of a page by plain SQL: all filter conditions, one complete sort. */
async function plainPage({ list }: { list: List }, query: Query): Promise<string[]> {
  const { order } = list
  const direction = raw(order.direction)
  const [segment] = order.segments
  const isByMint = query['sort'] === 'template_mint'
  const value = isByMint ? raw('a.template_mint') : (order.sorted?.value ?? raw(`a.${segment!.column}`))
  const by =
    segment!.column === 'asset_id' && !isByMint
      ? sql`a.asset_id ${direction}`
      : sql`${value} ${direction} NULLS LAST, a.asset_id`
  const limit = Number(query['limit'])
  const offset = (Number(query['page']) - 1) * limit
  return texts(sql`SELECT a.asset_id::text FROM ${order.sorted?.from ?? list.source.from} ${allConditions(list)}
    ORDER BY ${by} LIMIT ${raw(String(limit))} OFFSET ${raw(String(offset))}`)
}

describe('lists of assets', () => {
  it.each(seedsBeside(SEED))(
    'lists of assets have the same page and count through every access path, seed %i',
    { timeout: patient(300_000) },
    async (seed) => {
      const random = chance(seed)
      let shown = 0
      for (let at = 0; at < REQUESTS; at++) {
        const sort = sorts[at % sorts.length]!
        // The first requests have no filter and cover every sort order.
        const filters = at < 2 * sorts.length ? {} : await pickFilters(random)
        const query = { ...filters, ...pageOf(random), sort }
        const context = await contextOf(query, assetListParameters(1_000))
        const expected = await plainPage(await assetList(readers[0]![1], true, context), query)
        if (expected.length > 0) shown++
        for (const [name, reader] of readers) {
          expect([
            JSON.stringify(query),
            name,
            await keysOf(reader, (await assetList(reader, true, context)).list, query),
          ]).toEqual([JSON.stringify(query), name, expected])
        }
        const { list } = await assetList(readers[0]![1], true, context)
        const [count] = await texts(sql`SELECT count(*)::text FROM assets.assets a ${allConditions(list)}`)
        expect([JSON.stringify(query), await countAssets(readers[0]![1], true, context)]).toEqual([
          JSON.stringify(query),
          count,
        ])
      }
      // The requests of a random seed may all find nothing, so only the fixed seed is checked.
      if (seed === SEED) expect(shown).toBeGreaterThan(REQUESTS / 4)
    },
  )

  it.each(['asc', 'desc'])(
    'assets without a mint number come last in the order of mint numbers, also with order %s',
    async (order) => {
      const { rows } = await client.query<{ template: string; ids: string }>(
        `SELECT template_id::text AS template, string_agg(asset_id::text, ',' ORDER BY template_mint ${order} NULLS LAST, asset_id) AS ids
       FROM assets.assets GROUP BY template_id
       HAVING count(template_mint) > 2 AND count(*) FILTER (WHERE template_mint IS NULL) > 2 LIMIT 3`,
      )
      expect(rows).toHaveLength(3)
      for (const { template, ids } of rows) {
        for (const filter of ['template_id', 'template_whitelist']) {
          const query = { [filter]: template, sort: 'template_mint', order, limit: '1000', page: '1' }
          const context = await contextOf(query, assetListParameters(1_000))
          for (const [name, reader] of readers) {
            const { list } = await assetList(reader, true, context)
            expect([name, (await keysOf(reader, list, query)).join()]).toEqual([name, ids])
          }
        }
      }
    },
  )

  it.each(['asc', 'desc'])(
    'a page in the order of mint numbers is full even if the first assets of each template do not match the filters, order %s',
    async (order) => {
      // Pairs of a large collection and an owner of few of its assets.
      const { rows } = await client.query<{ collection_name: string; owner: string }>(
        `SELECT collection_name, owner FROM assets.assets WHERE owner IS NOT NULL AND template_id IS NOT NULL
         GROUP BY 1, 2 HAVING count(*) BETWEEN 2 AND 20
         ORDER BY (SELECT count(*) FROM assets.assets c WHERE c.collection_name = assets.collection_name) DESC, 2 LIMIT 6`,
      )
      expect(rows).toHaveLength(6)
      for (const filters of rows) {
        const query = { ...filters, sort: 'template_mint', order, limit: '2', page: '1' }
        const context = await contextOf(query, assetListParameters(1_000))
        const expected = await plainPage(await assetList(readers[0]![1], true, context), query)
        expect(expected).toHaveLength(2)
        for (const [name, reader] of readers) {
          const { list } = await assetList(reader, true, context)
          expect([query, name, await keysOf(reader, list, query)]).toEqual([query, name, expected])
        }
      }
    },
  )

  const priced = 'lists of assets sorted by price are the same through every access path, seed %i'
  it.each(seedsBeside(SEED))(priced, { timeout: patient(300_000) }, async (seed) => {
    const random = chance(seed)
    let shown = 0
    for (let at = 0; at < REQUESTS; at++) {
      const column = Object.values(priceColumns)[Math.floor(random() * 4)]!
      const query = { ...(await pickFilters(random)), ...pageOf(random) }
      const context = await contextOf(query, assetListParameters(1_000))
      const pages = []
      for (const [, lists] of readers)
        pages.push(
          await keysOf(
            lists,
            await pricedAssets(context, { trigrams: true, assets: { lists } } as never, column),
            query,
          ),
        )
      if (pages[0]!.length > 0) shown++
      for (const page of pages)
        expect([JSON.stringify(query), page]).toEqual([JSON.stringify(query), pages[1]])
    }
    if (seed === SEED) expect(shown).toBeGreaterThan(REQUESTS / 4)
  })

  it.each(['suggested_median', 'suggested_average'])(
    'assets sorted by %s have the order of the prices in the records, also where the oracle rate caps a price',
    { timeout: patient(60_000) },
    async (price) => {
      await client.query('BEGIN')
      onTestFinished(async () => {
        await client.query('ROLLBACK')
      })
      // For every third template the oracle rate caps the price. The capped prices are below all uncapped prices.
      await client.query(`UPDATE market.template_prices SET suggested_median = suggested_median + 1000000000000,
          suggested_average = suggested_average + 1000000000000;
        UPDATE market.template_prices SET oracle_floors = jsonb_build_object(
          (SELECT r.listing_symbol FROM market.rates r WHERE r.settlement_symbol = token_symbol LIMIT 1), (template_id % 5 + 1)::text)
        WHERE template_id % 3 = 0 AND token_symbol IN (SELECT settlement_symbol FROM market.rates)`)
      const { rows } = await client.query<{ id: string; isCapped: boolean }>(
        `SELECT a.asset_id::text AS id, p.price < p.uncapped AS "isCapped" FROM assets.assets a JOIN LATERAL (
          SELECT market.capped(p.${price}, p.token_symbol, p.oracle_floors) AS price, p.${price} AS uncapped
          FROM market.template_prices p JOIN market.tokens y USING (token_symbol)
          WHERE p.template_id = a.template_id ORDER BY y.place LIMIT 1) p ON true
        ORDER BY p.price, a.asset_id LIMIT 300`,
      )
      const query = { limit: '300', page: '1', order: 'asc' }
      const context = await contextOf(query, assetListParameters(1_000))
      for (const [, lists] of readers) {
        const setup = { trigrams: true, assets: { lists } } as never
        const list = await pricedAssets(context, setup, priceColumns[`${price}_price`]!)
        expect(await keysOf(lists, list, query)).toEqual(rows.map(({ id }) => id))
      }
      expect(rows.filter(({ isCapped }) => isCapped).length).toBeGreaterThan(100)
    },
  )
})

describe('lists of accounts', () => {
  it.each(seedsBeside(SEED))(
    'the list of accounts computed from counters equals the list computed from asset rows, seed %i',
    { timeout: patient(300_000) },
    async (seed) => {
      const random = chance(seed)
      const [, reader] = readers[0]!
      let shown = 0
      for (let at = 0; at < REQUESTS; at++) {
        const {
          lower_bound: _lower,
          upper_bound: _upper,
          before: _before,
          after: _after,
          ...filters
        } = await pickFilters(random)
        const query = {
          ...filters,
          page: '1',
          limit: '1000',
          ...(random() < 0.2 ? { match_owner: 'a' } : {}),
        }
        const owners = await contextOf(query, ownerParameters(1_000))
        const wanted = async (column: string): Promise<{ account: string; assets: string }[]> => {
          const { list } = await assetList(reader, true, {
            ...owners,
            // Bounds of account names must not be applied to asset ids.
            values: without(owners.values, ['ids', 'lower_bound', 'upper_bound']),
          })
          const match = 'match_owner' in query ? sql`AND k.account LIKE '%a%'` : raw('')
          const rows = await session.query<[string, string]>(
            sql`SELECT k.account, k.assets::text FROM (SELECT ${raw(column)} AS account, count(*) AS assets
            FROM assets.assets a ${allConditions(list)} GROUP BY 1) k WHERE k.account IS NOT NULL ${match}
            ORDER BY k.assets DESC, k.account`.render(),
          )
          return rows.map(([account, assets]) => ({ account, assets }))
        }
        const owned = await wanted('a.owner')
        if (owned.length > 0) shown++
        const text = JSON.stringify(query)
        expect([text, JSON.parse(await ownerPage(reader, true, owners))]).toEqual([
          text,
          owned.slice(0, 1_000),
        ])
        expect([text, await countOwners(reader, true, owners)]).toEqual([text, String(owned.length)])
        const burners = await contextOf(query, burnerParameters(1_000))
        const burned = await wanted('a.burned_by_account')
        expect([text, JSON.parse(await burnerPage(reader, true, burners))]).toEqual([
          text,
          burned.slice(0, 1_000),
        ])
      }
      // The requests of a random seed may all find nothing, so only the fixed seed is checked.
      if (seed === SEED) expect(shown).toBeGreaterThan(REQUESTS / 4)
    },
  )
})

describe('asset counts of templates', () => {
  it.each(seedsBeside(SEED))(
    'the asset counts of templates computed from counters equal the counts computed from asset rows, seed %i',
    { timeout: patient(300_000) },
    async (seed) => {
      const random = chance(seed)
      const [, reader] = readers[0]!
      const setup = { trigrams: true, assets: { lists: reader } } as never
      for (let at = 0; at < REQUESTS; at++) {
        const query = { ...(await pickFilters(random)), ...pageOf(random) }
        const context = await contextOf(query, assetListParameters(1_000))
        const { list } = await assetList(reader, true, context)
        const expected =
          await texts(sql`SELECT k.template_id, k.assets FROM (SELECT a.template_id, count(*) AS assets
        FROM assets.assets a ${allConditions(list)} GROUP BY 1) k WHERE k.template_id IS NOT NULL ORDER BY 1`)
        const held = await heldAssets(setup, context)
        expect([JSON.stringify(query), await texts(sql`SELECT * FROM (${held}) h ORDER BY 1`)]).toEqual([
          JSON.stringify(query),
          expected,
        ])
      }
    },
  )
})

/** Picks a random direction, size and number of a page. */
function pageOf(random: () => number): Query & { readonly limit: string; readonly page: string } {
  return {
    order: random() < 0.5 ? 'asc' : 'desc',
    limit: String([1, 5, 30, 100][Math.floor(random() * 4)]!),
    page: random() < 0.7 ? '1' : '3',
  }
}

/** Removes the first mint numbers of some templates: an import of chain state does not know them. */
async function forgetMints(database: pg.Client): Promise<void> {
  await database.query(
    'UPDATE assets.assets SET template_mint = NULL WHERE template_id % 5 = 0 AND template_mint <= template_id % 50',
  )
}

/**
 * Moves the names of some templates to their mutable data. A prefix, `0` or `z`, puts these names at both ends of the
 * order.
 */
async function addChangingNames(database: pg.Client): Promise<void> {
  await database.query(`UPDATE assets.templates SET immutable_data = immutable_data - 'name', mutable_data =
    jsonb_build_object('name', CASE WHEN template_id % 2 = 0 THEN '0' ELSE 'z' END || (immutable_data ->> 'name'))
    WHERE template_id % 7 = 0 AND immutable_data ? 'name'`)
}

/** Reproducible random numbers from 0 to below 1. */
function chance(seed: number): () => number {
  const random = createRandom(seed)
  return () => random.fraction()
}
