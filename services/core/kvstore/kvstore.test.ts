import { once } from 'node:events'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { describeWithRedis, startTestRedis } from '../../../tests/setup/redis.ts'
import type { TestRedis } from '../../../tests/setup/redis.ts'
import type { KvstoreConfig } from '../config/connections/index.ts'
import { createMemoryStore } from './memory-store.ts'
import { openKeyValueStore } from './index.ts'
import { openRedisStore } from './redis-store.ts'
import type { KeyValueStore } from './key-value-store.ts'
import type { RedisTiming } from './redis-store.ts'

const entries: string[] = []
const logger = {
  info: (_fields: object, message: string) => void entries.push(message),
  warn: (_fields: object, message: string) => void entries.push(message),
}

/** Intervals that shorten the tests. The time limits are the usual ones, which a busy machine keeps. */
const timing = { pingIntervalMs: 100, reconnectMaxMs: 100 }
/** Intervals, and time limits for a server that does not answer. */
const brief: RedisTiming = { ...timing, connectTimeoutMs: 500, commandTimeoutMs: 300 }

function addressOf(port: number): KvstoreConfig {
  return { host: '127.0.0.1', port, tls: false, connection_type: 'standalone' }
}

/** Repeats a check until it passes; the test's timeout limits the repetitions. */
async function eventually(check: () => Promise<void> | void): Promise<void> {
  for (;;) {
    try {
      await check()
      return
    } catch (error) {
      if (error instanceof Error && error.message.includes('never')) throw error
      await sleep(20)
    }
  }
}

/** Tests that both store implementations must pass. */
function describeContract(open: () => Promise<KeyValueStore>) {
  it('a key-value store returns values until they expire', async () => {
    const store = await open()
    expect(await store.get('missing')).toBeNull()
    await store.set('a', 'one', 60_000)
    await store.set('a', 'two € \u0000', 60_000)
    expect(await store.get('a')).toBe('two € \u0000')
    await store.set('b', 'short', 1)
    await eventually(async () => expect(await store.get('b')).toBeNull())
    await store.close()
  })

  it('a key-value store returns the remaining time to live of a value', async () => {
    const store = await open()
    expect(await store.read('missing')).toBeNull()
    await store.set('a', 'one', 60_000)
    const found = await store.read('a')
    expect(found?.value).toBe('one')
    expect(found?.expiresInMs).toBeLessThanOrEqual(60_000)
    expect(found?.expiresInMs).toBeGreaterThan(0)
    await store.close()
  })

  it('a counter in a key-value store expires after the window of its first count; further counts do not extend the window', async () => {
    const store = await open()
    expect(await store.increment('n', 60_000)).toMatchObject({ count: 1 })
    const second = await store.increment('n', 120_000, 5)
    expect(second.count).toBe(6)
    expect(second.expiresInMs).toBeLessThanOrEqual(60_000)
    expect(second.expiresInMs).toBeGreaterThan(0)
    await store.increment('brief', 1)
    await eventually(async () => expect(await store.increment('brief', 1)).toMatchObject({ count: 1 }))
    await store.close()
  })

  it('a key-value store counts concurrent requests without loss', async () => {
    const store = await open()
    const states = await Promise.all(Array.from({ length: 200 }, () => store.increment('many', 60_000)))
    expect(new Set(states.map((state) => state.count)).size).toBe(200)
    await store.close()
  })

  it('a key-value store refuses an invalid time to live', async () => {
    const store = await open()
    for (const ttlMs of [0, -1, NaN, Infinity]) {
      await expect(store.set('x', '1', ttlMs)).rejects.toThrow(RangeError)
      await expect(store.increment('x', ttlMs)).rejects.toThrow(RangeError)
    }
    await store.close()
  })

  it('a key-value store delivers messages in order to each listener of a channel, also after one listener failed', async () => {
    const store = await open()
    const first: string[] = []
    const second: string[] = []
    const stop = await store.subscribe('blocks', (message) => {
      first.push(message)
      throw new Error('a listener that fails')
    })
    await store.subscribe('blocks', (message) => void second.push(message))
    await store.subscribe('others', (message) => void second.push(`other ${message}`))
    for (const message of ['1', '2', '3']) await store.publish('blocks', message)
    await eventually(() => expect(second).toEqual(['1', '2', '3']))
    expect(first).toEqual(['1', '2', '3'])
    await stop()
    await stop()
    await store.publish('blocks', '4')
    await eventually(() => expect(second).toEqual(['1', '2', '3', '4']))
    expect(first).toHaveLength(3)
    await store.close()
  })

  it('a key-value store answers a probe, and fails after it was closed', async () => {
    const store = await open()
    expect(await store.probe()).toBe('up')
    await store.close()
    await store.close()
    await expect(store.get('a')).rejects.toMatchObject({ code: 'KVSTORE_UNAVAILABLE', retryable: true })
    await expect(store.subscribe('a', () => undefined)).rejects.toMatchObject({ code: 'KVSTORE_UNAVAILABLE' })
  })
}

