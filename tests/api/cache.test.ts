import { request } from 'node:http'
import type { IncomingHttpHeaders } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { startApi } from '../../services/api/index.ts'
import type { RunningApi } from '../../services/api/index.ts'
import { connectDatabase } from '../../services/core/database/index.ts'
import type { CacheOutcome } from '../../services/core/http/index.ts'
import type { RequestFacts } from '../../services/core/http/observer.ts'
import { describeWithRedis, startTestRedis } from '../setup/redis.ts'
import type { TestRedis } from '../setup/redis.ts'
import { apiConfig, quiet, serveRecordings } from './server.ts'
import type { TestServer } from './server.ts'

interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
  /**
   * Source of the answer: cache of this process, cache entry of another process, identical request in progress, or a
   * new query.
   */
  readonly cache: CacheOutcome
  /** Size of the body as the server counted it, bytes. */
  readonly bytes: number
}

/** An API that reports the cache outcome of each answer. */
class Watched {
  readonly api: RunningApi
  readonly #facts: RequestFacts[]

  private constructor(api: RunningApi, facts: RequestFacts[]) {
    this.api = api
    this.#facts = facts
  }

  static async start(settings: Record<string, unknown>, redisPort?: number): Promise<Watched> {
    const facts: RequestFacts[] = []
    const config = apiConfig(server.database.address, settings)
    const kvstore = { host: '127.0.0.1', tls: false, connection_type: 'standalone' as const }
    const connections =
      redisPort === undefined
        ? config.connections
        : { ...config.connections, kvstore: { ...kvstore, port: redisPort } }
    const observer = {
      requestStarted: () => undefined,
      requestEnded: (each: RequestFacts) => facts.push(each),
    }
    const api = await startApi({ config: { ...config, connections }, logger: quiet, observers: [observer] })
    const watched = new Watched(api, facts)
    running.push(api)
    return watched
  }

  /** Sends one request and waits until the server has reported its outcome. Not for concurrent requests. */
  async ask(path: string, headers: Record<string, string> = {}, method = 'GET', body = ''): Promise<Answer> {
    const before = this.#facts.length
    const answer = await send(this.api, path, headers, method, body)
    while (this.#facts.length === before) await sleep(1)
    const { cache, bytes } = this.#facts.at(-1)!
    return { ...answer, cache, bytes }
  }

  /** Sends several requests concurrently. */
  async askAtOnce(paths: readonly string[]): Promise<{ bodies: string[]; outcomes: CacheOutcome[] }> {
    const before = this.#facts.length
    const answers = await Promise.all(paths.map((path) => send(this.api, path, {}, 'GET', '')))
    while (this.#facts.length < before + paths.length) await sleep(1)
    return {
      bodies: answers.map(({ body }) => body.toString()),
      outcomes: this.#facts.slice(before).map(({ cache }) => cache),
    }
  }
}

function send(
  { port }: RunningApi,
  path: string,
  headers: Record<string, string>,
  method: string,
  body: string,
): Promise<Omit<Answer, 'cache' | 'bytes'>> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, path, method, headers }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () => {
        resolve({ status: response.statusCode!, headers: response.headers, body: Buffer.concat(chunks) })
      })
    })
    sent.on('error', reject).end(body)
  })
}

const running: RunningApi[] = []
let server: TestServer
beforeAll(async () => {
  server = await serveRecordings(['main'])
})
afterEach(async () => {
  await Promise.all(running.splice(0).map((api) => api.close()))
})
afterAll(() => server.close())

const ASSETS = '/atomicassets/v1/assets?limit=2&order=asc'

/** Runs `work` while a lock blocks all queries of offers. */
async function whileOffersWait<T>(work: (release: () => Promise<void>) => Promise<T>): Promise<T> {
  const locker = await connectDatabase(server.database.address, { applicationName: 'test' })
  await locker.query('BEGIN; LOCK TABLE assets.offers')
  try {
    return await work(async () => {
      await locker.query('COMMIT')
    })
  } finally {
    await locker.end()
  }
}

