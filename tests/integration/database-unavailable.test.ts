import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { createTestDatabase } from '../setup/database.ts'
import type { TestDatabase } from '../setup/database.ts'
import { compareDumps, dumpDatabase } from './database-dump.ts'
import type { DatabaseDump } from './database-dump.ts'
import { DatabaseProxy } from './database-proxy.ts'
import { indexUntil, startChain, testSettings } from './index-chain.ts'
import type { TestChain } from './index-chain.ts'
import { createIndexedDatabase } from './indexed-database.ts'
import { PositionWatch } from './position.ts'
import { createRandom } from './seeded-random.ts'

/**
 * Last block with an action. When a reader of the `recorded` replay stops at this block, the block is still reversible,
 * so undo rows exist.
 */
const STOP_BLOCK = 329
const retry = { attempts: 8, firstMs: 20, longestMs: 200 }

const chain = {
  recordings: [join(import.meta.dirname, '../fixtures/recordings/fork')],
  replay: 'recorded',
} as const

let expected: DatabaseDump
let database: TestDatabase
let running: TestChain
let proxy: DatabaseProxy

beforeAll(async () => {
  const straight = await createIndexedDatabase({ chain, stopBlock: STOP_BLOCK })
  expected = await dumpDatabase(straight.address)
  await straight.drop()
})

beforeEach(async () => {
  database = await createTestDatabase()
  running = await startChain(chain)
  proxy = new DatabaseProxy(database.address)
  await proxy.open()
})

afterEach(async () => {
  await running.chain.stop()
  await proxy.close()
  await database.drop()
})

it('the reader loses no data if its database connections break at random points', async () => {
  const random = createRandom(6)
  let isDone = false
  const isOver = () => isDone
  const reading = indexUntil(running, proxy.address, STOP_BLOCK, {
    // Several connections in a row may be cut before their first commit.
    options: { retry: { ...retry, attempts: 30 } },
  }).finally(() => (isDone = true))
  reading.catch(() => undefined)
  let cuts = -1
  for (; !isDone; cuts++) {
    const { connections } = proxy
    // A cut after few bytes breaks a connection during its setup, a cut after many bytes breaks it after some commits.
    proxy.cutAfterBytes(random.fraction() ** 3 * 300_000)
    while (proxy.connections === connections && !isOver()) await delay(8)
  }
  await reading
  expect(cuts).toBeGreaterThan(10)
  expect(compareDumps(expected, await dumpDatabase(database.address))).toEqual([])
})

it('a reader continues at its position when the database is available again', async () => {
  const watch = await PositionWatch.open(database.address, testSettings.name)
  const reading = indexUntil(running, proxy.address, STOP_BLOCK, { options: { retry } })
  reading.catch(() => undefined)
  for (const block of [60, 240]) {
    await watch.until((position) => (position?.num ?? 0) >= block)
    await proxy.close()
    await delay(300)
    const before = await watch.read()
    await delay(100)
    expect(await watch.read()).toEqual(before)
    await proxy.open()
  }
  await watch.close()
  await reading
  expect(compareDumps(expected, await dumpDatabase(database.address))).toEqual([])
})

it('a reader stops with a clear error if the database stays unavailable', async () => {
  const watch = await PositionWatch.open(database.address, testSettings.name)
  const reading = indexUntil(running, proxy.address, STOP_BLOCK, { options: { retry } })
  reading.catch(() => undefined)
  await watch.until((position) => (position?.num ?? 0) >= 100)
  await watch.close()
  await proxy.close()
  await expect(reading).rejects.toMatchObject({ code: 'DATABASE_REFUSED', retryable: true })
})
