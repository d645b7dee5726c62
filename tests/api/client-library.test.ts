import { ExplorerApi } from 'atomicassets'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { serveRecordings } from './server.ts'
import type { TestServer } from './server.ts'

/** A request that the client library sent. */
interface Sent {
  readonly method: string
  readonly path: string
  readonly body: string | undefined
}

const COLLECTION = 'testcollect1'

let server: TestServer
let sent: Sent[]
let asked: Promise<Response>[] = []
let client: ExplorerApi
/** Ids and names of existing records. */
let known: { asset: string; schema: string; template: string; offer: string; owner: string; burner: string }

beforeAll(async () => {
  server = await serveRecordings(['main'])
  const [asset] = await rest<{ asset_id: string; owner: string; schema: { schema_name: string } }[]>(
    `/v1/assets?collection_name=${COLLECTION}&burned=false&sort=updated`,
  )
  const [template] = await rest<{ template_id: string }[]>(`/v1/templates?collection_name=${COLLECTION}`)
  const [offer] = await rest<{ offer_id: string }[]>('/v1/offers')
  const [burner] = await rest<{ account: string }[]>('/v1/burns')
  known = {
    asset: asset!.asset_id,
    schema: asset!.schema.schema_name,
    template: template!.template_id,
    offer: offer!.offer_id,
    owner: asset!.owner,
    burner: burner!.account,
  }
})
afterAll(() => server.close())
// The library requests its settings in the background: wait until no request is running.
afterEach(async () => {
  await client.action
  await Promise.allSettled(asked)
})

beforeEach(() => {
  sent = []
  asked = []
  client = new ExplorerApi(server.api.url, 'atomicassets', {
    fetch: async (input, init) => {
      const address = typeof input === 'string' ? input : input!.url
      const url = new URL(address)
      const body = typeof init?.body === 'string' ? init.body : undefined
      sent.push({ method: init?.method ?? 'GET', path: url.pathname + url.search, body })
      const answer = fetch(address, init).then(async (response) => {
        const { status, headers } = response
        return new Response(await response.arrayBuffer(), { status, headers })
      })
      asked.push(answer)
      return answer
    },
  })
})

/** `data` of the answer to a plain GET request. */
async function rest<T>(path: string): Promise<T> {
  const { status, body } = await server.get(path)
  expect([path, status]).toEqual([path, 200])
  return body.data as T
}

async function restCount(path: string): Promise<number> {
  return Number(await rest<string>(path))
}

type Call = readonly [method: keyof ExplorerApi, call: () => Promise<unknown>, plain: () => Promise<unknown>]