async function countQueries(): Promise<number> {
  const client = await connectDatabase(server.database.address, { applicationName: 'test' })
  const { rows } = await client.query<{ waiting: bigint }>(
    "SELECT count(*) AS waiting FROM pg_stat_activity WHERE application_name = 'pronghorn-api' AND wait_event_type = 'Lock' AND datname = current_database()",
  )
  await client.end()
  return Number(rows[0]!.waiting)
}

async function untilQueriesWait(count: number): Promise<void> {
  while ((await countQueries()) !== count) await sleep(20)
}

describe('cached answers', () => {
  it('one cached answer serves all spellings of a request', async () => {
    const api = await Watched.start({ cache_life: 300 })
    const first = await api.ask(ASSETS)
    expect([first.status, first.cache]).toEqual([200, 'miss'])
    for (const path of [
      ASSETS,
      '/atomicassets/v1/assets?order=asc&limit=2',
      '/assets/v1/assets?limit=2&order=asc',
      '/ATOMICASSETS/v1/assets/?limit=2&order=asc&unknown=1&owner=',
      '/atomicassets/v1/assets?limit=2&order=asc&page=1',
    ]) {
      for (const round of ['parameters', 'words']) {
        const again = await api.ask(path)
        expect([again.cache, again.body.equals(first.body)], `${path} by its ${round}`).toEqual(['hit', true])
      }
    }
  })

  it('cached answers have the headers of newly built answers', async () => {
    for (const settings of [
      {},
      { rate_limit: { interval: 86_400, requests: 1_000 } },
      { cors: ['^https://shop\\.example$'] },
      { rate_limit: { interval: 86_400, requests: 1_000, bill_execution_time: true }, cors: ['shop'] },
    ]) {
      const api = await Watched.start({ cache_life: 300, ...settings })
      let limit = 20
      for (const headers of [
        {},
        { origin: 'https://shop.example', 'accept-encoding': 'br' },
        { origin: 'https://other.example', 'accept-encoding': 'gzip' },
        { 'if-none-match': '*' },
      ]) {
        for (const method of ['GET', 'HEAD']) {
          const path = `/atomicassets/v1/assets?limit=${limit++}`
          const built = await api.ask(path, headers, method)
          expect([(await api.ask(path)).cache, built.cache]).toEqual(['hit', 'miss'])
          const cached = await api.ask(path, headers, method)
          expect(cached.cache).toBe('hit')
          expect(headersOf(cached), JSON.stringify([settings, headers, method])).toEqual(headersOf(built))
          expect([cached.status, cached.body.equals(built.body)]).toEqual([built.status, true])
          expect(cached.bytes).toBe(cached.body.length)
        }
      }
    }
  })

  it('requests that the cache answers count towards the rate limit', async () => {
    const api = await Watched.start({ cache_life: 300, rate_limit: { interval: 86_400, requests: 4 } })
    const answers: Answer[] = []
    for (let each = 0; each < 6; each++) answers.push(await api.ask(ASSETS))
    expect(answers.map(({ status, headers }) => [status, headers['ratelimit-remaining']])).toEqual([
      [200, '3'],
      [200, '2'],
      [200, '1'],
      [200, '0'],
      [429, '0'],
      [429, '0'],
    ])
    const refusedCached = answers[4]!
    const refusedOther = await api.ask('/atomicassets/v1/offers')
    expect(headersOf(refusedCached)).toEqual(headersOf(refusedOther))
    expect(refusedCached.body.toString()).toBe(refusedOther.body.toString())
  })

  it('requests that differ in any parameter have separate cached answers', async () => {
    const api = await Watched.start({ cache_life: 300 })
    const paths = [
      ASSETS,
      '/atomicassets/v1/assets?limit=2&order=desc',
      '/atomicassets/v1/assets?limit=2&order=asc&data.name=x',
      '/atomicassets/v1/assets?limit=2&order=asc&data:number.name=1',
      '/atomicassets/v1/assets?limit=2&order=asc&template_data.name=x',
      '/atomicassets/v1/assets?limit=2&order=asc&template_id=null',
      '/atomicassets/v1/assets/_count?limit=2&order=asc',
      '/atomicassets/v1/templates?limit=2&order=asc',
      '/atomicassets/v1/accounts/alice',
      '/atomicassets/v1/accounts/bob',
      '/atomicassets/v1/accounts/bob/alicecollect',
    ]
    for (const path of paths) expect((await api.ask(path)).cache, path).toBe('miss')
    for (const path of paths) expect((await api.ask(path)).cache, path).toBe('hit')
  })

  it('only GET and HEAD requests are answered from the cache', async () => {
    const api = await Watched.start({ cache_life: 300 })
    const head = await api.ask(ASSETS, {}, 'HEAD')
    expect([head.cache, head.body.length]).toEqual(['miss', 0])
    const get = await api.ask(ASSETS)
    expect([get.cache, get.headers['content-length']]).toEqual(['hit', head.headers['content-length']])
    expect((await api.ask(ASSETS, {}, 'POST')).cache).toBe('bypass')
    const json = { 'content-type': 'application/json', 'content-length': '11' }
    const byBody = await api.ask('/atomicassets/v1/assets?limit=2&order=asc', json, 'GET', '{"limit":1}')
    expect([byBody.cache, rowsOf(byBody)]).toEqual(['miss', 1])
    expect(rowsOf(await api.ask(ASSETS))).toBe(2)
  })

  it('a request after the end of cache_life queries the database again', async () => {
    const api = await Watched.start({ cache_life: 1 })
    let answer = await api.ask(ASSETS)
    const timeOf = ({ body }: Answer): number =>
      (JSON.parse(body.toString()) as { query_time: number }).query_time
    const firstTime = timeOf(answer)
    await sleep(1_000)
    answer = await api.ask(ASSETS)
    expect([answer.cache, timeOf(answer) > firstTime]).toEqual(['miss', true])
  })

  it('clients on the whitelist bypass the cache', async () => {
    const api = await Watched.start({ cache_life: 300, ip_whitelist: ['9.9.9.9'], trust_proxy: true })
    const listed = { 'x-forwarded-for': '9.9.9.9' }
    expect((await api.ask(ASSETS, listed)).cache).toBe('bypass')
    expect((await api.ask(ASSETS)).cache).toBe('miss')
    expect((await api.ask(ASSETS)).cache).toBe('hit')
    expect((await api.ask(ASSETS, listed)).cache).toBe('bypass')
  })

  it('errors and answers above cache_max_value_bytes are not cached', async () => {
    const api = await Watched.start({ cache_life: 300, cache_max_value_bytes: 1_000 })
    for (const [path, status] of [
      ['/atomicassets/v1/assets/1', 416],
      ['/atomicassets/v1/assets?limit=0', 400],
      ['/atomicassets/v1/assets?limit=50', 200],
    ] as const) {
      for (let round = 0; round < 2; round++) {
        const answer = await api.ask(path)
        expect([answer.status, answer.cache === 'hit'], path).toEqual([status, false])
      }
    }
    expect((await api.ask('/atomicassets/v1/assets/_count')).cache).toBe('miss')
    expect((await api.ask('/atomicassets/v1/assets/_count')).cache).toBe('hit')
  })

  it('the cache stays within cache_max_memory_bytes and drops the oldest answer', async () => {
    const api = await Watched.start({ cache_life: 300, cache_max_memory_bytes: 20_000 })
    const path = (limit: number): string => `/atomicassets/v1/assets/_count?ids=${limit}`
    for (let each = 1; each <= 100; each++) expect((await api.ask(path(each))).cache).toBe('miss')
    expect((await api.ask(path(100))).cache).toBe('hit')
    expect((await api.ask(path(1))).cache).toBe('miss')
  })

  it('the cache is off if cache_life is 0', async () => {
    const api = await Watched.start({ cache_life: 0 })
    for (let round = 0; round < 2; round++) expect((await api.ask(ASSETS)).cache).toBe('bypass')
  })
})

