import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { connectDatabase } from '../../services/core/database/index.ts'
import { readingOf } from './reading.ts'
import type { Asset, Reading, Row, Template } from './reading.ts'
import { post, serveRecordings } from './server.ts'
import type { TestServer } from './server.ts'

interface Holding {
  readonly assets: string
}

let server: TestServer
let assets: Asset[]
let get: Reading['get']
let failure: Reading['failure']
beforeAll(async () => {
  server = await serveRecordings(['main', 'v2'])
  const reading = readingOf(server)
  ;({ get, failure } = reading)
  assets = await reading.everything<Asset>('/v1/assets', 1000)
})
afterAll(() => server.close())

/** Number of rows by key; the number is decimal text, the format of answers. */
function countBy<T>(rows: readonly T[], key: (row: T) => string): Record<string, string> {
  const counts: Record<string, number> = {}
  for (const row of rows) counts[key(row)] = (counts[key(row)] ?? 0) + 1
  return Object.fromEntries(Object.entries(counts).map(([name, count]) => [name, String(count)]))
}

function byKey<T extends Holding>(rows: readonly T[], key: (row: T) => string): Record<string, string> {
  return Object.fromEntries(rows.map((row) => [key(row), row.assets]))
}

/** Expects descending numbers of assets, and ascending keys among equal numbers. */
function expectRanked<T extends Holding>(rows: readonly T[], key: (row: T) => string): void {
  for (const [index, row] of rows.slice(1).entries()) {
    const before = rows[index]!
    const step = Number(before.assets) - Number(row.assets)
    expect(step > 0 || (step === 0 && key(before) < key(row))).toBe(true)
  }
}

const collectionOf = (asset: Asset) => asset.collection.collection_name
const schemaOf = (asset: Asset) => `${collectionOf(asset)}/${asset.schema.schema_name}`
const templateOf = (asset: Asset) => asset.template?.template_id ?? collectionOf(asset)

