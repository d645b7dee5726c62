import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { afterEach, describe, expect, it } from 'vitest'
import { startApi } from '../../services/api/index.ts'
import { connectDatabase } from '../../services/core/database/index.ts'
import { createTestDatabase } from '../setup/database.ts'
import { patient } from '../setup/patience.ts'
import { addLargeLogs, addLargeRows } from './large-rows.ts'
import type { LargeRows } from './large-rows.ts'
import { apiConfig, ask, quiet } from './server.ts'
import type { JsonAnswer } from './server.ts'

const KIB = 1024
const MIB = 1024 * KIB

const closers: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

interface Served {
  readonly port: number
  /** Sends a GET request to a path below the namespace. */
  readonly get: (
    path: string,
    init?: { readonly headers: Readonly<Record<string, string>> },
  ) => Promise<JsonAnswer>
}

/** Starts an API on a database with large rows. */
async function serve(
  rows: LargeRows,
  settings: Record<string, unknown> = {},
  logs?: { readonly count: number; readonly bytes: number },
): Promise<Served> {
  const database = await createTestDatabase()
  closers.push(() => database.drop())
  const client = await connectDatabase(database.address, { applicationName: 'test' })
  await addLargeRows(client, rows)
  if (logs) await addLargeLogs(client, logs.count, logs.bytes)
  await client.end()
  const api = await startApi({ config: apiConfig(database.address, settings), logger: quiet })
  closers.push(() => api.close())
  const get: Served['get'] = (path, init) =>
    // Requests an uncompressed answer, because compression would take most of the time of a large response.
    ask(`${api.url}/assets${path}`, { headers: { 'accept-encoding': 'identity', ...init?.headers } })
  return { port: api.port, get }
}

/** Runs a task. Returns the longest time that the event loop was blocked, ms, and the growth of memory. */
async function watch(task: () => Promise<void>): Promise<{ stallMs: number; growth: number }> {
  const rss = process.memoryUsage.rss()
  let [last, stallMs, highest] = [performance.now(), 0, rss]
  const timer = setInterval(() => {
    const now = performance.now()
    stallMs = Math.max(stallMs, now - last - 5)
    last = now
    highest = Math.max(highest, process.memoryUsage.rss())
  }, 5)
  await task()
  clearInterval(timer)
  return { stallMs, growth: highest - rss }
}

/** The limit that a refusal names in its message. */
function namedLimit({ body }: JsonAnswer): number {
  return Number(/limit=(\d+) or less/.exec(body.message ?? '')?.[1])
}

describe('an answer above limits.answer_bytes', () => {
  it('an answer above limits.answer_bytes is refused with the size of the answer, even if most bytes are a template that all assets share', async () => {
    const { get } = await serve({
      templates: 1,
      templateBytes: 200 * KIB,
      assets: 200,
      assetBytes: 0,
      offers: 20,
    })
    const { growth, stallMs } = await watch(async () => {
      for (const limit of [1, 4, 20, 100]) {
        const { status, body } = await get(`/v1/offers?limit=${limit}`)
        expect(status).toBe(400)
        expect(body.message).toMatch(
          /would have \d{9,10} bytes, 33554432 bytes are allowed \(limits.answer_bytes\)/,
        )
      }
      const one = await get('/v1/offers/900001')
      expect(one.status).toBe(400)
      expect(one.body.message).toMatch(/^The answer would have 123\d{6} bytes/)
    })
    expect(growth).toBeLessThan(150 * MIB)
    expect(stallMs).toBeLessThan(250)
  })

  it('the error for a too large answer names the highest value of the parameter limit that still works', async () => {
    const { get } = await serve(
      { templates: 10, templateBytes: 10 * KIB, assets: 10, assetBytes: 5 * KIB, offers: 20 },
      { limits: { answer_bytes: 4 * MIB } },
    )
    const refused = await get('/v1/offers?limit=100')
    expect(refused.status).toBe(400)
    const limit = namedLimit(refused)
    expect(limit).toBeGreaterThan(5)
    const answered = await get(`/v1/offers?limit=${limit}`)
    expect(answered.status).toBe(200)
    expect(
      (answered.body.data as { sender_assets: unknown[] }[]).map((each) => each.sender_assets.length),
    ).toEqual(Array.from({ length: limit }, () => 10))
    expect((await get(`/v1/offers?limit=${limit + 1}`)).status).toBe(400)
  })
})

