import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { legacyKeyText } from '../../services/core/antelope/values/key.ts'
import { parseKeyText } from '../../services/core/antelope/index.ts'
import { buildQueryIndexes, connectDatabase } from '../../services/core/database/index.ts'
import { startApi } from '../../services/api/index.ts'
import type { RunningApi } from '../../services/api/index.ts'
import { indexUntil, startChain } from '../integration/index-chain.ts'
import { linksMix, modelLinks, toolsAbi, TOOLS_ACCOUNT } from '../integration/tools-model.ts'
import type { ModelLink, ModelLog } from '../integration/tools-model.ts'
import { createTestDatabase } from '../setup/database.ts'
import type { TestDatabase } from '../setup/database.ts'
import { crawl } from '../../scripts/compare/crawl.ts'
import { createAnswerCheck } from './answer-check.ts'
import type { OpenApiDocument } from '../../scripts/compare/document.ts'
import { readingOf } from './reading.ts'
import type { Asset, Reading, Row } from './reading.ts'
import { apiConfig, ask, post, quiet } from './server.ts'

interface Link extends Row {
  readonly link_id: string
  readonly assets: Asset[]
}

const args = {
  tools_account: TOOLS_ACCOUNT,
  assets_account: 'atomicassets',
  limits: { links: 100, logs: 100 },
}
const namespaces = [
  { name: 'assets', path: '/assets', aliases: ['/atomicassets'], args: { assets_account: 'atomicassets' } },
  { name: 'tools', path: '/tools', aliases: ['/atomictools'], args },
]

let database: TestDatabase
let api: RunningApi
let links: Map<string, ModelLink>
let logs: ModelLog[]
let get: Reading['get']
let everything: Reading['everything']
let failure: Reading['failure']
/** Link ids, newest first: the default order of lists. */
let ids: string[]

beforeAll(async () => {
  database = await createTestDatabase()
  const running = await startChain({ blocks: 160, rate: 6, mix: linksMix, seed: 12 })
  await indexUntil(running, database.address, running.chain.head().num)
  ;({ links, logs } = modelLinks(running.chain, await toolsAbi(running.httpUrl), 965))
  await running.chain.stop()
  await sql((client) => buildQueryIndexes(client, 'tools'))
  api = await startApi({ config: apiConfig(database.address, { namespaces }), logger: quiet })
  const server = {
    get: (path: string, init?: RequestInit) => ask(`${api.url}/atomictools${path}`, init),
  }
  ;({ get, everything, failure } = readingOf(server))
  ids = [...links.keys()].sort((a, b) => Number(BigInt(b) - BigInt(a)))
})

afterAll(async () => {
  await api.close()
  await database.drop()
})

