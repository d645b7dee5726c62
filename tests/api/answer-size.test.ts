import { afterEach, describe, expect, it } from 'vitest'
import { startApi } from '../../services/api/index.ts'
import { connectDatabase } from '../../services/core/database/index.ts'
import { createTestDatabase } from '../setup/database.ts'
import { addLargeRows } from './large-rows.ts'
import type { LargeRows } from './large-rows.ts'
import { apiConfig, ask, quiet } from './server.ts'
import type { JsonAnswer } from './server.ts'

const KIB = 1024
const MIB = 1024 * KIB

const closers: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

/** Starts an api on a database with large rows. @returns a function that sends a request. */
async function serve(
  rows: LargeRows,
  settings: Record<string, unknown> = {},
): Promise<(path: string, init?: RequestInit) => Promise<JsonAnswer>> {
  const database = await createTestDatabase()
  closers.push(() => database.drop())
  const client = await connectDatabase(database.address, { applicationName: 'test' })
  await addLargeRows(client, rows)
  await client.end()
  const api = await startApi({ config: apiConfig(database.address, settings), logger: quiet })
  closers.push(() => api.close())
  return (path, init) => ask(`${api.url}/assets${path}`, init)
}

/** Longest time for which the event loop did not turn while a task ran, ms, and the growth of memory. */
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

/** The limit that a refusal names. */
function namedLimit({ body }: JsonAnswer): number {
  return Number(/limit=(\d+) or less/.exec(body.message ?? '')?.[1])
}

describe('an answer above limits.answer_bytes', () => {
  it('is refused with its size and the largest limit that fits: offers of 200 assets of one large template', async () => {
    const get = await serve({
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

  it('names a limit with which the answer is sent, and above which it is refused', async () => {
    const get = await serve(
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
