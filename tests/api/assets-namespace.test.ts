import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { post, serveRecordings } from './server.ts'
import type { TestServer } from './server.ts'

type Row = Record<string, unknown>

let server: TestServer
beforeAll(async () => {
  server = await serveRecordings(['main', 'v2'])
})
afterAll(() => server.close())

async function list(path: string, init?: RequestInit): Promise<Row[]> {
  const { status, body } = await server.get(path, init)
  expect([status, body.success, typeof body.query_time]).toEqual([200, true, 'number'])
  return body.data as Row[]
}

/** Reads all rows of a list, page by page. */
async function everything(path: string): Promise<Row[]> {
  const rows: Row[] = []
  const link = path.includes('?') ? '&' : '?'
  for (let page = 1; ; page++) {
    const more = await list(`${path}${link}limit=1000&page=${page}`)
    rows.push(...more)
    if (more.length < 1000) return rows
  }
}

async function one(path: string): Promise<Row> {
  return (await list(path)) as unknown as Row
}

async function failure(path: string, init?: RequestInit): Promise<string> {
  const { status, body } = await server.get(path, init)
  expect(Object.keys(body).sort()).toEqual(['message', 'success'])
  return `${status} ${body.message!}`
}

const ids = (rows: readonly Row[], key: string) => rows.map((row) => row[key])
const decimal = expect.stringMatching(/^\d+$/) as string
const decimalOrNull = expect.toSatisfy(
  (value) => value === null || (typeof value === 'string' && /^\d+$/.test(value)),
) as string | null

const light = {
  collection_name: expect.any(String) as string,
  author: expect.any(String) as string,
  allow_notify: expect.any(Boolean) as boolean,
  authorized_accounts: expect.any(Array) as string[],
  notify_accounts: expect.any(Array) as string[],
  market_fee: expect.any(Number) as number,
  created_at_block: decimal,
  created_at_time: decimal,
}

