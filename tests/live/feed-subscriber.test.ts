import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createMemoryStore } from '../../services/core/kvstore/index.ts'
import { openRedisStore } from '../../services/core/kvstore/redis-store.ts'
import type { KeyValueStore } from '../../services/core/kvstore/index.ts'
import { encodeFeedMessage, feedChannel, MAX_BUS_CHARACTERS } from '../../services/core/feed/index.ts'
import { subscribeToFeed } from '../../services/core/feed-reader/index.ts'
import type { FeedEntry, FeedLag } from '../../services/core/feed/index.ts'
import type { FeedSubscriber, FeedQuery } from '../../services/core/feed-reader/index.ts'
import type { SubscribeOptions } from '../../services/core/feed-reader/feed-subscriber.ts'
import { createPublisher } from '../../services/filler/index.ts'
import { createTestDatabase } from '../setup/database.ts'
import type { TestDatabase } from '../setup/database.ts'
import { describeWithRedis, startTestRedis } from '../setup/redis.ts'
import { openFeedReader, readEntries } from './published.ts'
import type { FeedReader } from './published.ts'
import { OutboxFeed } from './outbox-feed.ts'
import { patient } from '../setup/patience.ts'

let database: TestDatabase
let feed: FeedReader

beforeAll(async () => {
  database = await createTestDatabase()
  feed = await openFeedReader(database.address)
})

afterAll(async () => {
  await feed.close()
  await database.drop()
})

/** A logger that stores warnings. */
function createLog() {
  const lines: string[] = []
  return { lines, info: () => undefined, warn: (_: object, message: string) => void lines.push(message) }
}

/** Timeouts so long that none fires during a test; single tests shorten them. */
const unhurried = { silenceMs: 600_000, pollMs: 600_000 }

/** Creates a reader's feed, a bus, and a subscriber. */
async function subscribe(reader: string, more: Partial<SubscribeOptions> = {}) {
  const log = createLog()
  const store = more.store ?? createMemoryStore(log)
  const received: FeedEntry[] = []
  const lags: FeedLag[] = []
  let isDeaf = false
  const written = await OutboxFeed.open(feed.query, reader, {
    send: (channel, text) => void (isDeaf ? undefined : store.publish(channel, text).catch(() => undefined)),
  })
  await written.arrive(10)
  const subscriber = await subscribeToFeed({
    store,
    query: feed.query,
    reader,
    logger: log,
    onEntry: (entry) => void received.push(entry),
    onLag: (lag) => void lags.push(lag),
    timing: unhurried,
    ...more,
  })
  const hasReceived = () =>
    expect.poll(async () => received.length >= (await readEntries(feed.query, reader)).length).toBe(true)
  return {
    written,
    subscriber,
    store,
    log,
    received,
    lags,
    /** Runs a task while messages on the bus are lost. */
    withoutBus: async (task: () => Promise<void>) => {
      isDeaf = true
      await task()
      isDeaf = false
    },
    /** Waits until the subscriber has received all stored entries of the feed. */
    hasReceived,
  }
}

async function expectAllOnce(
  reader: string,
  received: readonly FeedEntry[],
  subscriber: FeedSubscriber,
): Promise<void> {
  expect(received).toEqual(await readEntries(feed.query, reader))
  await subscriber.close()
}

