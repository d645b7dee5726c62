import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { connectDatabase } from '../../services/core/database/index.ts'
import { readingOf } from './reading.ts'
import type { Asset, Reading, Row, Template } from './reading.ts'
import { post, serveRecordings } from './server.ts'
import type { TestServer } from './server.ts'

interface Log {
  readonly log_id: string
  readonly name: string
  readonly data: Row
  readonly txid: string
  readonly created_at_block: string
  readonly created_at_time: string
}
let server: TestServer
let assets: Asset[]
/**
 * Assets whose logs are compared: all burned and edited assets, and every fifth of the others, whose logs are all
 * alike.
 */
let telling: Asset[]
let get: Reading['get']
let failure: Reading['failure']
let everything: Reading['everything']
beforeAll(async () => {
  server = await serveRecordings(['main', 'v2'])
  const reading = readingOf(server)
  ;({ get, everything, failure } = reading)
  assets = await reading.everything<Asset>('/v1/assets', 1000)
  telling = assets.filter(
    ({ burned_by_account, mutable_data }, at) =>
      at % 5 === 0 || burned_by_account !== null || Object.keys(mutable_data).length > 0,
  )
})
afterAll(() => server.close())

describe('logs of the assets namespace', () => {
  it('logs of assets, collections and offers are ordered and paged, and name the transaction', async () => {
    const collections = await get<{ collection_name: string }[]>('/v1/collections?limit=100')
    const offers = await get<{ offer_id: string }[]>('/v1/offers?limit=100')
    const paths = [
      ...telling.slice(0, 30).map(({ asset_id: id }) => `/v1/assets/${id}/logs`),
      ...collections.map(({ collection_name: name }) => `/v1/collections/${name}/logs`),
      ...offers.map(({ offer_id: id }) => `/v1/offers/${id}/logs`),
    ]
    for (const path of paths) {
      const logs = await get<Log[]>(path)
      expect(logs).not.toEqual([])
      const sequence = logs.map((log) => BigInt(log.log_id))
      expect(sequence).toEqual([...sequence].sort((a, b) => (a < b ? -1 : 1)))
      for (const log of logs) {
        expect(log).toEqual({
          log_id: expect.stringMatching(/^\d+$/) as string,
          name: expect.any(String) as string,
          data: expect.any(Object) as object,
          txid: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
          created_at_block: expect.stringMatching(/^\d+$/) as string,
          created_at_time: expect.stringMatching(/^\d+$/) as string,
        })
      }
      expect(await get(`${path}?order=desc`)).toEqual([...logs].reverse())
      expect(await everything(path, 1)).toEqual(logs)
    }
  })

  it('the logs of an asset begin with the mint, and the last entries agree with the current state of the asset', async () => {
    const changed: string[] = []
    for (const asset of telling) {
      const logs = await get<Log[]>(`/v1/assets/${asset.asset_id}/logs`)
      const mint = logs[0]!
      expect([mint.name, mint.created_at_block]).toEqual(['logmint', asset.minted_at_block])
      expect(Object.keys(mint.data).sort()).toEqual(['authorized_minter', 'new_asset_owner'])
      const last = logs.findLast(({ name }) => name === 'logsetdata')
      if (last) {
        const names = (last.data.new_data as { key: string }[]).map(({ key }) => key)
        expect(names.sort()).toEqual(Object.keys(asset.mutable_data).sort())
        changed.push(asset.asset_id)
      }
      const burned = logs.at(-1)!.name === 'logburnasset' ? logs.at(-1)!.data.asset_owner : null
      expect(burned).toBe(asset.burned_by_account)
    }
    expect(changed).not.toEqual([])
  })

  it('logs of data changes contain the data before and after', async () => {
    const templates = await get<Template[]>('/v1/templates?include_deleted=true&limit=1000')
    const paths = [
      ...telling.map(({ asset_id: id }) => [`/v1/assets/${id}/logs`, 'logsetdata']),
      ...templates.map(({ template_id: id, collection }) => [
        `/v1/templates/${collection.collection_name}/${id}/logs`,
        'logsetdatatl',
      ]),
    ]
    const pairs = new Map<string, number>()
    for (const [path, action] of paths) {
      const logs = await get<Log[]>(`${path!}?action_whitelist=${action!}`)
      for (const [index, log] of logs.slice(1).entries()) {
        expect(log.data.old_data).toEqual(logs[index]!.data.new_data)
        pairs.set(action!, (pairs.get(action!) ?? 0) + 1)
      }
      for (const { name, data } of logs) {
        expect(name).toBe(action)
        const keys =
          action === 'logsetdatatl' ? ['new_data', 'old_data', 'schema_name'] : ['new_data', 'old_data']
        expect(Object.keys(data).sort()).toEqual(keys)
      }
    }
    expect([...pairs.keys()].sort()).toEqual(['logsetdata', 'logsetdatatl'])
  })

  it('logs of collections, schemas and templates contain the actions of contract version 2', async () => {
    const found = new Map<string, string[]>()
    const take = async (path: string): Promise<void> => {
      for (const { name, data } of await get<Log[]>(path)) found.set(name, Object.keys(data).sort())
    }
    for (const name of ['carolcollect', 'testcollect1', 'alicecollect'])
      await take(`/v1/collections/${name}/logs`)
    await take('/v1/schemas/alicecollect/items/logs')
    await take('/v1/schemas/alicecollect/cards/logs')
    await take('/v1/templates/alicecollect/15/logs')
    await take('/v1/templates/alicecollect/20/logs')
    await take('/v1/templates/testcollect1/1/logs')
    expect(Object.fromEntries(found)).toMatchObject({
      createcol: ['allow_notify', 'author', 'authorized_accounts', 'data', 'market_fee', 'notify_accounts'],
      addnotifyacc: ['account_to_add'],
      forbidnotify: [],
      setmarketfee: ['market_fee'],
      createauswap: ['acceptance_date', 'new_author', 'owner'],
      acceptauswap: ['actor', 'new_author', 'prior_author'],
      rejectauswap: ['actor', 'new_author', 'prior_author'],
      createschema: ['authorized_creator', 'schema_format'],
      extendschema: ['authorized_editor', 'schema_format_extension'],
      setschematyp: ['authorized_editor', 'schema_format_type'],
      lognewtempl: ['authorized_creator', 'max_supply'],
      locktemplate: ['authorized_editor'],
      deltemplate: ['authorized_editor'],
      redtemplmax: ['authorized_editor', 'new_max_supply'],
    })
  })

  it('logs can be filtered by action name', async () => {
    const path = '/v1/collections/testcollect1/logs'
    const all = await get<Log[]>(path)
    const named = (names: readonly string[]) => all.filter(({ name }) => names.includes(name))
    expect(await get(`${path}?action_whitelist=createcol,setcoldata,logmint,nonsense`)).toEqual(
      named(['createcol', 'setcoldata']),
    )
    expect(await get(`${path}?action_blacklist=createcol`)).toEqual(all.slice(1))
    expect(await get(`${path}?action_whitelist=createcol&action_blacklist=createcol`)).toEqual([])
    expect(await get(path, post({ action_whitelist: ['createcol'] }))).toEqual(named(['createcol']))
    expect(await get(`${path}?action_whitelist=nonsense`)).toEqual([])
    expect(await failure(`${path}?action_whitelist=createcol,`)).toBe(
      '400 Invalid value for parameter action_whitelist',
    )
    expect(await failure(`${path}?limit=101`)).toBe('400 Invalid value for parameter limit')
  })

  it('logs contain only actions on the record in the path', async () => {
    const [first, second] = assets as [Asset, Asset]
    const path = `/v1/assets/${first.asset_id}/logs`
    expect(await get(`${path}?asset_id=${second.asset_id}`)).toEqual(await get(path))
    expect(await get(path, post({ asset_id: second.asset_id }))).toEqual(await get(path))
    // Offer 1, template 1 and asset 1 are different subjects of logs.
    expect((await get<Log[]>('/v1/offers/1/logs')).map(({ name }) => name)).toEqual([
      'lognewoffer',
      'acceptoffer',
    ])
    expect((await get<Log[]>('/v1/templates/testcollect1/1/logs'))[0]!.name).toBe('lognewtempl')
    for (const nothing of [
      '/v1/assets/1/logs',
      '/v1/templates/alicecollect/1/logs',
      '/v1/templates/alicecollect/9223372036854775807/logs',
      '/v1/schemas/alicecollect/minimal/logs',
      '/v1/collections/nocollection/logs',
      '/v1/collections/Not%20a%20name/logs',
      '/v1/collections/alicecollect./logs',
      '/v1/collections/zzzzzzzzzzzzz/logs',
      '/v1/offers/999999/logs',
    ]) {
      expect([nothing, await get(nothing)]).toEqual([nothing, []])
    }
    expect(await failure('/v1/offers/abc/logs')).toBe('400 Invalid value for parameter offer_id')
  })

  it('the logs of an asset omit its mint if the reader does not store logs', async () => {
    const id = assets[5]!.asset_id
    const [mint, ...rest] = await get<Log[]>(`/v1/assets/${id}/logs`)
    const client = await connectDatabase(server.database.address, { applicationName: 'test' })
    try {
      await client.query('UPDATE assets.assets SET minted_seq = NULL WHERE asset_id = $1', [id])
      expect(await get(`/v1/assets/${id}/logs`)).toEqual(rest)
    } finally {
      await client.query('UPDATE assets.assets SET minted_seq = $2 WHERE asset_id = $1', [id, mint!.log_id])
      await client.end()
    }
  })
})
