import { request } from 'node:http'
import { connect } from 'node:net'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { connectDatabase } from '../../services/core/database/index.ts'
import { createNamespace, startApi } from '../../services/api/index.ts'
import type { Endpoint } from '../../services/api/index.ts'
import { createTestDatabase } from '../setup/database.ts'
import { patient } from '../setup/patience.ts'
import { apiConfig, ask, post, quiet, serveRecordings } from './server.ts'
import type { TestServer } from './server.ts'

let server: TestServer
beforeAll(async () => {
  server = await serveRecordings(['main'])
})
afterAll(() => server.close())

/** Sends a path exactly as written; `fetch` would normalize it. */
function sendRaw(path: string, method = 'GET'): Promise<{ status: number; type: string; text: string }> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port: server.api.port, path, method }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () => {
        const type = response.headers['content-type'] ?? ''
        resolve({ status: response.statusCode ?? 0, type, text: Buffer.concat(chunks).toString() })
      })
    })
    sent.on('error', reject).end()
  })
}

/** Sends raw bytes to the port, and reads until the server closes the connection. */
function sendBytes(bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ''
    const socket = connect(server.api.port, '127.0.0.1', () => socket.write(bytes))
    socket.on('data', (chunk) => (text += chunk.toString()))
    socket.on('close', () => {
      resolve(text)
    })
    socket.on('error', reject)
  })
}

function formData(fields: Readonly<Record<string, string>>): FormData {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.set(name, value)
  return form
}

const notFound = { status: 404, text: '{"success":false,"message":"Endpoint not found"}' }

describe('routes of the API', () => {
  it('a route answers on the path of its namespace and on every alias of the path', async () => {
    const answers = await Promise.all(
      ['/assets', '/atomicassets'].map((path) => ask(`${server.api.url}${path}/v1/assets?limit=2`)),
    )
    expect(answers.map(({ status }) => status)).toEqual([200, 200])
    expect(answers[0]!.body.data).toEqual(answers[1]!.body.data)
  })

  it('route paths ignore letter case and a trailing slash, but not a double slash', async () => {
    for (const path of [
      '/atomicassets/V1/ASSETS/_count',
      '/atomicassets/v1/assets/_count/',
      '/HEALTH',
      '/timestamp/',
    ]) {
      expect((await sendRaw(path)).status).toBe(200)
    }
    expect(await sendRaw('/atomicassets//v1/assets')).toMatchObject(notFound)
  })

  it('unknown routes get 404 in the error format of the API', async () => {
    const paths = [
      '/',
      '/atomicassets',
      '/atomicassets/v1/nothing',
      '/atomicassets/v1/templates/1',
      '/atomicassets/v1/transfers/1',
      '/nothing/v1/assets',
    ]
    for (const path of paths) {
      const answer = await sendRaw(path)
      expect(answer).toMatchObject(notFound)
      expect(answer.type).toBe('application/json; charset=utf-8')
    }
  })

  it('routes answer GET, HEAD and POST; config routes and server-wide routes answer only GET and HEAD', async () => {
    for (const method of ['GET', 'POST']) {
      expect((await sendRaw('/atomicassets/v1/assets?limit=1', method)).status).toBe(200)
    }
    expect(await sendRaw('/atomicassets/v1/assets?limit=1', 'HEAD')).toMatchObject({ status: 200, text: '' })
    for (const path of ['/atomicassets/v1/config', '/health', '/timestamp']) {
      expect((await sendRaw(path, 'HEAD')).status).toBe(200)
      expect(await sendRaw(path, 'POST')).toMatchObject(notFound)
    }
  })
})

describe('former addresses of the documentation', () => {
  it('former addresses of the documentation redirect to /docs', async () => {
    for (const path of ['/assets/docs', '/atomicassets/docs', '/atomicassets/docs/swagger']) {
      const response = await fetch(server.api.url + path, { redirect: 'manual' })
      expect([response.status, response.headers.get('location')]).toEqual([302, '/docs'])
    }
  })
})

