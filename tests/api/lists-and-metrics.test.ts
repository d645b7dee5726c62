import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type pg from 'pg'
import { startApi } from '../../services/api/index.ts'
import type { RunningApi } from '../../services/api/index.ts'
import { connectDatabase } from '../../services/core/database/index.ts'
import { metricCatalogue } from '../../services/core/metrics/index.ts'
import { createTestDatabase } from '../setup/database.ts'
import type { TestDatabase } from '../setup/database.ts'
import { readMetrics } from '../setup/metrics.ts'
import { generateRows } from './generated-rows.ts'
import { apiConfig, ask, post, quiet } from './server.ts'
import { findFreePort } from '../../services/core/http/listener/index.ts'

const rows = { collections: 4, schemasPerCollection: 1, templates: 8, assets: 80, owners: 5 }
let database: TestDatabase
let client: pg.Client
let api: RunningApi
let metricsUrl: string

beforeAll(async () => {
  database = await createTestDatabase()
  client = await connectDatabase(database.address, { applicationName: 'test' })
  await generateRows(client, { ...rows, offers: 4, transfers: 8 })
  await client.query(`INSERT INTO chain.lists (name, source, items) VALUES
    ('verified', '', '{col1,col2}'), ('verified', 'main:0', '{col2,col3,Not.A.Name}'), ('none', '', '{}')`)
  const metricsPort = await findFreePort()
  metricsUrl = `http://127.0.0.1:${metricsPort}/metrics`
  const config = apiConfig(database.address, { metrics_port: metricsPort })
  api = await startApi({ config, logger: quiet })
})
afterAll(async () => {
  await api.close()
  await client.end()
  await database.drop()
})

const get = (path: string) => ask(`${api.url}/atomicassets/v1${path}`)

async function collections(query: string): Promise<string[]> {
  const { status, body } = await get(`/collections?sort=collection_name&order=asc&${query}`)
  expect(status).toBe(200)
  return (body.data as { collection_name: string }[]).map((each) => each.collection_name)
}

describe('a named list in a request', () => {
  it('a parameter value $list:NAME stands for the items of the named list from all sources, and can be combined with other values', async () => {
    expect(await collections('collection_whitelist=$list:verified')).toEqual(['col1', 'col2', 'col3'])
    expect(await collections('collection_whitelist=$list:verified,col4')).toHaveLength(4)
    expect(await collections('collection_blacklist=$list:verified')).toEqual(['col4'])
    const answer = await ask(
      `${api.url}/atomicassets/v1/assets`,
      post({ collection_name: ['$list:verified'], limit: 1000 }),
    )
    const names = (answer.body.data as { collection: { collection_name: string } }[]).map(
      (asset) => asset.collection.collection_name,
    )
    expect(names).toHaveLength((rows.assets / rows.collections) * 3)
    expect(names).not.toContain('col4')
  })

  it('an empty named list matches nothing; as a blacklist it excludes nothing', async () => {
    expect(await collections('collection_whitelist=$list:none')).toEqual([])
    expect(await collections('collection_blacklist=$list:none')).toHaveLength(4)
  })

  it('an unknown named list matches nothing; as a blacklist it is refused', async () => {
    for (const list of ['typo', '', 'x'.repeat(120), "'; DROP TABLE chain.lists"]) {
      const named = encodeURIComponent(`$list:${list}`)
      expect(await collections(`collection_whitelist=${named}`)).toEqual([])
      expect((await get(`/collections?collection_blacklist=${named}`)).status).toBe(400)
    }
    expect((await get('/accounts?collection_whitelist=$list:typo')).body.data).toEqual([])
  })
})

describe('metrics of the API', () => {
  let before: ReadonlyMap<string, number>
  const read = async () => readMetrics(await fetch(metricsUrl))
  beforeEach(async () => {
    before = await read()
  })
  const risen = async (series: string) => ((await read()).get(series) ?? 0) - (before.get(series) ?? 0)

  it('metrics label requests by route, method and status, and never by text from the client', async () => {
    await get('/assets/1099511627777')
    await get('/assets/1099511627778')
    await get('/assets/77')
    await fetch(`${api.url}/no/such/path`, { method: 'POST' })
    const route = 'namespace="assets",route="/atomicassets/v1/assets/:asset_id"'
    expect(await risen(`pronghorn_http_requests_total{${route},status="2xx",method="GET"}`)).toBe(2)
    expect(await risen(`pronghorn_http_requests_total{${route},status="4xx",method="GET"}`)).toBe(1)
    expect(await risen(`pronghorn_http_request_duration_seconds_count{${route},status="2xx"}`)).toBe(2)
    expect(await risen(`pronghorn_http_response_bytes_total{${route}}`)).toBeGreaterThan(500)
    const none = 'namespace="none",route="unmatched",status="4xx",method="POST"'
    expect(await risen(`pronghorn_http_requests_total{${none}}`)).toBe(1)
    const text = await (await fetch(metricsUrl)).text()
    expect(text).not.toMatch(/1099511627777|such/)
  })

  it('metrics count queries by statement name, and report connections, lists, readers and health', async () => {
    await get('/assets/1099511627779')
    for (let times = 0; times < 4; times++) await get('/collections?collection_whitelist=$list:verified')
    const server = 'server="primary"'
    const query = (name: string) =>
      `pronghorn_database_query_duration_seconds_count{query="${name}",${server}}`
    expect(await risen(query('one Asset'))).toBe(1)
    // Four requests with two statements each, for keys and records. Each request begins a snapshot.
    expect(await risen(query('assets /v1/collections'))).toBe(8)
    expect(await risen(query('begin'))).toBe(4)
    const lookups = ['cached', 'read'].map((outcome) =>
      risen(`pronghorn_list_lookups_total{outcome="${outcome}"}`),
    )
    expect((await Promise.all(lookups)).reduce((sum, each) => sum + each, 0)).toBe(4)
    const now = await read()
    expect(now.get(`pronghorn_database_up{${server}}`)).toBe(1)
    expect(now.get(`pronghorn_database_connections_limit{${server}}`)).toBe(50)
    expect(now.get(`pronghorn_database_connections{${server},state="idle"}`)).toBeGreaterThan(0)
    expect(now.get('pronghorn_kvstore_up')).toBe(1)
    expect(now.get('pronghorn_health')).toBe(2)
    expect(now.get('pronghorn_http_requests_in_flight')).toBe(0)
    for (const name of now.keys()) {
      const family = name.replace(/\{.*/, '').replace(/_(?:bucket|sum|count)$/, '')
      if (family.startsWith('pronghorn_')) expect(Object.keys(metricCatalogue)).toContain(family)
    }
  })
})
