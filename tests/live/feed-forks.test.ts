import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createMemoryStore } from '../../services/core/kvstore/index.ts'
import { subscribeToFeed } from '../../services/core/feed-reader/index.ts'
import type { FeedEntry } from '../../services/core/feed/index.ts'
import { createFillerHome } from '../integration/filler-process.ts'
import { testSettings } from '../integration/index-chain.ts'
import { createRandom } from '../integration/seeded-random.ts'
import { rounds } from '../setup/rounds.ts'
import { LiveReader, quiet } from './live-reader.ts'
import {
  comparable,
  eventLines,
  newestSequence,
  readEntries,
  survivingBlocks,
  tableLines,
} from './published.ts'

/** Number of kills of the filler process, and of cuts of a running filler's database session. */
const KILLS = rounds(3, 6)
const CUTS = rounds(10, 25)
/** Approximate duration of a commit, in ms. */
const COMMIT_MS = 12

let live: LiveReader

beforeEach(async () => {
  live = await LiveReader.open({ recordings: ['main'], libLagBlocks: 30, blocks: 40, rate: 5, seed: 3 })
})

afterEach(() => live.close())

/** Subscribes to the feed through the database, from before its first entry, independently of the filler. */
async function overhear() {
  const received: FeedEntry[] = []
  const subscriber = await subscribeToFeed({
    store: createMemoryStore(quiet),
    query: live.feed.query,
    reader: testSettings.name,
    logger: quiet,
    onEntry: (entry) => void received.push(entry),
    timing: { silenceMs: 1, pollMs: 20 },
  })
  return { received, close: () => subscriber.close() }
}

/** Checks that no entry is received twice or out of order, and that each fork undoes at least one block. */
function expectOrder(entries: readonly FeedEntry[], start: number): void {
  let view = start
  for (const entry of entries) {
    expect(entry.kind).not.toBe('gap')
    if (entry.kind === 'block') {
      expect(entry.block.num).toBeGreaterThan(view)
      view = entry.block.num
    } else if (entry.kind === 'fork') view = entry.block_num - 1
  }
  const ids = entries.flatMap((entry) => (entry.kind === 'block' ? [entry.block.id] : []))
  expect(new Set(ids).size).toBe(ids.length)
}

/** Checks that the received entries add up to the current branch of the chain and to the tables. */
async function expectWhole(before: bigint, start: number): Promise<readonly FeedEntry[]> {
  const entries = await readEntries(live.feed.query)
  expectOrder(entries, start)
  const blocks = survivingBlocks(entries)
  for (const { block } of blocks)
    expect(live.running.chain.block(block.num)?.id.toString('hex')).toBe(block.id)
  expect(comparable(eventLines(blocks))).toEqual(await tableLines(live.feed.query, before))
  return entries
}

it('a fork is published once, with the first undone block, followed by the new branch', async () => {
  const { chain } = live.running
  live.start()
  await live.reach()
  const before = await newestSequence(live.feed.query)
  const start = chain.head().num
  for (const depth of [1, 3, 12]) {
    await live.follow(depth)
    const received = (await readEntries(live.feed.query)).length
    const first = chain.head().num - depth + 1
    chain.fork(depth)
    await live.reach()
    const entries = (await readEntries(live.feed.query)).slice(received)
    expect(entries[0]).toMatchObject({ kind: 'fork', block_num: first })
    expect(entries.slice(1).map(({ kind }) => kind)).toEqual(entries.slice(1).map(() => 'block'))
    expect(entries[1]).toMatchObject({ block: { num: first } })
  }
  const entries = await expectWhole(before, start)
  expect(entries.filter(({ kind }) => kind === 'fork')).toHaveLength(3)
})

/** Produces blocks and occasional forks, faster than a filler can commit them. */
function disturb(random: ReturnType<typeof createRandom>): void {
  const { chain } = live.running
  chain.generate(random.between(1, 3))
  if (random.fraction() < 0.4) chain.fork(random.between(1, 4))
}

it(`${CUTS} cuts of the session during commits and forks lose no event and publish none twice`, async () => {
  const random = createRandom(61)
  live.start()
  await live.reach()
  const before = await newestSequence(live.feed.query)
  const start = live.running.chain.head().num
  const { received, close } = await overhear()
  let forks = 0
  for (let cut = 0; cut < CUTS; cut++) {
    disturb(random)
    if (random.fraction() < 0.4) {
      // Wait until everything is published, so that the fork undoes a published block.
      await live.reach()
      live.running.chain.fork(random.between(1, 2))
      forks++
    }
    await delay(random.fraction() * 3 * COMMIT_MS)
    await live.feed.query(
      'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND application_name = $1',
      [`pronghorn filler ${testSettings.name}`],
    )
    disturb(random)
  }
  await live.reach()
  const entries = await expectWhole(before, start)
  await expect.poll(() => received.length).toBe(entries.length)
  expect(received).toEqual(entries)
  expect(entries.filter(({ kind }) => kind === 'fork').length).toBeGreaterThanOrEqual(forks)
  expect(forks).toBeGreaterThan(CUTS / 5)
  await close()
})

it(`a filler killed ${KILLS} times loses no event and publishes none twice`, async () => {
  const random = createRandom(62)
  const home = await createFillerHome(live.running, live.database.address)
  let filler = home.start()
  await live.reach()
  const before = await newestSequence(live.feed.query)
  const start = live.running.chain.head().num
  const { received, close } = await overhear()
  for (let kill = 0; kill < KILLS; kill++) {
    for (let moment = random.between(1, 3); moment > 0; moment--) {
      disturb(random)
      await delay(random.fraction() * 4 * COMMIT_MS)
    }
    await filler.kill()
    disturb(random)
    filler = home.start()
    if (kill % 2 === 1) await live.reach()
  }
  await live.reach()
  const entries = await expectWhole(before, start)
  await expect.poll(() => received.length).toBe(entries.length)
  expect(received).toEqual(entries)
  expect((await filler.stop()).code).toBe(0)
  await close()
  await home.remove()
})