describe('statistics of records', () => {
  it('the statistics of an asset contain its mint number', async () => {
    for (const asset of assets.slice(0, 30)) {
      const stats = await get(`/v1/assets/${asset.asset_id}/stats`)
      expect(stats).toEqual({ template_mint: asset.template_mint, original: null })
    }
    expect(await failure('/v1/assets/1/stats')).toBe('416 Asset not found')
  })

  it('the statistics of an asset contain the mint number null if the mint is unknown, and 0 if the asset was minted without a template', async () => {
    const [asset] = assets.filter(({ template }) => template !== null)
    const id = asset!.asset_id
    const client = await connectDatabase(server.database.address, { applicationName: 'test' })
    const put = (mint: number | null, block: number) =>
      client.query('UPDATE assets.assets SET template_mint = $2, minted_at_block = $3 WHERE asset_id = $1', [
        id,
        mint,
        block,
      ])
    const { rows } = await client.query<{ template_mint: number; minted_at_block: number }>(
      'SELECT template_mint, minted_at_block FROM assets.assets WHERE asset_id = $1',
      [id],
    )
    const [{ template_mint, minted_at_block }] = rows as [(typeof rows)[number]]
    const shown: unknown[] = []
    for (const block of [0, minted_at_block]) {
      await put(null, block)
      // The parameter `block` makes the URLs differ, so the API returns no cached answer.
      shown.push(await get(`/v1/assets/${id}/stats?block=${block}`))
    }
    await put(template_mint, minted_at_block)
    await client.end()
    expect(shown).toEqual([
      { template_mint: null, original: null },
      { template_mint: '0', original: null },
    ])
  })

  it('the statistics of collections, schemas and templates equal the counts of the lists', async () => {
    const templates = await get<Template[]>('/v1/templates?include_deleted=true&limit=1000')
    const burned = assets.filter(({ owner }) => owner === null)
    const minted = {
      collections: countBy(assets, collectionOf),
      schemas: countBy(assets, schemaOf),
      templates: countBy(assets, templateOf),
    }
    const gone = {
      collections: countBy(burned, collectionOf),
      schemas: countBy(burned, schemaOf),
      templates: countBy(burned, templateOf),
    }
    for (const name of Object.keys(minted.collections)) {
      const stats = await get<Row & { burned_by_template: Row[]; burned_by_schema: Row[] }>(
        `/v1/collections/${name}/stats`,
      )
      expect(stats).toMatchObject({
        assets: minted.collections[name],
        burned: gone.collections[name] ?? '0',
        templates: String(templates.filter(({ collection }) => collection.collection_name === name).length),
        schemas: await get(`/v1/schemas/_count?collection_name=${name}`),
      })
      const ofTemplates = countBy(
        burned.filter((asset) => collectionOf(asset) === name),
        (asset) => asset.template?.template_id ?? '0',
      )
      expect(
        Object.fromEntries(stats.burned_by_template.map((row) => [row.template_id, String(row.burned)])),
      ).toEqual(ofTemplates)
      const ofSchemas = countBy(
        burned.filter((asset) => collectionOf(asset) === name),
        (asset) => asset.schema.schema_name,
      )
      expect(
        Object.fromEntries(stats.burned_by_schema.map((row) => [row.schema_name, String(row.burned)])),
      ).toEqual(ofSchemas)
      const live = new Set(
        assets
          .filter((asset) => asset.owner !== null && collectionOf(asset) === name)
          .map((asset) => asset.schema.schema_name),
      )
      expect(await get(`/v1/collections/${name}/schemas`)).toEqual(
        [...live].sort().map((schema_name) => ({ schema_name })),
      )
    }
    for (const [key, count] of Object.entries(minted.schemas)) {
      expect(await get(`/v1/schemas/${key}/stats`)).toMatchObject({
        assets: count,
        burned: gone.schemas[key] ?? '0',
      })
    }
    for (const { template_id: id, collection } of templates) {
      const stats = { assets: minted.templates[id] ?? '0', burned: gone.templates[id] ?? '0' }
      expect(await get(`/v1/templates/${collection.collection_name}/${id}/stats`)).toEqual(stats)
      expect(await get(`/v1/templates/${id}/stats`)).toEqual(stats)
    }
  })

  it('the statistics of unknown records contain only null, 0 and empty lists', async () => {
    expect(await get('/v1/collections/nocollection/stats')).toEqual({
      assets: null,
      burned: null,
      burned_by_template: [],
      burned_by_schema: [],
      templates: '0',
      schemas: '0',
    })
    expect(await get('/v1/collections/nocollection/schemas')).toEqual([])
    expect(await get('/v1/schemas/alicecollect/nothing/stats')).toEqual({
      assets: null,
      burned: null,
      templates: '0',
    })
    expect(await get('/v1/templates/99999999999/stats')).toEqual({ assets: '0', burned: '0' })
    expect(await failure('/v1/templates/abc/stats')).toBe('400 Invalid value for parameter template_id')
  })
})

interface AccountDetail {
  readonly collections: (Holding & { collection: Row & { collection_name: string } })[]
  readonly schemas: (Holding & {
    schema: Row & { schema_name: string; collection: { collection_name: string } }
  })[]
  readonly templates: (Holding & { template: Row; template_id: string; collection_name: string })[]
  readonly assets: string
}