/** Templates and assets. The total size of each list exceeds the size limit of one statement. */
const manyLarge = { templates: 100, templateBytes: 100 * KIB, assets: 100, assetBytes: 100 * KIB, offers: 3 }

describe('a page that exceeds the size limit of one statement', () => {
  it('the database measures a page above limits.answer_bytes, and the error names the highest value of the parameter limit that still works', async () => {
    for (const isCompressible of [false, true]) {
      const { get } = await serve({ ...manyLarge, isCompressible }, { limits: { answer_bytes: 8 * MIB } })
      const { growth } = await watch(async () => {
        for (const list of ['/v1/assets', '/v1/templates']) {
          const refused = await get(`${list}?limit=100`)
          expect([refused.status, refused.body.message]).toEqual([
            400,
            expect.stringMatching(/limit=\d+ or less/),
          ])
          const limit = namedLimit(refused)
          const answered = await get(`${list}?limit=${limit}`)
          expect([answered.status, answered.body.message]).toEqual([200, undefined])
          expect(answered.body.data).toHaveLength(limit)
        }
        const offers = await get('/v1/offers?limit=3')
        expect(offers.body.message).toMatch(/its first record alone has \d{8}, so no limit helps/)
        expect((await get('/v1/offers/900001')).body.message).toMatch(/^The record would have \d{8} bytes/)
      })
      expect(growth).toBeLessThan(250 * MIB)
    }
  })

  it('a page that exceeds the size of one statement is read in several statements, and the records equal the records read one by one', async () => {
    const { get } = await serve(
      { ...manyLarge, assetBytes: 90 * KIB, offers: 1 },
      { limits: { answer_bytes: 96 * MIB } },
    )
    for (const [list, key] of [
      ['/v1/assets', 'asset_id'],
      ['/v1/templates', 'template_id'],
    ] as const) {
      const page = (await get(`${list}?limit=100`)).body.data as Record<string, string>[]
      expect(page).toHaveLength(100)
      const path = (record: Record<string, string>): string =>
        list === '/v1/assets' ? `${list}/${record[key]!}` : `${list}/largecol/${record[key]!}`
      for (const record of [page[0]!, page[57]!, page[99]!])
        expect((await get(path(record))).body.data).toEqual(record)
    }
    const offer = (await get('/v1/offers/900001')).body.data as { sender_assets: { asset_id: string }[] }
    expect(new Set(offer.sender_assets.map(({ asset_id: id }) => id)).size).toBe(100)
  })
})

describe('a page of logs that is too large', () => {
  it('a page of logs above limits.answer_bytes is refused, and the error names the highest value of the parameter limit that still works', async () => {
    const small = { templates: 1, templateBytes: KIB, assets: 1, assetBytes: 0, offers: 1 }
    const limits = { answer_bytes: 1 * MIB }
    const { get } = await serve(small, { limits }, { count: 40, bytes: 100 * KIB })
    const page = '/v1/collections/largecol/logs'
    const refused = await get(`${page}?limit=40`)
    expect([refused.status, refused.body.message]).toEqual([
      400,
      expect.stringMatching(/^The answer would have 4\d{6} bytes, .*: use limit=10 or less$/),
    ])
    expect((await get(`${page}?limit=10`)).body.data).toHaveLength(10)
    expect((await get(`${page}?limit=11`)).status).toBe(400)
  })
})