describe('identical concurrent requests', () => {
  it('ten identical concurrent requests run one query', async () => {
    const api = await Watched.start({ cache_life: 300 })
    const found = await whileOffersWait(async (release) => {
      const asked = api.askAtOnce(Array<string>(10).fill('/atomicassets/v1/offers?limit=1'))
      await untilQueriesWait(1)
      await sleep(50)
      expect(await countQueries()).toBe(1)
      await release()
      return asked
    })
    expect(new Set(found.bodies).size).toBe(1)
    expect(found.outcomes.toSorted()).toEqual([...Array<string>(9).fill('joined'), 'miss'])
  })

  it('a request does not join a query that began longer than cache_life ago', async () => {
    const api = await Watched.start({ cache_life: 1 })
    await whileOffersWait(async (release) => {
      const first = api.askAtOnce(['/atomicassets/v1/offers?limit=2'])
      await untilQueriesWait(1)
      await sleep(1_000)
      const second = api.askAtOnce(['/atomicassets/v1/offers?limit=2'])
      await untilQueriesWait(2)
      await release()
      await Promise.all([first, second])
    })
  })
})

describe('an entity tag', () => {
  it('a request with a matching entity tag gets 304 without a body', async () => {
    for (const life of [0, 300]) {
      const api = await Watched.start({ cache_life: life })
      const first = await api.ask(ASSETS)
      const tag = first.headers.etag!
      expect(tag).toMatch(/^W\/"[\w+/=]{28}"$/)
      for (const known of [tag, tag.slice(2), `"other", ${tag}`, '*']) {
        const again = await api.ask(ASSETS, { 'if-none-match': known, 'accept-encoding': 'gzip' })
        expect([again.status, again.body.length, again.headers.etag]).toEqual([304, 0, tag])
        expect(again.headers['content-type']).toBeUndefined()
        expect(again.headers['access-control-allow-origin']).toBe('*')
      }
      const old = { 'if-none-match': '"other"', 'if-modified-since': new Date().toUTCString() }
      expect((await api.ask(ASSETS, old)).status).toBe(200)
      expect((await api.ask('/atomicassets/v1/assets?limit=1', { 'if-none-match': tag })).status).toBe(200)
      expect((await api.ask('/atomicassets/v1/assets/1', { 'if-none-match': '*' })).status).toBe(416)
    }
  })
})