describe('response headers', () => {
  it('every answer has the common headers, errors included', async () => {
    for (const path of [
      '/health',
      '/atomicassets/v1/assets?limit=1',
      '/nothing',
      '/atomicassets/v1/assets?limit=0',
    ]) {
      const { headers } = await fetch(server.api.url + path)
      expect(headers.get('access-control-allow-origin')).toBe('*')
      expect(headers.get('access-control-allow-headers')).toBe('*')
      expect(Date.parse(headers.get('last-modified')!)).not.toBeNaN()
      expect([headers.get('x-powered-by'), headers.get('cache-control')]).toEqual([null, null])
      expect(headers.has('etag')).toBe(path.endsWith('limit=1'))
    }
  })

  it('a CORS preflight is answered on any path', async () => {
    for (const [path, methods] of [
      ['/atomicassets/v1/assets', 'GET,HEAD,POST'],
      ['/AtomicAssets/v1/assets/1099511627776/', 'GET,HEAD,POST'],
      ['/atomicassets/v1/nothing', 'GET,HEAD'],
      ['/nothing', 'GET,HEAD'],
      ['/health', 'GET,HEAD'],
      ['/openapi.json', 'GET,HEAD'],
      ['/', 'GET,HEAD'],
    ] as const) {
      const response = await fetch(server.api.url + path, { method: 'OPTIONS' })
      expect([response.status, await response.text()]).toEqual([204, ''])
      expect(response.headers.get('access-control-allow-methods')).toBe(methods)
    }
    const preflight = { method: 'OPTIONS', headers: { Origin: 'https://x.example' } }
    const polling = await fetch(`${server.api.url}/socket.io/`, preflight)
    expect(polling.headers.get('access-control-allow-methods')).toBe('GET,POST')
  })
})

describe('malformed requests', () => {
  const assets = () => `${server.api.url}/atomicassets/v1/assets`
  const json = (body: string | Uint8Array, more: Record<string, string> = {}): RequestInit => ({
    method: 'POST',
    headers: { 'content-type': 'application/json', ...more },
    body,
  })

  it('malformed requests are refused in the error format of the API', async () => {
    for (const body of ['{"limit":', '"text"', '5']) {
      const { status, body: answer } = await ask(assets(), json(body))
      expect([status, answer.success]).toEqual([400, false])
    }
    expect(await sendRaw('/atomicassets/v1/assets/%zz')).toMatchObject({
      status: 400,
      type: 'application/json; charset=utf-8',
    })
    expect((await ask(assets(), json('{}', { 'content-encoding': 'lzma' }))).status).toBe(415)
    expect((await ask(assets(), json('{}', { 'content-encoding': 'gzip' }))).status).toBe(400)
  })

  it('the API refuses a too large request, and continues to serve requests', async () => {
    const { status, body } = await ask(assets(), json(' '.repeat(1024 * 1024 + 1)))
    expect([status, body]).toEqual([
      413,
      { success: false, message: 'The body is larger than 1 MB: send fewer values, or several requests' },
    ])
    expect((await sendRaw(`/atomicassets/v1/assets?x=${'a'.repeat(70_000)}`)).status).toBe(431)
    expect((await ask(`${assets()}?limit=1`)).status).toBe(200)
  })

  it('bytes that are not HTTP are refused in the error format of the API', async () => {
    expect(await sendBytes('nonsense\r\n\r\n')).toMatch(/^HTTP\/1\.1 400 [^]*"success":false/)
  })

  async function numberOf(type: string | undefined, body: string): Promise<[number, number]> {
    const bytes = new TextEncoder().encode(body)
    const headers = type === undefined ? {} : { 'content-type': type }
    const answer = await ask(`${assets()}?limit=2`, { method: 'POST', headers, body: bytes })
    return [answer.status, (answer.body.data as unknown[] | undefined)?.length ?? 0]
  }

  it('a JSON body is read with a JSON content type, a text content type and without one', async () => {
    for (const type of [
      'application/json',
      'application/vnd.api+json',
      'text/json; charset=utf-8',
      'text/plain',
      undefined,
    ])
      expect([type, await numberOf(type, '{"limit":1}')]).toEqual([type, [200, 1]])
    expect(await numberOf('text/plain', '{"limit":')).toEqual([400, 0])
  })

  it('an urlencoded form body is read', async () => {
    expect(await numberOf('application/x-www-form-urlencoded', 'limit=1')).toEqual([200, 1])
  })

  /** Builds a multipart form from parts with head and content. */
  const parts = (...given: readonly (readonly [head: string, content: string])[]): string =>
    [...given.map(([head, content]) => `--x\r\n${head}\r\n\r\n${content}\r\n`), '--x--\r\n'].join('')
  const field = (name: string, value: string) =>
    [`Content-Disposition: form-data; name="${name}"`, value] as const

  it('a multipart form body is read like an urlencoded form', async () => {
    const type = 'multipart/form-data; boundary=x'
    const count = async (body: string) => numberOf(type, body)
    expect(await count(parts(field('limit', '1')))).toEqual([200, 1])
    expect(await count(parts(field('sort', 'asset_id'), field('limit', '1')))).toEqual([200, 1])
    const ids = (await server.get('/v1/assets?limit=2')).body.data as { asset_id: string }[]
    const both = ids.map(({ asset_id: id }) => field('ids[]', id))
    expect(await count(parts(...both))).toEqual([200, 2])
    const sent = await fetch(assets(), { method: 'POST', body: formData({ limit: '1', match: 'é' }) })
    expect(sent.status).toBe(200)
  })

  it('a multipart form body is refused if it is malformed, contains files or has too many fields', async () => {
    const type = 'multipart/form-data; boundary=x'
    expect(await numberOf('multipart/form-data', parts(field('limit', '1')))).toEqual([400, 0])
    expect(await numberOf(type, 'limit=1')).toEqual([400, 0])
    expect(await numberOf(type, parts(field('limit', '1')).slice(0, -10))).toEqual([400, 0])
    const file = ['Content-Disposition: form-data; name="limit"; filename="a"', '1'] as const
    expect(await numberOf(type, parts(file))).toEqual([415, 0])
    const many = Array.from({ length: 10_001 }, () => field('a', ''))
    expect(await numberOf(type, parts(...many))).toEqual([400, 0])
  })

  it('the API refuses a body of an unknown content type, and ignores a plain text body with a warning', async () => {
    expect(await numberOf('application/xml', '<limit>1</limit>')).toEqual([415, 0])
    expect(await numberOf(undefined, 'limit=1')).toEqual([415, 0])
    const { status, headers } = await ask(assets(), { method: 'POST', body: 'limit=1' })
    expect([status, headers.get('warning')]).toEqual([
      200,
      '299 - "the body is plain text instead of JSON; it is ignored"',
    ])
  })

  it('a JSON body with the content type of a form is read as JSON', async () => {
    expect(await numberOf('application/x-www-form-urlencoded', '{"limit":1}')).toEqual([200, 1])
  })

  it('hide_blocked_sellers is refused if the server has no list of blocked sellers', async () => {
    for (const value of ['true', '1']) {
      const { status, body } = await ask(`${assets()}?hide_blocked_sellers=${value}`)
      expect([status, body.message]).toEqual([400, expect.stringContaining('no list of blocked sellers')])
    }
    expect((await ask(`${assets()}?hide_blocked_sellers=false&limit=1`)).status).toBe(200)
    expect((await ask(`${assets()}?hide_blocked_sellers=maybe`)).body.message).toContain('true or false')
  })
})