/** Every method of the library, each with a plain request that must get an equal answer. */
function everyCall(): Call[] {
  const { asset, schema, template, offer, owner, burner } = known
  const page = 'page=2&limit=7'
  const data = [
    { key: 'name', value: 'Sword', type: 'immutable_data' },
    { key: 'level', value: 22, type: 'mutable_data' },
  ]
  const level = 'mutable_data:number.level=22'
  return [
    ['getConfig', () => client.getConfig(), () => rest('/v1/config')],
    [
      'getAssets',
      () => client.getAssets({ owner, burned: false }, 2, 7),
      () => rest(`/v1/assets?owner=${owner}&burned=false&${page}`),
    ],
    [
      'getAssets',
      () => client.getAssets({}, 1, 5, data),
      () => rest(`/v1/assets?limit=5&immutable_data.name=Sword&${level}`),
    ],
    ['getAssets', () => client.getAssets({}, 1, 5, [data[1]!]), () => rest(`/v1/assets?limit=5&${level}`)],
    [
      'countAssets',
      () => client.countAssets({ burned: true }),
      () => restCount('/v1/assets/_count?burned=true'),
    ],
    ['getAsset', () => client.getAsset(asset), () => rest(`/v1/assets/${asset}`)],
    ['getAssetStats', () => client.getAssetStats(asset), () => rest(`/v1/assets/${asset}/stats`)],
    ['getAssetLogs', () => client.getAssetLogs(asset), () => rest(`/v1/assets/${asset}/logs?order=desc`)],
    ['getCollections', () => client.getCollections({}, 2, 7), () => rest(`/v1/collections?${page}`)],
    ['countCollections', () => client.countCollections(), () => restCount('/v1/collections/_count')],
    ['getCollection', () => client.getCollection(COLLECTION), () => rest(`/v1/collections/${COLLECTION}`)],
    [
      'getCollectionStats',
      () => client.getCollectionStats(COLLECTION),
      () => rest(`/v1/collections/${COLLECTION}/stats`),
    ],
    [
      'getCollectionLogs',
      () => client.getCollectionLogs(COLLECTION, 1, 5),
      () => rest(`/v1/collections/${COLLECTION}/logs?order=desc&limit=5`),
    ],
    [
      'getSchemas',
      () => client.getSchemas({ collection_name: COLLECTION }),
      () => rest(`/v1/schemas?collection_name=${COLLECTION}`),
    ],
    ['countSchemas', () => client.countSchemas(), () => restCount('/v1/schemas/_count')],
    [
      'getSchema',
      () => client.getSchema(COLLECTION, schema),
      () => rest(`/v1/schemas/${COLLECTION}/${schema}`),
    ],
    [
      'getSchemaStats',
      () => client.getSchemaStats(COLLECTION, schema),
      () => rest(`/v1/schemas/${COLLECTION}/${schema}/stats`),
    ],
    [
      'getSchemaLogs',
      () => client.getSchemaLogs(COLLECTION, schema),
      () => rest(`/v1/schemas/${COLLECTION}/${schema}/logs?order=desc`),
    ],
    [
      'getTemplates',
      () => client.getTemplates({ has_assets: true }, 2, 7),
      () => rest(`/v1/templates?has_assets=true&${page}`),
    ],
    ['countTemplates', () => client.countTemplates({}), () => restCount('/v1/templates/_count')],
    [
      'getTemplate',
      () => client.getTemplate(COLLECTION, template),
      () => rest(`/v1/templates/${COLLECTION}/${template}`),
    ],
    [
      'getTemplateStats',
      () => client.getTemplateStats(COLLECTION, template),
      () => rest(`/v1/templates/${template}/stats`),
    ],
    [
      'getTemplateLogs',
      () => client.getTemplateLogs(COLLECTION, template),
      () => rest(`/v1/templates/${COLLECTION}/${template}/logs?order=desc`),
    ],
    ['getTransfers', () => client.getTransfers({}, 2, 7), () => rest(`/v1/transfers?${page}`)],
    ['countTransfers', () => client.countTransfers(), () => restCount('/v1/transfers/_count')],
    ['getOffers', () => client.getOffers({}, 2, 7), () => rest(`/v1/offers?${page}`)],
    ['countOffers', () => client.countOffers(), () => restCount('/v1/offers/_count')],
    ['getOffer', () => client.getOffer(offer), () => rest(`/v1/offers/${offer}`)],
    ['getAccounts', () => client.getAccounts({}, 2, 7), () => rest(`/v1/accounts?${page}`)],
    ['countAccounts', () => client.countAccounts(), () => restCount('/v1/accounts/_count')],
    ['getAccount', () => client.getAccount(owner), () => rest(`/v1/accounts/${owner}`)],
    [
      'getAccountCollection',
      () => client.getAccountCollection(owner, COLLECTION),
      () => rest(`/v1/accounts/${owner}/${COLLECTION}`),
    ],
    ['getBurns', () => client.getBurns(), () => rest('/v1/burns')],
    ['getAccountBurns', () => client.getAccountBurns(burner), () => rest(`/v1/burns/${burner}`)],
  ]
}

function isEmpty(value: unknown): boolean {
  return value === 0 || (Array.isArray(value) && value.length === 0)
}