/** Fifteen offers of ten assets with their template: an answer of about 7 MB. */
const largePage = { templates: 1, templateBytes: 10 * KIB, assets: 10, assetBytes: 0, offers: 15 }
const PAGE = '/v1/offers?limit=15&sort=created'

describe('an answer that is sent in chunks', () => {
  it('a chunked answer is the same with compression and from the cache, and has an entity tag', async () => {
    const cached = await serve(largePage, { cache_life: 60, cache_max_value_bytes: 20 * MIB })
    const { get, port } = await serve(largePage)
    const whole = await get(PAGE)
    expect(whole.body.data).toHaveLength(15)
    const same = await cached.get(PAGE)
    expect(same.body.data).toEqual(whole.body.data)
    const tag = whole.headers.get('etag')!
    expect(same.headers.get('etag')).toBe(tag)
    for (const [encoding, decode] of [
      ['br', brotliDecompressSync],
      ['gzip', gunzipSync],
    ] as const) {
      const text = decode(await rawBody(port, PAGE, encoding)).toString('utf8')
      expect((JSON.parse(text) as JsonAnswer['body']).data).toEqual(whole.body.data)
    }
    const url = `http://127.0.0.1:${port}/assets${PAGE}`
    expect((await fetch(url, { headers: { 'if-none-match': tag } })).status).toBe(304)
    const head = await fetch(url, { method: 'HEAD' })
    expect([head.status, head.headers.get('etag'), await head.text()]).toEqual([200, tag, ''])
  })

  it('building a chunked answer does not block the event loop', async () => {
    const { port } = await serve({ ...largePage, offers: 60 })
    const { stallMs } = await watch(async () => {
      expect((await rawBody(port, '/v1/offers?limit=60', 'br')).length).toBeGreaterThan(0)
    })
    expect(stallMs).toBeLessThan(250)
  })
})

describe('answers of clients that do not read', () => {
  it('a client gets 503 while its unread answers exceed the memory limit for one client; other clients are served', async () => {
    const limits = { answer_bytes: 16 * MIB, answers_bytes: 64 * MIB }
    const { port, get } = await serve(
      { ...largePage, offers: 30 },
      { limits, trust_proxy: true, max_list_queries: 10 },
    )
    const page = '/v1/offers?limit=30'
    const silent = Array.from({ length: 2 }, () => askWithoutReading(port, page, '192.0.2.1'))
    const mine = { headers: { 'x-forwarded-for': '192.0.2.1' } }
    await expect.poll(async () => (await get(page, mine)).status, { timeout: patient(20_000) }).toBe(503)
    const refused = await get(page, mine)
    expect(refused.headers.get('retry-after')).toBe('1')
    expect(refused.body.message).toBe('Too many bytes of answers in progress: try again later')
    const other = await get(page, { headers: { 'x-forwarded-for': '192.0.2.2' } })
    expect(other.status).toBe(200)
    for (const socket of silent) socket.destroy()
    await expect.poll(async () => (await get(page, mine)).status, { timeout: patient(20_000) }).toBe(200)
  })
})

async function rawBody(port: number, path: string, encoding: string): Promise<Buffer> {
  const socket = connect(port, '127.0.0.1')
  socket.write(
    `GET /assets${path} HTTP/1.0\r\nHost: x\r\nAccept-Encoding: ${encoding}\r\nConnection: close\r\n\r\n`,
  )
  const chunks: Buffer[] = []
  for await (const chunk of socket) chunks.push(chunk as Buffer)
  const all = Buffer.concat(chunks)
  return all.subarray(all.indexOf('\r\n\r\n') + 4)
}

/** Sends a request on a new connection and never reads the answer. */
function askWithoutReading(port: number, path: string, client: string): Socket {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => undefined)
  socket.pause()
  socket.write(`GET /assets${path} HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: ${client}\r\n\r\n`)
  return socket
}