describe('totals of an account', () => {
  it('the totals of an account equal the counts of the asset list; each total contains the full record of the counted collection, schema or template', async () => {
    const owners = countBy(
      assets.filter(({ owner }) => owner !== null),
      ({ owner }) => owner!,
    )
    for (const [account, count] of Object.entries(owners)) {
      const owned = assets.filter(({ owner }) => owner === account)
      const detail = await get<AccountDetail>(`/v1/accounts/${account}`)
      const schemaKey = ({ schema }: AccountDetail['schemas'][number]) =>
        `${schema.collection.collection_name}/${schema.schema_name}`
      expect(detail.assets).toBe(count)
      expect(byKey(detail.collections, ({ collection }) => collection.collection_name)).toEqual(
        countBy(owned, collectionOf),
      )
      expect(byKey(detail.schemas, schemaKey)).toEqual(countBy(owned, schemaOf))
      expect(byKey(detail.templates, (row) => row.template_id)).toEqual(
        countBy(
          owned.filter(({ template }) => template !== null),
          templateOf,
        ),
      )
      expectRanked(detail.collections, ({ collection }) => collection.collection_name)
      expectRanked(detail.schemas, schemaKey)
      expectRanked(detail.templates, (row) => `${row.collection_name}/${row.template_id.padStart(10, '0')}`)
      for (const { collection } of detail.collections) {
        expect(collection).toEqual(await get(`/v1/collections/${collection.collection_name}`))
      }
      for (const row of detail.schemas) {
        const {
          types: _types,
          assets: _assets,
          ...expected
        } = await get<Row>(`/v1/schemas/${schemaKey(row)}`)
        expect(row.schema).toEqual(expected)
      }
      for (const { template, template_id: id, collection_name: collection } of detail.templates) {
        expect(template).toEqual(await get(`/v1/templates/${collection}/${id}`))
      }
    }
  })

  it('an unknown account owns nothing', async () => {
    const nothing = { collections: [], schemas: [], templates: [], assets: '0' }
    expect(await get('/v1/accounts/nobody')).toEqual(nothing)
    expect(await get('/v1/accounts/NO%20NAME')).toEqual(nothing)
    expect(await get('/v1/accounts/alice/nothing')).toEqual({ schemas: [], templates: [] })
  })

  it("an account's totals respect the collection lists and can exclude offered assets", async () => {
    const only = await get<AccountDetail>('/v1/accounts/alice?collection_whitelist=alicecollect')
    expect(only.collections.map(({ collection }) => collection.collection_name)).toEqual(['alicecollect'])
    const rest = await get<AccountDetail>('/v1/accounts/alice?collection_blacklist=alicecollect')
    const all = await get<AccountDetail>('/v1/accounts/alice')
    expect(Number(only.assets) + Number(rest.assets)).toBe(Number(all.assets))
    expect(await get('/v1/accounts/alice?collection_whitelist=$list:typo')).toMatchObject({ assets: '0' })
    expect(await get('/v1/accounts/alice', post({ collection_whitelist: ['alicecollect'] }))).toEqual(only)
    const offered = (await get<{ sender_name: string }[]>('/v1/offers?state=0')).map(
      (offer) => offer.sender_name,
    )
    expect(offered).not.toEqual([])
    for (const account of new Set(offered)) {
      const { assets: count } = await get<AccountDetail>(`/v1/accounts/${account}?hide_offers=true`)
      expect(count).toBe(await get(`/v1/assets/_count?owner=${account}&hide_offers=true`))
    }
    expect(await failure('/v1/accounts/alice?hide_offers=x')).toBe(
      '400 Invalid value for parameter hide_offers',
    )
  })

  it("an account's totals can be restricted to the schemas and templates of one collection", async () => {
    for (const { owner, collection } of assets.filter((asset) => asset.owner !== null).slice(0, 40)) {
      const name = collection.collection_name
      const owned = assets.filter((asset) => asset.owner === owner && collectionOf(asset) === name)
      const detail = await get<{
        schemas: (Holding & { schema_name: string })[]
        templates: (Holding & { template_id: string | null })[]
      }>(`/v1/accounts/${owner!}/${name}?collection_name=nothing`)
      expect(byKey(detail.schemas, (row) => row.schema_name)).toEqual(
        countBy(owned, ({ schema }) => schema.schema_name),
      )
      const id = (template: string | null) => template ?? 'none'
      expect(byKey(detail.templates, (row) => id(row.template_id))).toEqual(
        countBy(owned, ({ template }) => id(template?.template_id ?? null)),
      )
      expectRanked(detail.schemas, (row) => row.schema_name)
      expectRanked(detail.templates, (row) => (row.template_id ?? 'none').padStart(10, '0'))
    }
  })

  it("an account's totals with too many groups for one response are refused, not truncated", async () => {
    const client = await connectDatabase(server.database.address, { applicationName: 'test' })
    try {
      await client.query(`INSERT INTO assets.assets (asset_id, minted_at_time, transferred_at_time, updated_at_time,
          minted_at_block, transferred_at_block, updated_at_block, template_id, collection_name, schema_name, owner)
        SELECT n, 0, 0, 0, 1, 1, 1, n, CASE WHEN n <= 20000 THEN 'many' ELSE 'more' END, 'schema', 'hoarder'
        FROM generate_series(1, 20001) n`)
      await client.query(`INSERT INTO assets.schemas (collection_name, schema_name, created_at_time, created_at_block, format)
        VALUES ('many', 'schema', 0, 1, '[]'), ('more', 'schema', 0, 1, '[]')`)
      expect(await failure('/v1/accounts/hoarder')).toBe(
        '400 Too many templates for one answer; choose collections with collection_whitelist',
      )
      expect(await get('/v1/accounts/hoarder?collection_whitelist=many')).toMatchObject({ assets: '20000' })
    } finally {
      await client.query("DELETE FROM assets.assets WHERE owner = 'hoarder'")
      await client.query("DELETE FROM assets.schemas WHERE collection_name IN ('many', 'more')")
      await client.end()
    }
  })
})