describe('the published client library', () => {
  it('every method of the published client library returns the data that a plain request to the endpoint returns', async () => {
    const calls = everyCall()
    const called = new Set(calls.map(([method]) => method as string))
    const methods = Object.getOwnPropertyNames(ExplorerApi.prototype).filter((name) =>
      /^(?:get|count)[A-Z]/.test(name),
    )
    expect([...called].sort()).toEqual(methods.filter((name) => name !== 'countEndpoint').sort())
    const empty: string[] = []
    for (const [method, call, plain] of calls) {
      const [found, expected] = [await call(), await plain()]
      expect({ [method]: found }).toEqual({ [method]: expected })
      if (isEmpty(found)) empty.push(method)
    }
    // Every method returns content, except `getAssets`: no asset matches the two attribute filters of its request.
    expect(empty).toEqual(['getAssets'])
  })

  it('the published client library sends a long query with POST and gets the same answer as with GET', async () => {
    const level22 = await rest<{ asset_id: string }[]>('/v1/assets?mutable_data:number.level=22')
    const assets = [...level22, ...(await rest<{ asset_id: string }[]>('/v1/assets?limit=100'))]
    const list = assets.map(({ asset_id }) => asset_id).join(',')
    // Names of collections that do not exist.
    const long = Array.from({ length: 200 }, (_each, index) =>
      `none${index.toString(5)}`.replaceAll('0', 'z'),
    ).join(',')
    const blacklist = { collection_blacklist: long, before: 4_000_000_000_000 }
    const query = `collection_blacklist=${long}&before=4000000000000`
    const calls: Call[] = [
      [
        'getAssets',
        () => client.getAssets({ ids: list, burned: false }, 2, 7),
        () => rest(`/v1/assets?ids=${list}&burned=false&page=2&limit=7`),
      ],
      [
        'countAssets',
        () => client.countAssets({ ids: list, burned: false }),
        () => restCount(`/v1/assets/_count?ids=${list}&burned=false`),
      ],
      [
        'getAssets',
        () => client.getAssets({ ids: list }, 1, 3, [{ key: 'level', value: 22, type: 'mutable_data' }]),
        () => rest(`/v1/assets?ids=${list}&limit=3&mutable_data:number.level=22`),
      ],
      [
        'getCollections',
        () => client.getCollections(blacklist, 2, 3),
        () => rest(`/v1/collections?${query}&page=2&limit=3`),
      ],
      [
        'countCollections',
        () => client.countCollections(blacklist),
        () => restCount(`/v1/collections/_count?${query}`),
      ],
      [
        'getSchemas',
        () => client.getSchemas(blacklist, 2, 3),
        () => rest(`/v1/schemas?${query}&page=2&limit=3`),
      ],
      [
        'getTemplates',
        () => client.getTemplates({ ...blacklist, has_assets: true }, 2, 3),
        () => rest(`/v1/templates?${query}&has_assets=true&page=2&limit=3`),
      ],
      [
        'getTransfers',
        () => client.getTransfers(blacklist, 2, 3),
        () => rest(`/v1/transfers?${query}&page=2&limit=3`),
      ],
      [
        'getOffers',
        () => client.getOffers(blacklist, 2, 3),
        () => rest(`/v1/offers?${query}&page=2&limit=3`),
      ],
      [
        'getAccounts',
        () => client.getAccounts(blacklist, 2, 3),
        () => rest(`/v1/accounts?${query}&page=2&limit=3`),
      ],
      ['getBurns', () => client.getBurns(blacklist, 1, 3), () => rest(`/v1/burns?${query}&limit=3`)],
      [
        'getAccount',
        () => client.getAccount(known.owner, { ...blacklist, hide_offers: true }),
        () => rest(`/v1/accounts/${known.owner}?${query}&hide_offers=true`),
      ],
    ]
    await client.action
    for (const [method, call, plain] of calls) {
      sent.length = 0
      const found = await call()
      expect(sent).toMatchObject([{ method: 'POST', body: expect.stringMatching(/^\{/) as string }])
      expect({ [method]: found }).toEqual({ [method]: await plain() })
      expect([method, isEmpty(found)]).toEqual([method, false])
    }
  })

  it('the published client library builds actions from schemas and assets of the API', async () => {
    const action = await client.action
    const permission = [{ actor: known.owner, permission: 'active' }]
    const [edit] = await action.setassetdata(permission, known.owner, known.owner, known.asset, {
      name: 'New',
    })
    expect(edit).toMatchObject({
      account: 'atomicassets',
      name: 'setassetdata',
      data: { asset_id: known.asset, new_mutable_data: [{ key: 'name', value: ['string', 'New'] }] },
    })
  })

  it('the published client library reports the message of an error response', async () => {
    await expect(client.getAsset('1')).rejects.toMatchObject({ message: 'Asset not found', status: 416 })
    await expect(client.getAssets({}, 0)).rejects.toMatchObject({
      message: 'Invalid value for parameter page',
      status: 400,
    })
    await expect(client.getTemplate(COLLECTION, '999999')).rejects.toMatchObject({
      message: 'Template not found',
      status: 404,
    })
  })
})