async function sql<T>(work: (client: Awaited<ReturnType<typeof connectDatabase>>) => Promise<T>): Promise<T> {
  const client = await connectDatabase(database.address, { applicationName: 'test' })
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

async function idsOf(query: string): Promise<string[]> {
  const rows = await get<Link[]>(`/v1/links?limit=100&${query}`)
  const count = await get(`/v1/links/_count?${query}`)
  if (rows.length < 100) expect([query, count]).toEqual([query, String(rows.length)])
  expect(await get(`/v1/links?count=true&${query}`)).toBe(count)
  return rows.map(({ link_id: id }) => id)
}

/** Ids of the links that match a condition, newest first. */
function where(condition: (link: ModelLink) => boolean): string[] {
  return ids.filter((id) => condition(links.get(id)!)).slice(0, 100)
}

describe('links of the tools namespace', () => {
  it('link records contain the values of the actions and the current records of the assets', async () => {
    const found = await everything<Link>('/v1/links', 50)
    expect(found.map(({ link_id: id }) => id)).toEqual(ids)
    const assets = new Map<string, unknown>()
    for (const link of found) {
      const { asset_ids: assetIds, claimer_signature: _, ...model } = links.get(link.link_id)!
      expect(Object.keys(link)).toEqual([
        ...['tools_contract', 'link_id', 'assets_contract', 'creator', 'claimer', 'state', 'memo', 'assets'],
        ...['created_at_block', 'created_at_time', 'updated_at_block', 'updated_at_time', 'public_key'],
      ])
      expect(link).toEqual({
        ...model,
        tools_contract: 'atomictoolsx',
        assets_contract: 'atomicassets',
        assets: expect.anything() as unknown,
        created_at_block: String(model.created_at_block),
        created_at_time: String(model.created_at_time),
        updated_at_block: String(model.updated_at_block),
        updated_at_time: String(model.updated_at_time),
      })
      expect(link.assets.map(({ asset_id: id }) => id)).toEqual(assetIds)
      for (const asset of link.assets) assets.set(asset.asset_id, asset)
      expect(await get(`/v1/links/${link.link_id}`)).toEqual(link)
    }
    const asked = [...assets.keys()].slice(0, 100)
    const plain = await ask(`${api.url}/assets/v1/assets?limit=100&ids=${asked.join(',')}`)
    expect((plain.body.data as Asset[]).length).toBe(asked.length)
    for (const asset of plain.body.data as Asset[]) expect(assets.get(asset.asset_id)).toEqual(asset)
    expect(found.some((link) => link.assets.some(({ owner }) => owner === null))).toBe(true)
  })

  it('links can be filtered by account, state, key, asset and collection', async () => {
    const some = [...links.values()]
    const { creator } = some[0]!
    expect(await idsOf(`creator=${creator}`)).toEqual(where((link) => link.creator === creator))
    const pair = [creator, some.find((link) => link.creator !== creator)!.creator]
    expect(await idsOf(`creator=${pair.join(',')}`)).toEqual(where((link) => pair.includes(link.creator)))
    const claimer = some.find((link) => link.claimer !== null)!.claimer!
    expect(await idsOf(`claimer=${claimer}`)).toEqual(where((link) => link.claimer === claimer))
    for (const state of [0, 1, 2, 3])
      expect(await idsOf(`state=${state}`)).toEqual(where((link) => link.state === state))
    expect(await idsOf('state=2,3')).toEqual(where((link) => link.state >= 2))
    expect(await idsOf('state=9')).toEqual([])
    expect(await idsOf('creator=nobody')).toEqual([])
    for (const curve of ['PUB_K1_', 'PUB_R1_', 'PUB_WA_']) {
      const { public_key: key } = some.find((link) => link.public_key.startsWith(curve))!
      expect(await idsOf(`public_key=${key}`)).toEqual(where((link) => link.public_key === key))
      if (curve !== 'PUB_K1_') continue
      const legacy = legacyKeyText(parseKeyText('PUB', key).subarray(1))
      expect(await idsOf(`public_key=${legacy}`)).toEqual(where((link) => link.public_key === key))
    }
    const assetId = some[0]!.asset_ids[0]!
    expect(await idsOf(`asset_id=${assetId}`)).toEqual(where((link) => link.asset_ids.includes(assetId)))
  })

  it('links can be filtered by the collections of their assets', async () => {
    const records = await everything<Link>('/v1/links', 100)
    const collectionsOf = (link: Link): string[] =>
      link.assets.map(({ collection }) => collection.collection_name)
    const names = [...new Set(records.flatMap(collectionsOf))]
    for (const name of names) {
      const only = records.filter((link) => collectionsOf(link).every((each) => each === name))
      expect(await idsOf(`collection_whitelist=${name}`)).toEqual(
        only.slice(0, 100).map(({ link_id: id }) => id),
      )
      const without = records.filter((link) => !collectionsOf(link).includes(name))
      expect(await idsOf(`collection_blacklist=${name}`)).toEqual(
        without.slice(0, 100).map(({ link_id: id }) => id),
      )
    }
    expect(await idsOf(`collection_whitelist=${names.join(',')}`)).toEqual(ids.slice(0, 100))
  })

  it('lists of links support bounds, pages and two sort orders', async () => {
    const middle = ids[Math.floor(ids.length / 2)]!
    const { created_at_time: time } = links.get(middle)!
    expect(await idsOf(`lower_bound=${middle}`)).toEqual(
      where((link) => BigInt(link.link_id) >= BigInt(middle)),
    )
    expect(await idsOf(`upper_bound=${middle}`)).toEqual(
      where((link) => BigInt(link.link_id) < BigInt(middle)),
    )
    expect(await idsOf(`before=${time}`)).toEqual(where((link) => link.created_at_time < time))
    expect(await idsOf(`after=${time}`)).toEqual(where((link) => link.created_at_time > time))
    expect(await idsOf(`ids=${ids[3]!}&link_id=${ids[1]!},${ids[3]!}`)).toEqual([ids[1], ids[3]])
    expect(await idsOf('order=asc')).toEqual(ids.toReversed().slice(0, 100))
    const byUpdate = [...links.values()].sort(
      (a, b) => b.updated_at_time - a.updated_at_time || Number(BigInt(b.link_id) - BigInt(a.link_id)),
    )
    expect(await idsOf('sort=updated')).toEqual(byUpdate.slice(0, 100).map(({ link_id: id }) => id))
    expect(await get('/v1/links?page=1000')).toEqual([])
    expect(await get('/v1/links/_count')).toBe(String(ids.length))
  })

  it('requests for links may have JSON bodies with numbers and lists, as the published client sends them', async () => {
    const [first, second] = ids as [string, string]
    const body = { link_id: `${first},${second}`, limit: '10', order: 'asc', sort: 'created' }
    expect((await get<Link[]>('/v1/links', post(body))).map(({ link_id: id }) => id)).toEqual([second, first])
    expect(await get('/v1/links', post({ limit: 5 }))).toHaveLength(5)
    const found = await get<Link[]>('/v1/links', post({ state: [1], limit: 100 }))
    expect(found.map(({ link_id: id }) => id)).toEqual(where((link) => link.state === 1))
    expect(await get('/v1/links/_count', post({ state: [2, 3] }))).toBe(
      String([...links.values()].filter(({ state }) => state >= 2).length),
    )
  })

  it.each([
    ['/v1/links?limit=101', 'limit'],
    ['/v1/links?order=ASC', 'order'],
    ['/v1/links?sort=claimed', 'sort'],
    ['/v1/links?creator=TACO', 'creator'],
    ['/v1/links?claimer=a%20b', 'claimer'],
    ['/v1/links?state=abc', 'state'],
    ['/v1/links?state=4294967296', 'state'],
    ['/v1/links?public_key=xyz', 'public_key'],
    ['/v1/links?public_key=PUB_K1_7Yxk68nRomXAyppDeKKrazXXzoouKKHx5x4xJBvMnJVf97ipoX', 'public_key'],
    ['/v1/links?ids=a', 'ids'],
    ['/v1/links?link_id=99999999999999999999', 'link_id'],
    ['/v1/links?lower_bound=0', 'lower_bound'],
    ['/v1/links?before=x', 'before'],
    ['/v1/links?count=yes', 'count'],
    ['/v1/links/abc', 'link_id'],
    ['/v1/links/null', 'link_id'],
    ['/v1/links/99999999999999999999', 'link_id'],
    ['/v1/links/abc/logs', 'link_id'],
  ])('the request %s is refused with the name of the parameter', async (path, parameter) => {
    expect(await failure(path)).toBe(`400 Invalid value for parameter ${parameter}`)
  })

  it('a request for an unknown link gets status 416, and the logs of an unknown link are empty', async () => {
    expect(await failure('/v1/links/999999')).toBe('416 Link not found')
    expect(await failure('/v1/links/-1')).toBe('416 Link not found')
    expect(await get('/v1/links/999999/logs')).toEqual([])
    expect(await get('/v1/links?limit=')).toHaveLength(Math.min(100, ids.length))
  })

  it('a link with an asset that is not indexed contains the asset id, and null in the other fields of the asset', async () => {
    const link = [...links.values()].find(({ asset_ids: assets }) => assets.length > 0)!
    const before = await get<Link>(`/v1/links/${link.link_id}`)
    await sql((client) =>
      client.query(
        'UPDATE tools.links SET asset_ids = asset_ids || 1::bigint, has_unknown_assets = true WHERE link_id = $1',
        [link.link_id],
      ),
    )
    const { assets } = await get<Link>(`/v1/links/${link.link_id}?again`)
    const unknown = assets.at(-1)!
    expect(assets.slice(0, -1)).toEqual(before.assets)
    expect(unknown).toMatchObject({ contract: 'atomicassets', asset_id: '1', owner: null, collection: null })
    const keys = Object.keys(before.assets[0]!).filter((key) => key !== 'name')
    expect(Object.keys(unknown).sort()).toEqual(keys.sort())
    const collection = before.assets[0]!.collection.collection_name
    expect(await idsOf(`collection_whitelist=${collection}`)).not.toContain(link.link_id)
    await sql((client) =>
      client.query(
        'UPDATE tools.links SET asset_ids = array_remove(asset_ids, 1), has_unknown_assets = false WHERE link_id = $1',
        [link.link_id],
      ),
    )
  })
})

describe('logs of a link', () => {
  it('logs of a link contain every action in order, and the signature of the claim', async () => {
    for (const id of ids) {
      const expected = logs
        .filter(({ link_id: of }) => of === id)
        .map(({ seq, name, txid, block, time }) => ({
          log_id: seq,
          name,
          data: name === 'claimlink' ? { claimer_signature: links.get(id)!.claimer_signature } : {},
          txid,
          created_at_block: String(block),
          created_at_time: String(time),
        }))
      expect(await get(`/v1/links/${id}/logs`)).toEqual(expected)
    }
  })

  it('logs of a link support pages, both orders and a filter by action', async () => {
    const claimed = [...links.values()].find(({ state }) => state === 3)!.link_id
    const path = `/v1/links/${claimed}/logs`
    const all = await get<Row[]>(path)
    expect(all.map(({ name }) => name)).toEqual(['lognewlink', 'loglinkstart', 'claimlink'])
    expect(await get(`${path}?order=desc`)).toEqual(all.toReversed())
    expect(await get(`${path}?limit=1&page=2`)).toEqual([all[1]])
    expect(await get(`${path}?action_whitelist=claimlink,nothing`)).toEqual([all[2]])
    expect(await get(`${path}?action_whitelist=nothing`)).toEqual([])
    expect(await get(`${path}?action_blacklist=lognewlink,claimlink`)).toEqual([all[1]])
    expect(await get(`${path}?link_id=${ids.find((id) => id !== claimed)!}`)).toEqual(all)
    expect(await failure(`${path}?limit=101`)).toBe('400 Invalid value for parameter limit')
  })
})

describe('answers of the tools namespace', () => {
  it('every answer of the tools namespace conforms to the OpenAPI document, with content on every path', async () => {
    const document = (await (await fetch(`${api.url}/openapi.json`)).json()) as OpenApiDocument
    const own = Object.entries(document.paths).filter(([path]) => path.startsWith('/tools/'))
    expect(own.map(([path]) => path)).toEqual([
      '/tools/v1/config',
      '/tools/v1/links',
      '/tools/v1/links/_count',
      '/tools/v1/links/{link_id}',
      '/tools/v1/links/{link_id}/logs',
    ])
    const answers = await crawl(api.url, { ...document, paths: Object.fromEntries(own) })
    const check = createAnswerCheck(document)
    for (const { path, url, status, body } of answers)
      expect([url, check(path, status, body)]).toEqual([url, undefined])
    const full = new Set(answers.filter(({ status }) => status === 200).map(({ path }) => path))
    expect([...full].sort()).toEqual(own.map(([path]) => path).sort())
  })
})

describe('the config of tools', () => {
  it('the config of tools contains the contracts and the version, and answers only GET and HEAD', async () => {
    expect(await get('/v1/config')).toEqual({
      atomictools_contract: 'atomictoolsx',
      atomicassets_contract: 'atomicassets',
      version: '1.0.0',
    })
    const answer = await ask(`${api.url}/tools/v1/config`, { method: 'POST' })
    expect([answer.status, answer.body.message]).toEqual([404, 'Endpoint not found'])
  })

  it('until the contract settings are indexed, the config of tools is reported as missing and lists are empty', async () => {
    const empty = await createTestDatabase()
    const emptyApi = await startApi({ config: apiConfig(empty.address, { namespaces }), logger: quiet })
    try {
      const missing = await ask(`${emptyApi.url}/tools/v1/config`)
      expect([missing.status, missing.body.message]).toEqual([500, 'Config not found'])
      expect((await ask(`${emptyApi.url}/tools/v1/links`)).body.data).toEqual([])
      expect((await ask(`${emptyApi.url}/tools/v1/links/_count`)).body.data).toBe('0')
    } finally {
      await emptyApi.close()
      await empty.drop()
    }
  })
})