describe('a subscriber of a feed', () => {
  it('a subscriber of a feed takes entries from the bus, and reads missing entries from the database at the next message', async () => {
    const { written, subscriber, received, withoutBus, hasReceived } = await subscribe('gaps')
    await written.block(2)
    await hasReceived()
    expect(subscriber.status()).toMatchObject({ fromBus: 1, sequence: 1n, via: 'bus' })
    await withoutBus(async () => {
      await written.block(1)
      await written.fork(11)
      await written.block(3)
    })
    expect(received).toHaveLength(1)
    await written.block(1)
    await hasReceived()
    await written.block(1)
    await hasReceived()
    // The subscriber reads four entries from the database: the three lost entries, and the entry that revealed the
    // loss.
    expect(subscriber.status()).toMatchObject({ fromBus: 2, fromDatabase: 4 })
    await expectAllOnce('gaps', received, subscriber)
  })

  it('a subscriber of a feed detects a lost last message at the next heartbeat', async () => {
    const { written, subscriber, received, lags, withoutBus, hasReceived } = await subscribe('last')
    await withoutBus(() => written.block(1))
    written.beat()
    await hasReceived()
    expect(lags).toMatchObject([{ reader: 'last', sequence: '1', block_num: 11, behind: 0, live: true }])
    expect(subscriber.status()).toMatchObject({ lag: lags[0], fromDatabase: 1 })
    await expectAllOnce('last', received, subscriber)
  })

  it('a subscriber of a feed reads an entry from the database if the entry is too long for the bus', async () => {
    const { written, subscriber, received, store, hasReceived } = await subscribe('long')
    const lengths: number[] = []
    await store.subscribe(feedChannel('long'), (text) => void lengths.push(text.length))
    await written.block(1, 'x'.repeat(MAX_BUS_CHARACTERS))
    await hasReceived()
    await written.block(1, 'x'.repeat(MAX_BUS_CHARACTERS - 2_000))
    await hasReceived()
    expect(Math.max(...lengths)).toBeLessThanOrEqual(MAX_BUS_CHARACTERS)
    expect(subscriber.status()).toMatchObject({ fromBus: 1, fromDatabase: 1 })
    await expectAllOnce('long', received, subscriber)
  })

  it('a subscriber of a feed skips malformed messages, logs one line, and loses no entry', async () => {
    const { written, subscriber, received, store, log, hasReceived } = await subscribe('malformed')
    const lag = { kind: 'lag', reader: 'malformed', epoch: 0, sequence: '0', behind: 0, live: true } as const
    const forged = [
      '',
      '{}',
      '[1]',
      'x'.repeat(100_000),
      encodeFeedMessage({ ...lag, block_num: -1, head_block: 0 }),
    ]
    for (const text of forged) {
      await store.publish(feedChannel('malformed'), text)
      await written.block(1)
    }
    await hasReceived()
    expect(subscriber.status().malformed).toBe(forged.length)
    expect(log.lines).toEqual([
      'a malformed message of the feed was skipped; the entry is read from the database instead',
    ])
    await expectAllOnce('malformed', received, subscriber)
  })

  it('a subscriber of a feed polls the database while the bus is silent', async () => {
    const { written, subscriber, received, withoutBus, hasReceived } = await subscribe('silent', {
      timing: { silenceMs: 1, pollMs: 10 },
    })
    await withoutBus(async () => {
      for (let block = 0; block < 3; block++) {
        await written.block(1)
        await hasReceived()
      }
    })
    expect(subscriber.status()).toMatchObject({ via: 'database', fromBus: 0, fromDatabase: 3 })
    await expectAllOnce('silent', received, subscriber)
  })

  it('a slow subscriber of a feed handles one entry at a time, and continues after an error', async () => {
    const taken: string[] = []
    let atOnce = 0
    const { written, subscriber } = await subscribe('slow', {
      onEntry: async ({ sequence }) => {
        if (++atOnce > 1) throw new Error('two at once')
        await new Promise((resolve) => setTimeout(resolve, 2))
        taken.push(sequence)
        atOnce--
        if (sequence === '2') throw new Error('a client of it')
      },
    })
    // The subscriber's queue holds fewer than 300 entries. The subscriber reads the entries beyond the queue from the
    // database.
    for (let block = 0; block < 300; block++) await written.block(1)
    await expect.poll(() => taken.length, { timeout: patient(20_000) }).toBe(300)
    expect(taken).toEqual(taken.map((_, i) => String(i + 1)))
    await subscriber.close()
  })

  it('a subscriber of a feed that starts while the database is unavailable gets the entries after the outage', async () => {
    let isAway = true
    const query: FeedQuery = (text, values) =>
      isAway ? Promise.reject(new Error('unavailable')) : feed.query(text, values)
    const { written, subscriber, received, log } = await subscribe('unavailable', {
      query,
      timing: { silenceMs: 1, pollMs: 10 },
    })
    await written.block(1)
    await expect.poll(() => log.lines).toEqual(['the feed cannot be read'])
    isAway = false
    await expect.poll(() => subscriber.status().sequence).toBe(1n)
    await written.block(1)
    await expect.poll(() => received.map(({ sequence }) => sequence)).toEqual(['2'])
    await subscriber.close()
    const second: string[] = []
    const from = { epoch: received[0]!.epoch, sequence: 0n }
    const again = await subscribeToFeed({
      store: createMemoryStore(log),
      query,
      reader: 'unavailable',
      from,
      logger: log,
      onEntry: ({ sequence }) => void second.push(sequence),
    })
    await expect.poll(() => second).toEqual(['1', '2'])
    await again.close()
  })

  it('a subscriber of a feed gets a gap up to the block before the oldest stored entry', async () => {
    const { written, subscriber, received, withoutBus } = await subscribe('pruned')
    await withoutBus(async () => {
      for (let block = 11; block <= 14; block++) await written.block(1)
    })
    await feed.query('DELETE FROM chain.feed WHERE reader = $1 AND sequence <= 2', ['pruned'])
    await feed.query('UPDATE chain.feeds SET pruned_to = 2 WHERE reader = $1', ['pruned'])
    written.beat()
    await expect.poll(() => received.length).toBe(3)
    expect(received).toMatchObject([
      { kind: 'gap', sequence: '2', from_block: null, to_block: 12 },
      { kind: 'block', sequence: '3', block: { num: 13 } },
      { kind: 'block', sequence: '4', block: { num: 14 } },
    ])
    await subscriber.close()
  })

  it('a subscriber of a feed gets a gap if entries were pruned or the feed was replaced', async () => {
    const { written, subscriber, received, store, hasReceived } = await subscribe('other')
    const send = (channel: string, text: string) => void store.publish(channel, text)
    await written.block(1)
    await hasReceived()
    await written.wipe()
    const wiped = await OutboxFeed.open(feed.query, 'other')
    await wiped.arrive(20)
    const again = await OutboxFeed.open(feed.query, 'other', { send })
    again.beat()
    await expect.poll(() => received.length).toBe(3)
    expect(received.slice(1)).toMatchObject([
      { kind: 'gap', sequence: '2', from_block: null },
      { kind: 'gap', sequence: '3', from_block: 1, to_block: 20 },
    ])
    await feed.query('UPDATE chain.feeds SET epoch = epoch + 1, told_to = 30 WHERE reader = $1', ['other'])
    const restored = await OutboxFeed.open(feed.query, 'other', { send })
    await restored.block(1)
    await expect.poll(() => received.length).toBe(4)
    expect(received[3]).toMatchObject({ kind: 'gap', sequence: '4', from_block: null, to_block: 31 })
    await restored.block(1)
    await expect.poll(() => received.length).toBe(5)
    expect(received[4]).toMatchObject({
      kind: 'block',
      epoch: received[3]!.epoch,
      sequence: '5',
      block: { num: 32 },
    })
    await subscriber.close()
  })
})