describe('compression', () => {
  const large = '/atomicassets/v1/assets?limit=100'
  const small = '/atomicassets/v1/assets/_count'

  it('compression follows Accept-Encoding, and compressed bodies are cached', async () => {
    for (const life of [0, 300]) {
      const api = await Watched.start({ cache_life: life })
      const plain = await api.ask(large)
      expect([plain.headers['content-encoding'], plain.headers.vary]).toEqual([undefined, 'Accept-Encoding'])
      const data = dataOf(plain.body)
      for (const [accepted, encoding] of [
        ['gzip, deflate, br, zstd', 'br'],
        ['gzip, deflate', 'gzip'],
        ['br;q=0.5, gzip', 'gzip'],
        ['br;q=0, *', 'gzip'],
        ['identity', undefined],
        ['gzip;q=0', undefined],
        ['deflate', undefined],
      ] as const) {
        for (let round = 0; round < 2; round++) {
          const answer = await api.ask(large, { 'accept-encoding': accepted })
          expect([answer.headers['content-encoding'], answer.headers.vary], accepted).toEqual([
            encoding,
            'Accept-Encoding',
          ])
          const body = decode(answer.body, encoding)
          expect(Number(answer.headers['content-length'])).toBe(answer.body.length)
          expect(dataOf(body)).toEqual(data)
          if (encoding !== undefined) expect(answer.body.length).toBeLessThan(body.length / 3)
        }
      }
    }
  })

  it('answers of a few bytes are not compressed', async () => {
    const api = await Watched.start({})
    const { headers } = await api.ask(small, { 'accept-encoding': 'gzip' })
    expect([headers['content-encoding'], headers.vary]).toEqual([undefined, undefined])
  })

  it('the OpenAPI document is compressed if the client accepts gzip', async () => {
    const api = await Watched.start({})
    const { headers, body } = await api.ask('/openapi.json', { 'accept-encoding': 'gzip' })
    expect([headers['content-encoding'], headers.vary]).toEqual(['gzip', 'Accept-Encoding'])
    expect(gunzipSync(body).toString()).toContain('"openapi"')
  })
})