interface BurnDetail {
  readonly collections: (Holding & { collection: Row & { collection_name: string } })[]
  readonly templates: (Holding & { collection_name: string; template_id: string | null })[]
  readonly assets: number
}

describe('burned assets by account', () => {
  it('the list of burns ranks accounts by number of burned assets', async () => {
    const burned = assets.filter((asset) => asset.burned_by_account !== null)
    const rows = await get<(Holding & { account: string })[]>('/v1/burns')
    expect(byKey(rows, ({ account }) => account)).toEqual(
      countBy(burned, (asset) => asset.burned_by_account!),
    )
    expectRanked(rows, ({ account }) => account)
    expect(await get('/v1/burns?limit=2&page=2')).toEqual(rows.slice(2, 4))
    expect(await get('/v1/burns?burned=true')).toEqual(rows)
    const [first, second, third] = rows.map(({ account }) => account)
    const named = (test: (account: string) => boolean) => rows.filter(({ account }) => test(account))
    expect(await get(`/v1/burns?burned_by_account=${first!},${second!}`)).toEqual(rows.slice(0, 2))
    expect(await get(`/v1/burns?burned_by_account=${first!}&ids=${third!}`)).toEqual([rows[0], rows[2]])
    expect(await get(`/v1/burns?burner=${third!}`)).toEqual([rows[2]])
    expect(await get('/v1/burns?match_owner=player')).toEqual(named((account) => account.includes('player')))
    expect(await get('/v1/burns?lower_bound=bob&upper_bound=erin')).toEqual(
      named((account) => account >= 'bob' && account < 'erin'),
    )
    for (const nothing of ['owner=alice', 'burned=false', 'collection_whitelist=$list:typo', 'page=9000']) {
      expect([nothing, await get(`/v1/burns?${nothing}`)]).toEqual([nothing, []])
    }
  })

  it('the burns of one account are grouped by collection and template', async () => {
    const accounts = new Set(
      assets.map((asset) => asset.burned_by_account).filter((account) => account !== null),
    )
    for (const account of accounts) {
      const burned = assets.filter((asset) => asset.burned_by_account === account)
      const detail = await get<BurnDetail>(`/v1/burns/${account}`)
      expect(detail.assets).toBe(burned.length)
      expect(byKey(detail.collections, ({ collection }) => collection.collection_name)).toEqual(
        countBy(burned, collectionOf),
      )
      expect(byKey(detail.templates, (row) => row.template_id ?? row.collection_name)).toEqual(
        countBy(burned, templateOf),
      )
      for (const { collection } of detail.collections) {
        expect(collection).toEqual(await get(`/v1/collections/${collection.collection_name}`))
      }
    }
    expect(await get('/v1/burns/_count')).toEqual({ collections: [], templates: [], assets: 0 })
    const within = await get<BurnDetail>('/v1/burns/bob?collection_whitelist=alicecollect')
    expect(within.collections.map(({ collection }) => collection.collection_name)).toEqual(['alicecollect'])
  })
})