describe('requests with random parameter values', () => {
  const { endpoints } = createNamespace(apiConfig(placeholder()).server.namespaces[0]!, { trigrams: false })!

  it('requests with random parameter values get 200 or a 4xx status, never 5xx', async () => {
    await fc.assert(
      fc.asyncProperty(requestOf(endpoints), async ({ path, query, body }) => {
        const { status, text } = body
          ? await sendBody(path, query)
          : await sendRaw(`${path}?${encode(query)}`)
        expect([200, 400, 404, 416], `${path} ${JSON.stringify(query)} ${text.slice(0, 200)}`).toContain(
          status,
        )
        expect(JSON.parse(text)).toHaveProperty('success', status === 200)
      }),
      { numRuns: 1_500, seed: 20261120 },
    )
  })

  async function sendBody(
    path: string,
    query: [string, unknown][],
  ): Promise<{ status: number; text: string }> {
    const response = await fetch(server.api.url + path, post(Object.fromEntries(query)))
    return { status: response.status, text: await response.text() }
  }
})

describe('start of the API', () => {
  it('the API does not start on a wrong database, account, chain or port, and reports the reason', async () => {
    const empty = await createTestDatabase('template0')
    const start = (config: ReturnType<typeof apiConfig>) => startApi({ config, logger: quiet, waitMs: 0 })
    await expect(start(apiConfig(empty.address))).rejects.toMatchObject({ code: 'DATABASE_TOO_OLD' })
    await expect(start(apiConfig({ ...empty.address, port: 1 }))).rejects.toMatchObject({
      code: 'DATABASE_REFUSED',
    })
    await empty.drop()
    const other = apiConfig(server.database.address, {
      namespaces: [{ name: 'assets', path: '/assets', args: { assets_account: 'another' } }],
    })
    await expect(start(other)).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
    const { connections, server: settings } = apiConfig(server.database.address)
    const wrongChain = {
      connections: { ...connections, chain: { ...connections.chain, chain_id: 'ab'.repeat(32) } },
      server: settings,
    }
    await expect(start(wrongChain)).rejects.toMatchObject({ code: 'CHAIN_MISMATCH' })
    const taken = { connections, server: { ...settings, server_port: server.api.port } }
    await expect(start(taken)).rejects.toMatchObject({ code: 'PORT_UNAVAILABLE' })
  })

  it('the API starts before the contract settings are indexed, and the config route reports them as missing', async () => {
    const database = await createTestDatabase()
    const api = await startApi({ config: apiConfig(database.address), logger: quiet })
    const { status, body } = await ask(`${api.url}/assets/v1/config`)
    expect([status, body]).toEqual([500, { success: false, message: 'Config not found' }])
    expect((await fetch(`${api.url}/health`)).status).toBe(503)
    expect((await ask(`${api.url}/assets/v1/assets`)).body.data).toEqual([])
    await api.close()
    await database.drop()
  })
})

