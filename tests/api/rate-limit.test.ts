import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { connectDatabase } from '../../services/core/database/index.ts'
import { startApi } from '../../services/api/index.ts'
import type { RunningApi } from '../../services/api/index.ts'
import { describeWithRedis, startTestRedis } from '../setup/redis.ts'
import type { TestRedis } from '../setup/redis.ts'
import { createTestDatabase } from '../setup/database.ts'
import type { TestDatabase } from '../setup/database.ts'
import { apiConfig, quiet } from './server.ts'

let database: TestDatabase
const running: RunningApi[] = []

beforeAll(async () => {
  database = await createTestDatabase()
})
afterEach(async () => {
  await Promise.all(running.splice(0).map((api) => api.close()))
})
afterAll(() => database.drop())

async function start(settings: Record<string, unknown>, redis?: TestRedis): Promise<RunningApi> {
  const config = apiConfig(database.address, settings)
  const connections = redis
    ? { ...config.connections, kvstore: { ...redisAddress, port: redis.port } }
    : config.connections
  const api = await startApi({ config: { ...config, connections }, logger: quiet })
  running.push(api)
  return api
}

const redisAddress = { host: '127.0.0.1', tls: false, connection_type: 'standalone' as const }

function get(api: RunningApi, path: string, forwardedFor?: string): Promise<Response> {
  const headers = forwardedFor === undefined ? {} : { 'x-forwarded-for': forwardedFor }
  return fetch(api.url + path, { headers, redirect: 'manual' })
}

async function statuses(api: RunningApi, count: number, from?: string): Promise<number[]> {
  const found: number[] = []
  for (let each = 0; each < count; each++) found.push((await get(api, ASSETS, from)).status)
  return found
}

const ASSETS = '/atomicassets/v1/assets?limit=1'

describe('the rate limit', () => {
  it('the rate limit counts requests for the documentation in every spelling of the path, and no requests for /health', async () => {
    const api = await start({ rate_limit: { interval: 60, requests: 5 } })
    const found: number[] = []
    for (const path of [
      '/openapi.json',
      '/docs',
      '/Docs/',
      '/docs/start.js',
      '/docs/swagger-ui.css',
      '/docs',
      '/OPENAPI.json',
    ]) {
      found.push((await get(api, path)).status)
    }
    expect(found).toEqual([200, 200, 200, 200, 200, 429, 429])
    expect((await get(api, '/health')).status).not.toBe(429)
    expect((await get(api, ASSETS)).status).toBe(429)
  })

  it('the rate limit admits exactly the configured number of requests, and refuses others with the time to retry', async () => {
    const api = await start({ rate_limit: { interval: 60, requests: 240 } })
    // The rate limit also counts requests for unknown paths, which are the cheapest.
    const found = await Promise.all(Array.from({ length: 240 }, () => get(api, '/atomicassets/nothing')))
    expect(found.filter(({ status }) => status === 404)).toHaveLength(240)
    const refused = await get(api, ASSETS)
    expect([refused.status, await refused.json()]).toEqual([429, { success: false, message: 'Rate limit' }])
    const left = Number(refused.headers.get('ratelimit-reset'))
    expect(left).toBeGreaterThan(0)
    expect(left).toBeLessThanOrEqual(60)
    expect(Object.fromEntries(limitHeaders(refused))).toEqual({
      'x-ratelimit-limit': '240',
      'x-ratelimit-remaining': '0',
      'x-ratelimit-reset': expect.stringMatching(/^\d{10}$/) as string,
      'ratelimit-limit': '240',
      'ratelimit-remaining': '0',
      'ratelimit-reset': String(left),
      'ratelimit-policy': '240;w=60',
      'retry-after': String(left),
    })
    expect(refused.headers.get('access-control-allow-origin')).toBe('*')
    expect(refused.headers.get('content-type')).toBe('application/json; charset=utf-8')
  })

  it('the rate limit counts every request below a namespace, but not preflights and server-wide paths', async () => {
    const api = await start({ rate_limit: { interval: 60, requests: 100 } })
    const remaining = async (path: string, init: RequestInit = {}): Promise<string | null> =>
      (await fetch(api.url + path, { redirect: 'manual', ...init })).headers.get('x-ratelimit-remaining')
    expect(await remaining(ASSETS)).toBe('99')
    expect(await remaining('/assets/v1/assets?limit=0')).toBe('98')
    expect(await remaining('/atomicassets/nothing')).toBe('97')
    expect(await remaining('/ATOMICASSETS/docs')).toBe('96')
    expect(await remaining(ASSETS, { method: 'POST', body: '{}' })).toBe('95')
    for (const path of ['/health', '/alive', '/timestamp', '/nothing', '/atomicassetsx/v1/assets']) {
      expect(await remaining(path), path).toBeNull()
    }
    expect(await remaining(ASSETS, { method: 'OPTIONS' })).toBeNull()
    expect(await remaining(ASSETS)).toBe('94')
  })

  it('the rate limit admits requests again in its next interval', async () => {
    const api = await start({ rate_limit: { interval: 1, requests: 1 } })
    let answer = await get(api, ASSETS)
    while (answer.status !== 429) answer = await get(api, ASSETS)
    expect(answer.headers.get('retry-after')).toBe('1')
    await sleep(1_000)
    expect((await get(api, ASSETS)).status).toBe(200)
  })

  it('the rate limit charges one more request for each further second of a slow answer', async () => {
    const api = await start({
      rate_limit: { interval: 60, requests: 10, bill_execution_time: true },
      max_query_time_ms: 1_200,
    })
    const locker = await connectDatabase(database.address, { applicationName: 'test' })
    await locker.query('BEGIN; LOCK TABLE assets.offers')
    const startedMs = performance.now()
    const slow = await get(api, '/atomicassets/v1/offers')
    const mostSeconds = Math.ceil((performance.now() - startedMs) / 1_000)
    await locker.end()
    expect([slow.status, slow.headers.get('x-ratelimit-remaining')]).toEqual([408, '9'])
    // The rate limit charges the slow request once per started second, at least twice, and the request for assets once.
    const remaining = Number((await get(api, ASSETS)).headers.get('x-ratelimit-remaining'))
    expect(remaining).toBeLessThanOrEqual(10 - 2 - 1)
    expect(remaining).toBeGreaterThanOrEqual(10 - mostSeconds - 1)
  })

  it('the rate limit applies to the last client address in X-Forwarded-For, which the trusted proxy adds', async () => {
    const api = await start({ rate_limit: { interval: 60, requests: 1 }, trust_proxy: true })
    expect(await statuses(api, 2, '9.9.9.9')).toEqual([200, 429])
    expect(await statuses(api, 1, '1.2.3.4, 9.9.9.9')).toEqual([429])
    expect(await statuses(api, 1, '9.9.9.9, 1.2.3.4')).toEqual([200])
    expect(await statuses(api, 1, '2001:db8:0:1::1')).toEqual([200])
    expect(await statuses(api, 1, '2001:db8:0:ff:5:6:7:8')).toEqual([429])
    expect(await statuses(api, 1, '2001:db8:0:100::')).toEqual([200])
  })

  it('the rate limit ignores X-Forwarded-For if no proxy is trusted', async () => {
    const api = await start({ rate_limit: { interval: 60, requests: 1 }, ip_whitelist: ['9.9.9.9'] })
    expect(await statuses(api, 2, '9.9.9.9')).toEqual([200, 429])
  })

  it('the rate limit does not apply to clients on the whitelist', async () => {
    const limit = { rate_limit: { interval: 60, requests: 1 }, trust_proxy: true }
    const byClient = await start({ ...limit, ip_whitelist: ['9.9.9.0/24'] })
    expect(await statuses(byClient, 3, '9.9.9.9')).toEqual([200, 200, 200])
    expect((await get(byClient, ASSETS, '9.9.9.9')).headers.get('x-ratelimit-limit')).toBeNull()
    expect(await statuses(byClient, 2, '9.9.8.9')).toEqual([200, 429])
    const byPeer = await start({ ...limit, peer_whitelist: ['127.0.0.1'] })
    expect(await statuses(byPeer, 3, '9.9.8.9')).toEqual([200, 200, 200])
  })
})