describe('records of the assets namespace', () => {
  it('asset records have the documented fields and types', async () => {
    const rows = await everything('/v1/assets')
    expect(rows.length).toBeGreaterThan(900)
    for (const row of rows) {
      expect(row).toMatchObject({
        contract: 'atomicassets',
        asset_id: decimal,
        is_transferable: expect.any(Boolean) as boolean,
        is_burnable: expect.any(Boolean) as boolean,
        collection: light,
        schema: {
          schema_name: expect.any(String) as string,
          created_at_block: decimal,
          created_at_time: decimal,
        },
        mutable_data: expect.any(Object) as object,
        immutable_data: expect.any(Object) as object,
        data: expect.any(Object) as object,
        template_mint: decimal,
        backed_tokens: expect.any(Array) as unknown[],
        burned_at_block: decimalOrNull,
        burned_at_time: decimalOrNull,
        updated_at_block: decimal,
        updated_at_time: decimal,
        transferred_at_block: decimal,
        transferred_at_time: decimal,
        minted_at_block: decimal,
        minted_at_time: decimal,
        original_mint: null,
      })
      expect(Object.keys(row.collection as object).sort()).toEqual(
        [...Object.keys(light), 'img', 'images', 'name'].sort(),
      )
      expect(row.owner === null).toBe(row.burned_by_account !== null)
      expect('name' in row).toBe('name' in (row.data as object))
    }
    const backed = rows.find((row) => (row.backed_tokens as unknown[]).length > 0)!
    expect((backed.backed_tokens as unknown[])[0]).toEqual({
      token_contract: expect.any(String) as string,
      token_symbol: expect.any(String) as string,
      token_precision: expect.any(Number) as number,
      amount: expect.any(Number) as number,
    })
  })

  it('asset records merge all attribute maps; the immutable attributes of the template take precedence', async () => {
    const rows = await everything('/v1/assets')
    const layered = rows.filter(
      (row) => row.template !== null && Object.keys(row.mutable_data as Row).length > 0,
    )
    expect(layered.length).toBeGreaterThan(0)
    for (const row of rows) {
      const template = row.template as { mutable_data: Row; immutable_data: Row; data: Row } | null
      expect(row.data).toEqual({
        ...template?.mutable_data,
        ...(row.mutable_data as Row),
        ...(row.immutable_data as Row),
        ...template?.immutable_data,
      })
      if (template) expect(template.data).toEqual({ ...template.mutable_data, ...template.immutable_data })
    }
  })

  it('template records contain mutable data and deletion marks', async () => {
    const rows = await list('/v1/templates?include_deleted=true&limit=1000')
    const deleted = rows.filter((row) => row.deleted_at_block !== null)
    expect(deleted.length).toBeGreaterThan(0)
    expect(rows.some((row) => Object.keys(row.mutable_data as Row).length > 0)).toBe(true)
    for (const row of rows) {
      expect(row).toMatchObject({
        template_id: decimal,
        max_supply: decimal,
        issued_supply: decimal,
        collection: light,
        schema: { schema_name: expect.any(String) as string },
        deleted_at_time: decimalOrNull,
        deleted_at_block: decimalOrNull,
        created_at_time: decimal,
        created_at_block: decimal,
      })
      expect(row.name).toEqual((row.data as Row).name)
    }
    const shown = await list('/v1/templates?limit=1000')
    expect(ids(shown, 'template_id')).not.toContain(deleted[0]!.template_id)
    const { collection_name: collection } = deleted[0]!.collection as { collection_name: string }
    const alone = await one(`/v1/templates/${collection}/${deleted[0]!.template_id as string}`)
    expect(alone).toEqual(deleted[0])
  })

  it('schema records contain the media type of each field, declared or guessed', async () => {
    const rows = await list('/v1/schemas?limit=100')
    const authored = rows.filter((row) => (row.types as unknown[]).length > 0)
    expect(authored.length).toBeGreaterThan(0)
    for (const row of rows) {
      expect(row).toMatchObject({ collection: light, assets: expect.any(Number) as number })
      for (const field of row.format as {
        name: string
        type: string
        mediatype: string | null
        info: string | null
      }[]) {
        const type = (row.types as { name: string; mediatype: string; info: string }[]).find(
          ({ name }) => name === field.name,
        )
        if (type?.mediatype) expect(field.mediatype).toBe(type.mediatype)
        else if (field.name === 'name') expect(field.mediatype).toBe('name')
        else if (field.type === 'image') expect(field.mediatype).toBe('image')
        expect(field.info).toBe(type?.info ? type.info : null)
      }
    }
    expect(await one('/v1/schemas/testcollect1/alltypes')).toEqual(
      rows.find((row) => row.schema_name === 'alltypes'),
    )
  })

  it('collection records contain their attributes and the pending author', async () => {
    const rows = await list('/v1/collections')
    for (const row of rows) {
      expect(row).toMatchObject({ contract: 'atomicassets', ...light, data: expect.any(Object) as object })
      expect(Object.keys(row)).not.toContain('images')
      expect([row.name, row.img]).toEqual([(row.data as Row).name ?? null, (row.data as Row).img ?? null])
      expect(row.new_author_name === null).toBe(row.new_author_date === null)
    }
    expect(await one('/v1/collections/testcollect1')).toEqual(
      rows.find((row) => row.collection_name === 'testcollect1'),
    )
  })

  it('offer and transfer records contain full assets, in the order in which the action lists the assets', async () => {
    const offers = await list('/v1/offers')
    expect(offers).not.toEqual([])
    for (const row of offers) {
      expect(row).toMatchObject({
        offer_id: decimal,
        memo: expect.any(String) as string,
        state: expect.any(Number) as number,
        is_sender_contract: expect.any(Boolean) as boolean,
        is_recipient_contract: expect.any(Boolean) as boolean,
        updated_at_block: decimal,
        created_at_time: decimal,
      })
    }
    const [transfer] = await list('/v1/transfers?limit=1')
    expect(transfer).toMatchObject({
      transfer_id: decimal,
      txid: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
    })
    const [asset] = transfer!.assets as Row[]
    expect(asset).toEqual(await one(`/v1/assets/${asset!.asset_id as string}`))
  })

  it('the config record contains the settings of the contract', async () => {
    expect(await one('/v1/config')).toMatchObject({
      contract: 'atomicassets',
      version: expect.any(String) as string,
      collection_format: expect.arrayContaining([{ name: 'name', type: 'string' }]) as unknown[],
      supported_tokens: expect.arrayContaining([
        { token_symbol: 'WAX', token_contract: 'eosio.token', token_precision: 8 },
      ]) as unknown[],
    })
  })
})