describeWithRedis('a Redis outage', () => {
  it('a Redis outage loses no entry: entries that the bus lost are read from the database, then the bus is used again', async () => {
    const redis = await startTestRedis()
    const log = createLog()
    const open = () =>
      openRedisStore({
        address: { host: '127.0.0.1', port: redis.port, tls: false, connection_type: 'standalone' },
        prefix: 'pronghorn:test:',
        logger: log,
        timing: { reconnectMaxMs: 200, commandTimeoutMs: 500 },
      })
    const [writing, listening] = await Promise.all([open(), open()])
    const outcomes = { sent: 0, dropped: 0 }
    const publish = createPublisher({
      store: writing,
      logger: log,
      onMessage: (_, outcome) => outcomes[outcome]++,
    })
    const { written, subscriber, received, hasReceived } = await subscribe('redis', {
      store: listening,
      timing: { silenceMs: 300, pollMs: 50 },
    })
    const filler = await OutboxFeed.open(feed.query, 'redis', {
      send: (channel, text) => publish('redis', channel, text),
    })
    await filler.block(2)
    await hasReceived()
    expect(subscriber.status()).toMatchObject({ via: 'bus', fromBus: 1 })
    await redis.kill()
    for (let block = 0; block < 3; block++) await filler.block(1)
    await filler.fork(12)
    await filler.block(1)
    await hasReceived()
    expect(subscriber.status()).toMatchObject({ via: 'database', fromBus: 1, fromDatabase: 5 })
    expect(outcomes).toEqual({ sent: 1, dropped: 5 })
    // Five lost messages cause one log line.
    expect(log.lines.filter((line) => line.startsWith('messages for live clients'))).toHaveLength(1)
    await redis.start()
    await expect
      .poll(
        async () => {
          await filler.block(1)
          await hasReceived()
          return subscriber.status().fromBus
        },
        { timeout: patient(20_000) },
      )
      .toBeGreaterThan(2)
    expect(written.head).toBe(10)
    await expectAllOnce('redis', received, subscriber)
    await Promise.all([writing.close(), listening.close()])
    await redis.stop()
  })
})

describe('the publisher', () => {
  it('the publisher delays no commit: while the key-value store hangs, messages above the limit are dropped', async () => {
    const log = createLog()
    const settle: (() => void)[] = []
    const stuck: KeyValueStore = {
      ...createMemoryStore(log),
      publish: () => new Promise<void>((resolve) => void settle.push(resolve)),
    }
    const outcomes = { sent: 0, dropped: 0 }
    const publish = createPublisher({
      store: stuck,
      logger: log,
      onMessage: (_, outcome) => outcomes[outcome]++,
    })
    for (let message = 0; message < 300; message++) publish('r', 'feed:r', 'x')
    expect(outcomes).toEqual({ sent: 0, dropped: 300 - settle.length })
    expect(settle.length).toBe(256)
    settle.forEach((done) => done())
    await expect.poll(() => outcomes.sent).toBe(256)
    publish('r', 'feed:r', 'x'.repeat(20_000_000))
    publish('r', 'feed:r', 'x')
    expect(outcomes.dropped).toBe(45)
    expect(log.lines).toEqual([
      'messages for live clients were dropped; the api reads them from the database',
    ])
  })
})