function* limitHeaders({ headers }: Response): Generator<[string, string]> {
  for (const [name, value] of headers) if (/ratelimit|retry-after/.test(name)) yield [name, value]
}

describeWithRedis('a limit of requests on Redis', () => {
  let redis: TestRedis
  beforeAll(async () => {
    redis = await startTestRedis()
  })
  afterAll(() => redis.stop())

  it('the rate limit on Redis is shared by all processes', async () => {
    const limit = { rate_limit: { interval: 60, requests: 5 }, trust_proxy: true }
    const servers = [await start(limit, redis), await start(limit, redis)]
    const found: number[] = []
    for (let each = 0; each < 8; each++) found.push((await get(servers[each % 2]!, ASSETS, '9.9.9.1')).status)
    expect(found).toEqual([200, 200, 200, 200, 200, 429, 429, 429])
  })

  it('the rate limit applies in each process while Redis is unavailable, and is shared again afterwards', async () => {
    const limit = { rate_limit: { interval: 60, requests: 2 }, trust_proxy: true }
    const servers = [await start(limit, redis), await start(limit, redis)]
    const each = async (from: string) => [
      ...(await statuses(servers[0]!, 3, from)),
      ...(await statuses(servers[1]!, 1, from)),
    ]
    expect(await each('9.9.9.2')).toEqual([200, 200, 429, 429])
    await redis.kill()
    expect(await each('9.9.9.3')).toEqual([200, 200, 429, 200])
    await untilRedis(servers, 'ERROR')
    await redis.start()
    await untilRedis(servers, 'OK')
    // Redis is tried again at most one second after its last failure.
    await sleep(1_100)
    expect(await each('9.9.9.4')).toEqual([200, 200, 429, 429])
    redis.freeze()
    expect(await each('9.9.9.5')).toEqual([200, 200, 429, 200])
    redis.thaw()
    await untilRedis(servers, 'OK')
    await sleep(1_100)
    expect(await each('9.9.9.6')).toEqual([200, 200, 429, 429])
  })

  async function untilRedis(servers: readonly RunningApi[], wanted: string): Promise<void> {
    for (const { url } of servers) {
      for (;;) {
        const { data } = (await (await fetch(`${url}/health`)).json()) as {
          data: { redis: { status: string } }
        }
        if (data.redis.status === wanted) break
        await sleep(100)
      }
    }
  }
})