describe('lists of the assets namespace', () => {
  it('lists are sorted as requested; equal values are sorted by key', async () => {
    const sorts = ['asset_id', 'minted', 'updated', 'transferred', 'template_mint', 'name']
    const keys: Readonly<Record<string, string>> = {
      updated: 'updated_at_time',
      transferred: 'transferred_at_time',
    }
    for (const sort of sorts) {
      for (const order of ['asc', 'desc']) {
        const rows = await list(`/v1/assets?limit=1000&sort=${sort}&order=${order}`)
        const key = keys[sort]
        if (key === undefined) continue
        for (const [index, row] of rows.slice(1).entries()) {
          const before = rows[index]!
          const step = Number(row[key]) - Number(before[key])
          if (step === 0) expect(Number(row.asset_id)).toBeGreaterThan(Number(before.asset_id))
          else expect(step > 0).toBe(order === 'asc')
        }
      }
    }
    const newest = ids(await list('/v1/assets?limit=1000&sort=minted'), 'asset_id').map(Number)
    expect(newest).toEqual([...newest].sort((a, b) => b - a))
    expect(await list('/v1/assets?limit=3&sort=nonsense')).toEqual(await list('/v1/assets?limit=3'))
  })

  it('the pages of a list together equal the whole list', async () => {
    for (const path of [
      '/v1/assets?owner=alice,bob,carol',
      '/v1/assets?sort=name',
      '/v1/assets?sort=template_mint',
      '/v1/assets?sort=updated&schema_name=cards',
      '/v1/assets?collection_name=alicecollect,bob',
      '/v1/transfers?account=alice,bob',
      '/v1/offers?sort=updated',
    ]) {
      const whole: Row[] = []
      for (let page = 1; ; page++) {
        const rows = await list(`${path}&limit=37&page=${page}`)
        whole.push(...rows)
        if (rows.length < 37) break
      }
      const count = await one(path.replace('?', '/_count?'))
      expect(String(whole.length)).toBe(count)
      expect(new Set(whole.map((row) => JSON.stringify(row))).size).toBe(whole.length)
    }
  })

  it('a request with a page number above the limit is refused, and the error names the parameters that continue the list', async () => {
    const refusal = (row: number) => {
      const how =
        row === 1_000_000
          ? 'then continue with page=1 and upper_bound=<last asset_id>'
          : 'more filters make the list shorter, or sort by asset_id and continue with lower_bound or upper_bound'
      return `Invalid value for parameter page: in this order, only pages 1 to ${row / 100 + 1} (100 rows each) are served; ${how}`
    }
    for (const [query, row] of [
      ['sort=name&page=1001', undefined],
      ['sort=name&page=1002', 100_000],
      ['sort=asset_id&page=10001', undefined],
      ['sort=asset_id&page=10002', 1_000_000],
      ['sort=minted&page=10001', undefined],
      ['sort=minted&page=10002', 1_000_000],
      ['page=9007199254740991', 1_000_000],
    ] as const) {
      const { status, body } = await server.get(`/v1/assets?limit=100&${query}`)
      if (row === undefined) expect([query, status, body.data]).toEqual([query, 200, []])
      else expect([query, status, body.message]).toEqual([query, 400, refusal(row)])
    }
    const upwards = await server.get('/v1/offers?limit=100&order=asc&page=10002')
    expect(upwards.body.message).toContain('lower_bound=<last offer_id + 1>')
    const byName = await server.get('/v1/collections?limit=100&page=10002')
    expect(byName.body.message).toContain('or sort by collection_name and continue')
    expect((await server.get('/v1/assets/_count?sort=name&page=1002')).status).toBe(200)
    const unbounded = await server.get('/v1/accounts?limit=100&page=20000')
    expect([unbounded.status, unbounded.body.data]).toEqual([200, []])
  })

  it('a list for several owners contains the assets of each owner', async () => {
    const each = [
      ...(await list('/v1/assets?limit=1000&owner=alice')),
      ...(await list('/v1/assets?limit=1000&owner=bob')),
    ]
    const both = await list('/v1/assets?limit=1000&owner=alice,bob')
    expect(ids(both, 'asset_id')).toEqual(ids(each, 'asset_id').sort().reverse())
  })

  it('lists return their count at /_count and with count=true', async () => {
    for (const name of ['assets', 'accounts', 'collections', 'schemas', 'templates', 'offers', 'transfers']) {
      const count = await one(`/v1/${name}/_count`)
      expect(count).toEqual(decimal)
      expect(await one(`/v1/${name}?count=true`)).toEqual(count)
    }
  })

  it('the count of assets computed from counters equals the count computed from asset rows', async () => {
    for (const query of [
      '',
      'burned=true',
      'burned=false',
      'collection_name=alicecollect',
      'collection_name=alicecollect&schema_name=cards&burned=false',
      'template_id=10',
      'template_id=10&burned=true',
      'owner=alice,bob',
      'collection_blacklist=alicecollect',
    ]) {
      const unfiltered = await one(`/v1/assets/_count?${query}`)
      // `lower_bound=1` excludes no asset, but makes the API count rows instead of reading counters.
      const counted = await one(`/v1/assets/_count?lower_bound=1&${query}`)
      expect([query, unfiltered]).toEqual([query, counted])
    }
  })

  it('the list of accounts computed from counters equals the list computed from asset rows', async () => {
    const unfiltered = await list('/v1/accounts?limit=5000')
    expect(await list('/v1/accounts?limit=5000&burned=false')).toEqual(unfiltered)
    expect(unfiltered[0]).toEqual({ account: expect.any(String) as string, assets: decimal })
    expect(await list('/v1/accounts?match_owner=player')).toEqual(
      unfiltered.filter(({ account }) => (account as string).includes('player')),
    )
    expect(await list('/v1/accounts?burned=true')).toEqual([])
  })

  it('the parameters lower_bound and upper_bound limit a list by key; before and after limit a list by time', async () => {
    const all = await everything('/v1/assets?order=asc')
    const middle = all[300]!
    const id = middle.asset_id as string
    expect(ids(await everything(`/v1/assets?order=asc&lower_bound=${id}`), 'asset_id')).toEqual(
      ids(all.slice(300), 'asset_id'),
    )
    expect(ids(await everything(`/v1/assets?order=asc&upper_bound=${id}`), 'asset_id')).toEqual(
      ids(all.slice(0, 300), 'asset_id'),
    )
    const time = Number(middle.minted_at_time)
    const byTime = (test: (minted: number) => boolean) =>
      ids(
        all.filter((row) => test(Number(row.minted_at_time))),
        'asset_id',
      )
    expect(ids(await everything(`/v1/assets?order=asc&before=${time}`), 'asset_id')).toEqual(
      byTime((minted) => minted < time),
    )
    expect(ids(await everything(`/v1/assets?order=asc&after=${time}`), 'asset_id')).toEqual(
      byTime((minted) => minted > time),
    )
    const countOf = (bounds: string) => one(`/v1/assets/_count?${bounds}`)
    expect(await countOf(`lower_bound=${id}`)).toBe(String(all.length - 300))
    expect(await countOf(`upper_bound=${id}`)).toBe('300')
    expect(await countOf(`before=${time}`)).toBe(String(byTime((minted) => minted < time).length))
    expect(await countOf(`after=${time}`)).toBe(String(byTime((minted) => minted > time).length))
    expect(await list('/v1/assets?after=99999999999999')).toEqual([])
    expect(await list('/v1/assets?before=1')).toEqual([])
  })

  it('the parameters before and after select transfers by the time of their transactions', async () => {
    const all: Row[] = []
    for (let page = 1; page <= 6; page++) all.push(...(await list(`/v1/transfers?order=asc&page=${page}`)))
    const times = [...new Set(all.map((row) => Number(row.created_at_time)))]
    for (const time of [times[0]!, times[3]!, times[3]! + 1, times[10]!]) {
      const before = all.filter((row) => Number(row.created_at_time) < time)
      const after = all.filter((row) => Number(row.created_at_time) > time)
      expect(await one(`/v1/transfers/_count?before=${time}`)).toBe(String(before.length))
      expect(await list(`/v1/transfers?order=asc&after=${time}&limit=5`)).toEqual(after.slice(0, 5))
    }
  })
})