describe('the in-process key-value store', () => {
  describeContract(() => openKeyValueStore(undefined, 'wax', logger))

  it('the in-process key-value store stays within its size limit and evicts the oldest values first', async () => {
    const store = createMemoryStore(logger, { maxBytes: 100_000 })
    for (let at = 0; at < 1000; at++) await store.set(`key ${at}`, 'x'.repeat(1000), 60_000)
    const values = await Promise.all(Array.from({ length: 1000 }, (_, at) => store.get(`key ${at}`)))
    const oldest = values.findIndex((value) => value !== null)
    expect(oldest).toBeGreaterThan(900)
    expect(oldest).toBeLessThan(980)
    expect(values.slice(oldest).every((value) => value !== null)).toBe(true)
    await store.set('too large', 'x'.repeat(100_000), 60_000)
    expect(await store.get('too large')).toBeNull()
  })

  it('the in-process key-value store removes expired values without a request for them', async () => {
    let time = 0
    const store = createMemoryStore(logger, { maxBytes: 1_000_000, now: () => time })
    await store.set('stored', 'value', 60_000)
    for (let at = 0; at < 900; at++) await store.set(`short ${at}`, 'x'.repeat(400), 10)
    time = 20
    // The new entries evict 'stored', the oldest entry, unless the sweep has removed the expired entries.
    for (let at = 0; at < 900; at++) await store.set(`new ${at}`, 'x'.repeat(400), 10)
    expect(await store.get('stored')).toBe('value')
  })
})

describe('an unavailable key-value store', () => {
  it('calls to an unavailable key-value store fail at once, and a time limit bounds the opening of the store', async () => {
    const store = await openRedisStore({ address: addressOf(1), prefix: 'test:', logger, timing: brief })
    await expect(store.get('a')).rejects.toMatchObject({ code: 'KVSTORE_UNAVAILABLE' })
    await expect(store.increment('a', 1000)).rejects.toMatchObject({ code: 'KVSTORE_UNAVAILABLE' })
    await expect(store.publish('a', 'b')).rejects.toMatchObject({ code: 'KVSTORE_UNAVAILABLE' })
    expect(await store.probe()).toBe('unavailable')
    const stop = await store.subscribe('a', () => undefined)
    await stop()
    await store.close()
  })

  it('an unavailable key-value store that accepts connections but does not answer fails within the time limit', async () => {
    const silent = createServer(() => undefined).listen(0, '127.0.0.1')
    await once(silent, 'listening')
    const { port } = silent.address() as AddressInfo
    const store = await openRedisStore({ address: addressOf(port), prefix: 'test:', logger, timing: brief })
    await expect(store.get('a')).rejects.toMatchObject({ code: 'KVSTORE_UNAVAILABLE' })
    await store.close()
    silent.close()
  })
})