describe('a query above max_query_time_ms', () => {
  it('a query above max_query_time_ms gets 408 with the message that client libraries compare', async () => {
    const api = await startApi({
      config: apiConfig(server.database.address, { max_query_time_ms: 200 }),
      logger: quiet,
    })
    const locker = await connectDatabase(server.database.address, { applicationName: 'test' })
    await locker.query('BEGIN; LOCK TABLE assets.offers')
    const { status, body } = await ask(`${api.url}/atomicassets/v1/offers`)
    await locker.end()
    expect([status, body.message]).toEqual([
      408,
      'Max database query time exceeded. Please try to add more filters to your query.',
    ])
    // On a busy machine the first answers may take longer than the API's time limit of 200 ms.
    const statusNow = async (): Promise<number> => (await ask(`${api.url}/atomicassets/v1/offers`)).status
    await expect.poll(statusNow, { timeout: patient(20_000) }).toBe(200)
    await api.close()
  })
})

describe('more concurrent requests than database connections', () => {
  it('requests wait for a database connection in a bounded queue, and get 503 at once if it is full', async () => {
    const api = await startApi({
      config: apiConfig(server.database.address, { max_db_connections: 1, max_query_time_ms: 5_000 }),
      logger: quiet,
    })
    const locker = await connectDatabase(server.database.address, { applicationName: 'test' })
    await locker.query('BEGIN; LOCK TABLE assets.offers')
    const requests = Array.from({ length: 30 }, () => fetch(`${api.url}/atomicassets/v1/offers?limit=1`))
    // One request runs and twenty wait. The nine further requests must be refused at once, although no running request
    // has finished.
    await refusals(requests, 9)
    await locker.end()
    const statuses = (await Promise.all(requests)).map(({ status }) => status)
    expect(statuses[0]).toBe(200)
    // The twenty requests have waited for longer than the queue tolerates for a burst, so the queue refuses some of
    // them, too.
    expect(statuses.filter((status) => status === 503).length).toBeGreaterThanOrEqual(9)
    expect(new Set(statuses)).toEqual(new Set([200, 503]))
    await api.close()
  })

  it('while requests of one client fill the queue, further list requests of that client get 503 before their parameters are read', async () => {
    const { address } = server.database
    const limits = { max_db_connections: 4, max_list_queries: 1, max_query_time_ms: 5_000, trust_proxy: true }
    const api = await startApi({ config: apiConfig(address, limits), logger: quiet })
    const askAs = (client: string, path: string): Promise<Response> =>
      fetch(`${api.url}/atomicassets/v1/${path}`, { headers: { 'X-Forwarded-For': client } })
    const [busy, other] = ['192.0.2.1', '192.0.2.2']
    const locker = await connectDatabase(address, { applicationName: 'test' })
    try {
      await locker.query('BEGIN; LOCK TABLE assets.offers')
      // One request runs, twenty wait, one is refused.
      const requests = Array.from({ length: 22 }, () => askAs(busy, 'offers'))
      await refusals(requests, 1)
      const refused = await askAs(busy, 'assets?limit=wrong')
      expect([refused.status, await refused.json()]).toEqual([
        503,
        { success: false, message: 'Too many requests at once' },
      ])
      const names = ['retry-after', 'access-control-allow-origin', 'content-type', 'last-modified']
      expect(names.map((name) => refused.headers.get(name))).toEqual([
        ...['1', '*', 'application/json; charset=utf-8'],
        expect.stringContaining('GMT') as string,
      ])
      expect((await askAs(other, 'assets?limit=wrong')).status).toBe(400)
      expect((await askAs(busy, 'config')).status).toBe(200)
      await locker.query('COMMIT')
      await Promise.all(requests)
      expect((await askAs(busy, 'assets?limit=wrong')).status).toBe(400)
    } finally {
      await locker.end()
      await api.close()
    }
  })

  /** Resolves when `count` requests have been refused. Rejects if any request succeeds before. */
  function refusals(requests: readonly Promise<Response>[], count: number): Promise<void> {
    let refused = 0
    return new Promise((resolve, reject) => {
      for (const sent of requests) {
        void sent.then(({ status, headers }) => {
          if (refused === count) return
          refused++
          if (status !== 503 || headers.get('retry-after') !== '1') reject(new Error(`answered ${status}`))
          if (refused === count) resolve()
        }, reject)
      }
    })
  }
})

