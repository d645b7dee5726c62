import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { FatalError } from '../../services/core/errors/index.ts'
import {
  cursorAfter,
  decodeCursor,
  encodeCursor,
  newestCursor,
  readFeedState,
  FeedHistory,
  forkOfHolder,
  survivor,
} from '../../services/core/feed-reader/index.ts'
import type { FeedBlock, FeedEntry } from '../../services/core/feed/index.ts'
import type { FeedCursor } from '../../services/core/feed-reader/index.ts'
import { createTestDatabase } from '../setup/database.ts'
import type { TestDatabase } from '../setup/database.ts'
import { createRandom } from '../integration/seeded-random.ts'
import { openFeedReader, readEntries } from './published.ts'
import type { FeedReader } from './published.ts'
import { OutboxFeed } from './outbox-feed.ts'

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

const openFeed = (reader: string, retainedBlocks?: number) =>
  OutboxFeed.open(feed.query, reader, { retainedBlocks })

/** A client that stores the received events by block, and the blocks reported as gaps. */
class Listener {
  readonly events = new Map<string, number>()
  readonly unpublished = new Set<number>()

  take(entry: FeedEntry, from = 0, to = Infinity): void {
    if (entry.kind === 'block') {
      for (const { id } of entry.events.slice(from, to)) {
        if (this.events.has(id)) throw new Error(`event ${id} was received twice`)
        this.events.set(id, entry.block.num)
      }
    } else if (entry.kind === 'gap') {
      for (let num = entry.from_block!; num <= entry.to_block; num++) this.unpublished.add(num)
    } else {
      for (const [id, num] of this.events) if (num >= entry.block_num) this.events.delete(id)
      for (const num of this.unpublished) if (num >= entry.block_num) this.unpublished.delete(num)
    }
  }

  get state() {
    return {
      events: [...this.events.keys()].sort(),
      unpublished: [...this.unpublished].sort((a, b) => a - b),
    }
  }
}

/**
 * Returns the entries that a client with this cursor has missed: at most one fork, then the remaining entries. `seen`
 * is the number of an entry's events that the client has already received.
 */
async function missed(cursor: FeedCursor) {
  const history = new FeedHistory({ query: feed.query, reader: cursor.reader })
  const state = await readFeedState(feed.query, cursor.reader)
  if (state) history.begin(state)
  await history.check(cursor)
  const end = newestCursor(cursor.reader, state!)
  const found: { entry: FeedEntry; seen: number }[] = []
  const forks = await history.forksAfter(cursor.sequence)
  const fork = forkOfHolder(cursor, forks.after(cursor.sequence))
  if (fork) found.push({ entry: fork, seen: 0 })
  const at = fork ? cursorAfter(fork) : cursor
  for (let next = at.seen === null ? at.sequence + 1n : at.sequence; next <= end.sequence; next++) {
    const entry = await history.read(next)
    if (entry === undefined || entry === 'unreadable') throw new Error(`no entry ${next}`)
    const left = survivor(entry, forks.undoneFrom(next))
    if (left) found.push({ entry: left, seen: next === at.sequence ? (at.seen ?? 0) : 0 })
  }
  return { found, end }
}

/** Writes a random feed of forks, gaps, and blocks with and without events. */
async function writeRandomly(reader: string, seed: number, steps: number): Promise<void> {
  const random = createRandom(seed)
  const written = await openFeed(reader)
  await written.arrive(100)
  for (let step = 0; step < steps; step++) {
    const chance = random.fraction()
    if (chance < 0.15) await written.fork(Math.max(101, written.head - random.between(0, 6)))
    else if (chance < 0.2) await written.arrive(written.head + random.between(1, 5))
    else await written.block(random.between(0, 3))
  }
}