describe('filters of the assets namespace', () => {
  it('attribute filters compare values of the declared type', async () => {
    const all = await everything('/v1/assets')
    const templateData = (row: Row) => (row.template as { data: Row } | null)?.data ?? {}
    const rare = await list('/v1/assets?limit=1000&data.rarity=legendary')
    expect(rare).not.toEqual([])
    expect(rare).toEqual(all.filter((row) => templateData(row).rarity === 'legendary'))
    expect(await list('/v1/assets?limit=1000&template_data:text.rarity=legendary')).toEqual(rare)
    const tough = await list('/v1/assets?limit=1000&data:number.hp=-5')
    expect(tough).toEqual(all.filter((row) => templateData(row).hp === -5))
    const own = await list('/v1/assets?limit=1000&mutable_data:number.f8=255')
    expect(own).toEqual(all.filter((row) => (row.mutable_data as Row).f8 === 255))
    expect(own).not.toEqual([])
    expect(await list('/v1/assets?data.tags[]=sharp&limit=1000')).toEqual(
      all.filter((row) => (templateData(row).tags as string[] | undefined)?.includes('sharp')),
    )
    expect((await server.get('/v1/assets?data:number.rarity=abc')).status).toBe(400)
    expect(await list('/v1/assets?limit=1000&data:text.rarity=common&data:text.rarity=legendary')).toEqual(
      rare,
    )
  })

  it('an attribute filter whose value is an empty list matches every record whose attribute is a list', async () => {
    const all = await everything('/v1/templates')
    const tagged = all.filter((row) => Array.isArray((row.immutable_data as Row).tags))
    expect(tagged).not.toEqual([])
    expect(await list('/v1/templates', post({ 'data.tags': [], limit: 1000 }))).toEqual(tagged)
    expect(await list('/v1/templates', post({ 'data.nothing_has_it': [] }))).toEqual([])
    expect(await list('/v1/assets', post({ 'immutable_data.nothing_has_it': [] }))).toEqual([])
    expect(await list('/v1/templates', post({ template_id: [], limit: 1000 }))).toEqual(all)
  })

  it('search filters treat % and _ as literal characters', async () => {
    expect(await list('/v1/assets?match=%25')).toEqual([])
    expect(await list('/v1/templates?match=_%25_')).toEqual([])
    expect(await list('/v1/offers?match_memo=%25%25')).toEqual([])
    const found = await list('/v1/templates?match=sword')
    expect(found).not.toEqual([])
    for (const row of found) expect(String(row.name).toLowerCase()).toContain('sword')
  })

  it('an unknown named list matches nothing as a filter, and is refused as a blacklist', async () => {
    expect(await list('/v1/assets?collection_whitelist=$list:typo')).toEqual([])
    expect(await list('/v1/assets?owner=$list:typo')).toEqual([])
    const { status, body } = await server.get('/v1/assets?limit=2&collection_blacklist=$list:typo')
    expect([status, body.message]).toEqual([
      400,
      expect.stringContaining('the server has no named list typo'),
    ])
  })

  it('filters in a query string, a form and a JSON body match the same rows', async () => {
    const expected = await list('/v1/assets?owner=alice,bob&burned=false&limit=3&page=2')
    expect(expected).toHaveLength(3)
    expect(await list('/v1/assets?owner=alice&owner=bob&burned=0&limit=3&page=2')).toEqual(expected)
    expect(await list('/v1/assets?owner[]=alice&owner[]=bob&burned=0&limit=3&page=2')).toEqual(expected)
    const body = { owner: ['alice', 'bob'], burned: false, limit: 3, page: 2 }
    expect(await list('/v1/assets?limit=9', post(body))).toEqual(expected)
    const form = new URLSearchParams({ owner: 'alice,bob', burned: 'false', limit: '3', page: '2' })
    expect(await list('/v1/assets', { method: 'POST', body: form })).toEqual(expected)
  })

  it('the asset filters of offers and transfers must all match one and the same asset', async () => {
    const transfers = await list('/v1/transfers?collection_name=alicecollect&template_id=10&limit=100')
    expect(transfers).not.toEqual([])
    for (const { assets } of transfers) {
      const fits = (asset: Row) => (asset.template as Row | null)?.template_id === '10'
      expect((assets as Row[]).some(fits)).toBe(true)
    }
    for (const { sender_assets: sent, recipient_assets: received } of await list('/v1/offers?owner=alice')) {
      expect([...(sent as Row[]), ...(received as Row[])].some(({ owner }) => owner === 'alice')).toBe(true)
    }
    expect(await failure('/v1/transfers?account=alice&sender=bob')).toBe(
      '400 Can not use account and sender or recipient filters at the same time',
    )
  })
})

describe('single records of the assets namespace', () => {
  it('the response for a missing record has the status and message of the replaced system', async () => {
    expect(await failure('/v1/assets/1')).toBe('416 Asset not found')
    expect(await failure('/v1/collections/nothing')).toBe('416 Collection not found')
    expect(await failure('/v1/offers/999999')).toBe('416 Offer not found')
    expect(await failure('/v1/schemas/testcollect1/nothing')).toBe('416 Schema not found')
    expect(await failure('/v1/templates/testcollect1/99999999999')).toBe('404 Template not found')
    expect(await failure('/v1/templates/alicecollect/1')).toBe('404 Template not found')
  })

  it('a request for a record with an invalid id is refused', async () => {
    expect(await failure('/v1/assets/abc')).toBe('400 Invalid value for parameter asset_id')
    expect(await failure('/v1/assets/9223372036854775808')).toBe('400 Invalid value for parameter asset_id')
    expect(await failure('/v1/templates/alicecollect/null')).toBe(
      '400 Invalid value for parameter template_id',
    )
    expect(await failure('/v1/schemas/A/b')).toBe('400 Invalid value for parameter collection_name')
  })
})
