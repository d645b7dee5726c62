import { expect, it } from 'vitest'
import { startApi } from '../../services/api/index.ts'
import { parseConfig } from '../../services/core/config/index.ts'
import { findFreePort } from '../../services/core/http/listener/index.ts'
import { createLogger } from '../../services/core/log/index.ts'
import { runFiller } from '../../services/filler/index.ts'
import { readMetrics } from '../setup/metrics.ts'
import { patient } from '../setup/patience.ts'
import { describeWithRedis, startTestRedis } from '../setup/redis.ts'
import { startChain } from './index-chain.ts'
import { createIndexedDatabase } from './indexed-database.ts'

const logger = createLogger({ name: 'test', level: 'silent' })
const args = { assets_account: 'atomicassets', store_transfers: true, store_logs: true }
const indexed = { name: 'r', contracts: [{ handler: 'assets', args }] }

describeWithRedis('a Redis that refuses writes', () => {
  /** Starts a filler and an API on the same Redis, and returns their addresses. */
  async function startBoth() {
    const database = await createIndexedDatabase({ chain: { recordings: ['main'] }, settings: indexed })
    const redis = await startTestRedis()
    const running = await startChain({ recordings: ['main'], blocks: 5, rate: 3 })
    const closing = [() => database.drop(), () => redis.stop(), () => running.chain.stop()]
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
      readers: [{ ...indexed, server_addr: '127.0.0.1', server_port: port }],
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
      redis,
      running,
      close: async () => {
        for (const close of closing.reverse()) await close()
      },
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

  // The tests run concurrently, because each test mostly waits for the next probe of Redis.
  it.concurrent.for([
    ['READONLY', 'read-only'],
    ['OOM', 'out of memory'],
    ['MISCONF', 'cannot save'],
  ] as const)(
    'health and metrics report a key-value store that refuses writes, and indexing continues: %s',
    { timeout: patient(90_000) },
    async ([cause, state], { expect }) => {
      const { filler, api, metrics, redis, running, close } = await startBoth()
      try {
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
        // API replies are still correct, so load balancers must keep the API. `/alive` may fail for the chain's old
        // head, but not because of Redis.
        expect((await fetch(`${api}/healthc`)).status).toBe(200)
        expect(await (await fetch(`${api}/alive`)).text()).not.toContain('redis')
        for (let i = 0; i < 3; i++) running.chain.produceBlock()
        const head = running.chain.head().num
        await expect.poll(async () => (await healths()).block, { timeout }).toBe(head)
        await redis.takeWrites()
        await expect.poll(healths, { timeout }).toEqual({ block: head, states: ['up', 'up'], reasons: [] })
      } finally {
        await close()
      }
    },
  )
})