describeWithRedis('answers cached on Redis', () => {
  let redis: TestRedis
  beforeAll(async () => {
    redis = await startTestRedis()
  })
  afterAll(() => redis.stop())

  it('answers cached on Redis serve every process for one cache_life', async () => {
    const [one, other] = [
      await Watched.start({ cache_life: 300 }, redis.port),
      await Watched.start({ cache_life: 300 }, redis.port),
    ]
    const built = await one.ask(ASSETS)
    expect(built.cache).toBe('miss')
    // The shared cache is written in the background: repeat until the answer is there.
    let found = await other.ask(`${ASSETS}&unknown=0`)
    for (let each = 1; found.cache === 'miss'; each++)
      found = await other.ask(`${ASSETS}&page=1&unknown=${each}`)
    expect(['shared', 'hit']).toContain(found.cache)
    expect(found.headers.etag).toBe(built.headers.etag)
    expect((await other.ask(ASSETS, { 'accept-encoding': 'br' })).cache).toBe('hit')
  })

  it('the cache works in each process while Redis is unavailable, and is shared again afterwards', async () => {
    const api = await Watched.start({ cache_life: 300 }, redis.port)
    await redis.kill()
    expect((await api.ask('/atomicassets/v1/schemas?limit=3')).cache).toBe('miss')
    const service = await untilKvstoreIs(api.api, 'unavailable')
    expect([service.status, service.reasons]).toEqual([
      'degraded',
      expect.arrayContaining(['the key-value store is unavailable']),
    ])
    expect((await api.ask('/atomicassets/v1/schemas?limit=3')).cache).toBe('hit')
    await redis.start()
    const other = await Watched.start({ cache_life: 300 }, redis.port)
    for (let each = 1; ; each++) {
      const path = `/atomicassets/v1/schemas?limit=${each}`
      await api.ask(path)
      await sleep(20)
      if ((await other.ask(path)).cache === 'shared') break
    }
  })
})

interface ServiceHealth {
  readonly status: string
  readonly reasons: readonly string[]
  readonly kvstore: string
}

/**
 * Waits for a state of the key-value store in `/health`. The status must stay 200: load balancers must continue to use
 * the server.
 */
async function untilKvstoreIs(api: RunningApi, wanted: string): Promise<ServiceHealth> {
  for (;;) {
    const response = await fetch(`${api.url}/health`)
    const { data } = (await response.json()) as { data: { chain: { service: ServiceHealth } } }
    expect(response.status).toBe(200)
    if (data.chain.service.kvstore === wanted) return data.chain.service
    await sleep(50)
  }
}

/** Headers of an answer. The value of a header that depends on the time is replaced by its type. */
function headersOf({ headers }: Answer): object {
  const times = ['date', 'last-modified', 'ratelimit-remaining', 'x-ratelimit-remaining']
  const resets = ['ratelimit-reset', 'x-ratelimit-reset', 'retry-after']
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      [...times, ...resets].includes(name) ? typeof value : value,
    ]),
  )
}

function rowsOf({ body }: Answer): number {
  return (JSON.parse(body.toString()) as { data: unknown[] }).data.length
}

function dataOf(body: Buffer): unknown {
  return (JSON.parse(body.toString()) as { data: unknown }).data
}

function decode(body: Buffer, encoding: string | undefined): Buffer {
  if (encoding === 'br') return brotliDecompressSync(body)
  return encoding === 'gzip' ? gunzipSync(body) : body
}