function placeholder(): { host: string; port: number; user: string; password: string; database: string } {
  return { host: '127.0.0.1', port: 1, user: 'nobody', password: '', database: 'none' }
}

function encode(query: readonly [string, unknown][]): string {
  return query
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(String(value))}`)
    .join('&')
}

/** Draws a request to an endpoint with valid, borderline and nonsensical values. */
function requestOf(
  endpoints: readonly Endpoint[],
): fc.Arbitrary<{ path: string; query: [string, unknown][]; body: boolean }> {
  const plain = fc.constantFrom<unknown>(
    '',
    '0',
    '1',
    '-1',
    '2',
    '100',
    'null',
    'true',
    'false',
    'alice',
    'alicecollect',
    'minted',
    'updated',
    'name',
    'asc',
    '1099511627776',
    '10,11',
    'bob,alice',
    '9007199254740991',
    '9007199254740992',
    '9223372036854775807',
    '9223372036854775808',
    '-9223372036854775809',
    '1e9',
    '%',
    '_',
    "'",
    '"',
    '\\',
    '$list:x',
    '\0',
    '\ud800',
    '🦊',
    'a'.repeat(5_000),
    7,
    -3.5,
    true,
    false,
    ['alice', 'bob'],
    [1, 2],
    null,
    { a: 1 },
  )
  const value = fc.oneof(
    { weight: 4, arbitrary: plain },
    { weight: 1, arbitrary: fc.string({ unit: 'grapheme' }) },
  )
  const attribute = fc
    .tuple(
      fc.constantFrom('data', 'template_data', 'immutable_data', 'mutable_data'),
      fc.constantFrom('', ':text', ':number', ':bool'),
      fc.constantFrom('name', 'level', '', 'a.b', '__proto__'),
    )
    .map(([family, typing, key]) => `${family}${typing}.${key}`)
  return fc.constantFrom(...endpoints).chain((endpoint) => {
    const names = Object.keys(endpoint.parameters).filter((name) => endpoint.parameters[name]!.in !== 'path')
    const name = fc.oneof(
      { weight: 6, arbitrary: fc.constantFrom(...names, 'unknown') },
      { weight: 1, arbitrary: attribute },
    )
    const segment = plain.map((each) =>
      encodeURIComponent(
        String(each)
          .replace(/\p{Surrogate}/gu, '')
          .slice(0, 60) || 'x',
      ),
    )
    const segments = fc.array(segment, { minLength: 2, maxLength: 2 })
    const body = endpoint.method === 'get' ? fc.constant(false) : fc.boolean()
    return fc
      .tuple(segments, fc.array(fc.tuple(name, value), { maxLength: 4 }), body)
      .map(([parts, query, hasBody]) => {
        let at = 0
        const path = `/atomicassets${endpoint.path.replace(/:\w+/g, () => parts[at++]!)}`
        const sendable = hasBody
          ? query
          : query.map(([key, each]): [string, unknown] => [key, String(each).replace(/\p{Surrogate}/gu, '')])
        return { path, query: sendable, body: hasBody }
      })
  })
}