describe('a client that resumes', () => {
  it.each([1, 2])(
    'a client that resumes with a cursor gets the events of a client that stayed connected, seed %i',
    async (seed) => {
      const reader = `random-${seed}`
      await writeRandomly(reader, seed, 45)
      const entries = await readEntries(feed.query, reader)
      const faithful = new Listener()
      for (const entry of entries) faithful.take(entry)
      expect(new Set(entries.map(({ kind }) => kind)).size).toBe(3)

      const before: FeedEntry[] = []
      for (const entry of entries) {
        const places = entry.kind === 'block' ? [...entry.events.keys(), null] : [null]
        for (const seen of places) {
          const returning = new Listener()
          for (const earlier of before) returning.take(earlier)
          returning.take(entry, 0, seen ?? Infinity)
          const cursor = decodeCursor(encodeCursor(cursorAfter(entry, seen)))
          const { found, end } = await missed(cursor)
          for (const { entry: missing, seen: from } of found) returning.take(missing, from)
          expect(returning.state).toEqual(faithful.state)
          // The missed entries contain at most one fork, which comes first.
          expect(found.slice(1).map((item) => item.entry.kind)).not.toContain('fork')
          expect(end).toMatchObject({ seen: null, sequence: BigInt(entries.at(-1)!.sequence) })
        }
        before.push(entry)
      }
    },
  )

  it('a resuming client gets no event that was undone meanwhile, and no fork of blocks that it had not received', async () => {
    const written = await openFeed('spared')
    await written.arrive(10)
    await written.block(1)
    const [first] = await readEntries(feed.query, 'spared')
    await written.block(1)
    await written.block(1)
    await written.fork(12)
    await written.block(2)
    const { found } = await missed(cursorAfter(first!))
    expect(found.map(({ entry }) => [entry.kind, (entry as FeedBlock).block.num])).toEqual([['block', 12]])
  })

  it('a resuming client gets only the deepest fork, and its new cursor does not repeat the fork', async () => {
    const written = await openFeed('deepest')
    await written.arrive(10)
    for (let num = 11; num <= 15; num++) await written.block(1)
    const last = (await readEntries(feed.query, 'deepest')).at(-1)!
    await written.fork(14)
    await written.block(1)
    await written.fork(13)
    await written.block(1)
    await written.fork(16)
    const { found } = await missed(cursorAfter(last))
    expect(found.map(({ entry }) => entry)).toMatchObject([
      { kind: 'fork', block_num: 13 },
      { kind: 'block', block: { num: 13 } },
    ])
    const again = await missed(cursorAfter(found[0]!.entry))
    expect(again.found.map(({ entry }) => entry)).toEqual([found[1]!.entry])
  })
})

describe('an invalid cursor', () => {
  async function refusal(cursor: FeedCursor): Promise<FatalError> {
    const error = await missed(cursor).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(FatalError)
    expect(error).toMatchObject({ code: 'CURSOR_TOO_OLD' })
    return error as FatalError
  }

  it('a cursor to a pruned entry is refused, and the oldest entry is named', async () => {
    const written = await openFeed('pruned', 10)
    await written.arrive(10)
    await written.block(1)
    const [first] = await readEntries(feed.query, 'pruned')
    for (let num = 12; num <= 40; num++) await written.block(1)
    const kept = await readEntries(feed.query, 'pruned')
    expect(kept).toHaveLength(10)
    const { details } = await refusal(cursorAfter(first!))
    const { found } = await missed(decodeCursor(details.oldest as string))
    expect(found.map(({ entry }) => entry)).toEqual(kept)
    // A cursor may point to an event inside the oldest stored entry.
    expect((await missed(cursorAfter(kept[0]!, 0))).found).toHaveLength(10)
  })

  it('a cursor is refused if the reader was wiped, or if its sequence number now belongs to another entry', async () => {
    const written = await openFeed('wiped')
    await written.arrive(10)
    for (let num = 11; num <= 13; num++) await written.block(2)
    const entries = await readEntries(feed.query, 'wiped')
    const [, second, third] = entries as FeedBlock[]
    await refusal({ ...cursorAfter(third!), sequence: 9n })
    await refusal({ ...cursorAfter(second!, 1), block: 7 })
    await refusal({ ...cursorAfter(third!), epoch: third!.epoch - 1 })
    await refusal({ ...cursorAfter(third!), reader: 'nobody' })
    await written.wipe()
    for (const entry of entries) await refusal(cursorAfter(entry))
    const again = await openFeed('wiped')
    const newest = newestCursor('wiped', (await readFeedState(feed.query, 'wiped'))!)
    await again.arrive(12)
    await again.block(1)
    expect((await missed(newest)).found.map(({ entry }) => entry)).toMatchObject([
      { kind: 'gap', from_block: 1, to_block: 12 },
      { kind: 'block', block: { num: 13 } },
    ])
  })

  it.each([
    '',
    'x',
    'a'.repeat(600),
    encodeCursor(cursorOf('')),
    Buffer.from('1.2.3').toString('base64url'),
    'ä',
  ])('a malformed cursor is refused: %j', (text) => {
    expect(() => decodeCursor(text)).toThrow(expect.objectContaining({ code: 'CURSOR_INVALID' }))
  })
})

function cursorOf(reader: string): FeedCursor {
  return { reader, epoch: 1, sequence: 1n, seen: null, block: 1 }
}
