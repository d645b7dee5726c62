import { afterEach, beforeEach, expect, it } from 'vitest'
import { createMemoryStore } from '../../services/core/kvstore/index.ts'
import type { KeyValueStore } from '../../services/core/kvstore/index.ts'
import { followFeed } from '../../services/core/live/index.ts'
import type { FeedEntry } from '../../services/core/live/index.ts'
import { createTestDatabase } from '../setup/database.ts'
import type { TestDatabase } from '../setup/database.ts'
import { indexUntil, startChain, testSettings } from '../integration/index-chain.ts'
import type { TestChain } from '../integration/index-chain.ts'
import { PositionWatch } from '../integration/position.ts'
import {
  comparable,
  eventLines,
  newestSequence,
  openFeedReader,
  readEntries,
  survivingBlocks,
  tableLines,
} from './told.ts'
import type { FeedReader } from './told.ts'

const quiet = { info: () => undefined, warn: () => undefined }
let database: TestDatabase
let running: TestChain
let feed: FeedReader
let store: KeyValueStore

beforeEach(async () => {
  database = await createTestDatabase()
  running = await startChain({ recordings: ['main', 'v2'], libLagBlocks: 30, blocks: 40, rate: 8, seed: 7 })
  feed = await openFeedReader(database.address)
  store = createMemoryStore(quiet)
})

afterEach(async () => {
  await feed.close()
  await store.close()
  await running.chain.stop()
  await database.drop()
})

/** A reader in this process that follows the chain until it is stopped. */
function follow() {
  const ending = new AbortController()
  const done = indexUntil(running, database.address, 0, {
    signal: ending.signal,
    options: { send: (channel, text) => void store.publish(channel, text) },
  })
  return async () => {
    ending.abort()
    await done
  }
}

it('tells nothing while it catches up, and then each block at once', async () => {
  const stop = follow()
  const watch = await PositionWatch.open(database.address, testSettings.name)
  const isAtHead = () => watch.until((at) => at?.id === running.chain.head().id)
  await isAtHead()
  expect(await readEntries(feed.query)).toEqual([])
  const before = await newestSequence(feed.query)
  const told: FeedEntry[] = []
  const follower = await followFeed({
    store,
    query: feed.query,
    reader: testSettings.name,
    logger: quiet,
    onEntry: (entry) => void told.push(entry),
  })
  for (let block = 0; block < 40; block++) {
    running.chain.generate(1)
    await isAtHead()
  }
  const entries = await readEntries(feed.query)
  const lines = eventLines(survivingBlocks(entries))
  expect(comparable(lines)).toEqual(await tableLines(feed.query, before))
  expect(lines.length).toBeGreaterThan(200)
  await expect.poll(() => told).toEqual(entries)
  expect(follower.status()).toMatchObject({ via: 'bus', fromDatabase: 0, malformed: 0 })
  await follower.close()
  await watch.close()
  await stop()
})