describeWithRedis('the key-value store on Redis', () => {
  let redis: TestRedis
  let opened = 0

  beforeAll(async () => {
    redis = await startTestRedis()
  })
  afterAll(async () => {
    await redis.stop()
  })

  const open = (limits: Partial<RedisTiming> = timing) =>
    openRedisStore({
      address: addressOf(redis.port),
      prefix: `test${opened++}:`,
      logger,
      timing: limits,
    })

  describeContract(open)

  it('the key-value store on Redis is shared by processes and separate for chains', async () => {
    const address = addressOf(redis.port)
    const [one, same, other] = await Promise.all([
      openKeyValueStore(address, 'wax', logger),
      openKeyValueStore(address, 'wax', logger),
      openKeyValueStore(address, 'eos', logger),
    ])
    const heard: string[] = []
    await same.subscribe('blocks', (message) => void heard.push(message))
    await other.subscribe('blocks', (message) => void heard.push(`wrong ${message}`))
    await one.set('a', '1', 60_000)
    await one.publish('blocks', '5')
    expect(await same.get('a')).toBe('1')
    expect(await other.get('a')).toBeNull()
    await eventually(() => expect(heard).toEqual(['5']))
    await Promise.all([one.close(), same.close(), other.close()])
  })

  it('the key-value store on Redis reconnects by itself after the server was killed, with its subscriptions', async () => {
    const store = await open()
    const heard: string[] = []
    await store.subscribe('blocks', (message) => void heard.push(message))
    await redis.kill()
    await expect(store.get('a')).rejects.toMatchObject({ code: 'KVSTORE_UNAVAILABLE' })
    await redis.start()
    await eventually(async () => expect(await store.probe()).toBe('up'))
    await eventually(async () => {
      await store.publish('blocks', 'again')
      expect(heard).toContain('again')
    })
    await store.close()
    expect(entries).toContain('the key-value store is unavailable')
    expect(entries).toContain('the key-value store is available again')
  })

  it.each([
    ['READONLY', 'read-only', 'the server is a read-only replica (READONLY)'],
    ['OOM', 'out of memory', 'the server has reached its maxmemory (OOM)'],
    ['MISCONF', 'cannot save', 'the server cannot save to its disk (MISCONF)'],
  ] as const)(
    'the key-value store on Redis reports why writes are refused: %s',
    async (cause, state, sentence) => {
      const store = await open()
      const heard: string[] = []
      await store.subscribe('blocks', (message) => void heard.push(message))
      await store.set('a', '1', 60_000)
      entries.length = 0
      await redis.refuseWrites(cause)
      expect(await store.probe()).toBe(state)
      for (let time = 0; time < 2; time++) {
        await expect(store.set('a', '2', 60_000)).rejects.toMatchObject({ code: 'KVSTORE_UNAVAILABLE' })
        await expect(store.increment('b', 60_000)).rejects.toMatchObject({ code: 'KVSTORE_UNAVAILABLE' })
      }
      expect(await store.get('a')).toBe('1')
      // The subscriber connection stays open: a Redis that refuses writes refuses its pings too.
      await sleep(5 * timing.pingIntervalMs)
      await redis.takeWrites()
      await eventually(async () => expect(await store.probe()).toBe('up'))
      await store.set('a', '3', 60_000)
      await store.publish('blocks', 'again')
      await eventually(() => expect(heard).toEqual(['again']))
      await store.close()
      expect(entries).toEqual([
        `the key-value store refuses writes: ${sentence}`,
        'the key-value store accepts writes again',
      ])
    },
  )

  it('the key-value store on Redis fails within the time limit while the server is frozen, and works again afterwards', async () => {
    const store = await open(brief)
    const heard: string[] = []
    await store.subscribe('blocks', (message) => void heard.push(message))
    redis.freeze()
    await expect(store.get('a')).rejects.toMatchObject({ code: 'KVSTORE_UNAVAILABLE' })
    await expect(store.increment('a', 1000)).rejects.toMatchObject({ code: 'KVSTORE_UNAVAILABLE' })
    redis.thaw()
    await eventually(async () => expect(await store.probe()).toBe('up'))
    await eventually(async () => {
      await store.publish('blocks', 'again')
      expect(heard).toContain('again')
    })
    await store.close()
  })
})

describeWithRedis('the key-value store on a Redis with a password', () => {
  it('the key-value store on a Redis with a password logs in, and is unavailable with a wrong password', async () => {
    const redis = await startTestRedis(['--requirepass', 'hunter2'])
    const address = addressOf(redis.port)
    const store = await openRedisStore({
      address: { ...address, password: 'hunter2' },
      prefix: '',
      logger,
      timing,
    })
    expect(await store.probe()).toBe('up')
    await store.close()
    const refused = await openRedisStore({
      address: { ...address, password: 'no' },
      prefix: '',
      logger,
      timing,
    })
    expect(await refused.probe()).toBe('unavailable')
    await refused.close()
    await redis.stop()
  })
})
