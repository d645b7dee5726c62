import { afterEach, beforeEach, expect, it } from 'vitest'
import { startApi } from '../../services/api/index.ts'
import { parseConfig } from '../../services/core/config/index.ts'
import { findFreePort } from '../../services/core/http/listener/index.ts'
import { createLogger } from '../../services/core/log/index.ts'
import { runFiller } from '../../services/filler/index.ts'
import { createTestDatabase } from '../setup/database.ts'
import type { TestDatabase } from '../setup/database.ts'
import { readMetrics } from '../setup/metrics.ts'
import { patient } from '../setup/patience.ts'
import { describeWithRedis, startTestRedis } from '../setup/redis.ts'
import type { TestRedis } from '../setup/redis.ts'
import { startChain } from './index-chain.ts'
import type { TestChain } from './index-chain.ts'

const logger = createLogger({ name: 'test', level: 'silent' })

describeWithRedis('a Redis that refuses writes', () => {
  let database: TestDatabase
  let redis: TestRedis
  let running: TestChain
  const closing: (() => Promise<unknown>)[] = []

  beforeEach(async () => {
    database = await createTestDatabase()
    redis = await startTestRedis()
    running = await startChain({ recordings: ['main'], blocks: 5, rate: 3 })
  })
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close()
    await running.chain.stop()
    await redis.stop()
    await database.drop()
  })

  /** A filler and an api on the same Redis; returns their addresses. */
  async function startBoth(): Promise<{ filler: string; api: string; metrics: string[] }> {
    const args = { assets_account: 'atomicassets', store_transfers: true, store_logs: true }
    const port = await findFreePort()
    const metricsPort = await findFreePort()
    const { config } = parseConfig({
      connections: {
        sqldb: { ...database.address },
        kvstore: { host: '127.0.0.1', port: redis.port },
        chain: {
          name: 'test',
          chain_id: running.chain.chainId,
          http: running.httpUrl,
          ship: running.shipUrl,
        },
      },
      server: {
        server_addr: '127.0.0.1',
        server_port: await findFreePort(),
        metrics_port: metricsPort,
        namespaces: [{ name: 'assets', path: '/assets', args: { assets_account: 'atomicassets' } }],
      },
      readers: [
        { name: 'r', server_addr: '127.0.0.1', server_port: port, contracts: [{ handler: 'assets', args }] },
      ],
    })
    const ending = new AbortController()
    const filler = runFiller({ config, logger, signal: ending.signal })
    closing.push(() => {
      ending.abort()
      return filler
    })
    const api = await startApi({ config, logger })
    closing.push(() => api.close())
    return {
      filler: `http://127.0.0.1:${port}`,
      api: api.url,
      metrics: [port, metricsPort].map((each) => `http://127.0.0.1:${each}/metrics`),
    }
  }

  async function dataOf<T>(url: string): Promise<T> {
    const response = await fetch(url)
    expect(response.status).toBe(200)
    return ((await response.json()) as { data: T }).data
  }

  it.each([
    ['READONLY', 'read-only'],
    ['OOM', 'out of memory'],
    ['MISCONF', 'cannot save'],
  ] as const)(
    'shows in health and metrics of filler and api, and blocks are indexed on: %s',
    async (cause, state) => {
      const { filler, api, metrics } = await startBoth()
      const healths = async () => {
        const ofFiller = await dataOf<{
          status: string
          reasons: string[]
          kvstore: string
          readers: { block_num: string }[]
        }>(`${filler}/health`)
        const ofApi = await dataOf<{ chain: { service: { reasons: string[]; kvstore: string } } }>(
          `${api}/health`,
        )
        return {
          block: Number(ofFiller.readers[0]?.block_num),
          states: [ofFiller.kvstore, ofApi.chain.service.kvstore],
          reasons: [...ofFiller.reasons, ...ofApi.chain.service.reasons].filter((each) =>
            each.includes('key-value'),
          ),
        }
      }
      const timeout = patient(20_000)
      await expect
        .poll(healths, { timeout })
        .toEqual({ block: running.chain.head().num, states: ['up', 'up'], reasons: [] })
      await redis.refuseWrites(cause)
      await expect.poll(async () => (await healths()).states, { timeout }).toEqual([state, state])
      const sentence = expect.stringMatching(new RegExp(`refuses writes: .*\\(${cause}\\)$`)) as string
      expect((await healths()).reasons).toEqual([sentence, sentence])
      for (const url of metrics) {
        const series = await readMetrics(await fetch(url))
        expect(series.get('pronghorn_kvstore_up')).toBe(0)
        expect(series.get(`pronghorn_kvstore_state{state="${state}"}`)).toBe(1)
        expect(series.get('pronghorn_kvstore_state{state="up"}')).toBe(0)
      }
      // Answers are right: no load balancer takes the api out. The chain of this test is an old one.
      expect((await fetch(`${api}/healthc`)).status).toBe(200)
      expect(await (await fetch(`${api}/alive`)).text()).not.toContain('redis')
      for (let i = 0; i < 3; i++) running.chain.produceBlock()
      const head = running.chain.head().num
      await expect.poll(async () => (await healths()).block, { timeout }).toBe(head)
      await redis.takeWrites()
      await expect.poll(healths, { timeout }).toEqual({ block: head, states: ['up', 'up'], reasons: [] })
    },
    patient(90_000),
  )
})
