import { afterEach, beforeEach, expect, it } from 'vitest'
import { connectDatabase } from '../../services/core/database/index.ts'
import { indexUntil, startChain, testSettings } from '../integration/index-chain.ts'
import type { TestChain } from '../integration/index-chain.ts'
import { PositionWatch } from '../integration/position.ts'
import { createTestDatabase } from '../setup/database.ts'
import type { TestDatabase } from '../setup/database.ts'
import { broadMix, verifyOf } from './verify-of.ts'

/** Comparisons one after the other; VERIFY_ROUNDS for more. */
const rounds = Number(process.env.VERIFY_ROUNDS ?? 3)
/** Milliseconds between two blocks; VERIFY_BLOCK_MS=500 is a real chain's pace. */
const intervalMs = Number(process.env.VERIFY_BLOCK_MS ?? 200)

let database: TestDatabase
let running: TestChain
let ending: AbortController
let filler: Promise<void>

beforeEach(async () => {
  database = await createTestDatabase()
  running = await startChain({
    blocks: 150,
    rate: 8,
    mix: broadMix,
    seed: 9,
    forks: 0.1,
    libLagBlocks: 20,
    live: { intervalMs },
  })
  ending = new AbortController()
  filler = indexUntil(running, database.address, 0, { signal: ending.signal })
  filler.catch(() => undefined)
  const watch = await PositionWatch.open(database.address, testSettings.name)
  await watch.until(
    (position) => (position?.num ?? 0) >= running.chain.head().num - 5,
    () => false,
  )
  await watch.close()
})

afterEach(async () => {
  ending.abort()
  await filler
  await running.chain.stop()
  await database.drop()
})

it('beside a filler that follows a chain with forks nothing differs, but what was damaged', async () => {
  const source = { kind: 'http', url: running.httpUrl } as const
  const first = running.chain.head().num
  let deferred = 0
  let seen = 0
  for (let round = 0; round < rounds; round++) {
    const report = await verifyOf(database.address, source, { pollMs: 50 })
    expect(report).toMatchObject({ differences: [], derived: [], unfinished: null })
    for (const table of report.tables) {
      deferred += table.deferred
      seen += table.seen
    }
  }
  expect(seen).toBe(deferred)
  expect(running.chain.head().num).toBeGreaterThan(first)
  const client = await connectDatabase(database.address, { applicationName: 'test' })
  await client.query(
    "UPDATE market.marketplaces SET creator = 'nobody' WHERE marketplace_name = (SELECT max(marketplace_name) FROM market.marketplaces)",
  )
  await client.end()
  const before = running.chain.head().num
  const report = await verifyOf(database.address, source, { pollMs: 50 })
  expect(report.differences).toMatchObject([
    { table: 'market.marketplaces', kind: 'differs', columns: [{ column: 'creator', database: 'nobody' }] },
  ])
  // It stood for ten blocks first.
  expect(report.block!.num - before).toBeGreaterThanOrEqual(10 - 20 * 0.5)
  console.log(
    `verify beside a filler: ${rounds} rounds, ${first} to ${running.chain.head().num}, deferred ${deferred}, seen ${seen}`,
  )
})

it('a filler that stands still is no difference: it could not be finished', async () => {
  ending.abort()
  await filler
  const at = running.chain.head().num
  await expect.poll(() => running.chain.head().num).toBeGreaterThan(at + 3)
  const report = await verifyOf(
    database.address,
    { kind: 'http', url: running.httpUrl },
    { pollMs: 50, stallMs: 600, tables: ['assets.config'] },
  )
  expect(report.differences).toEqual([])
  expect(report.unfinished).toMatch(/no new block|database/)
})

it('a node that is away is no difference: it could not be finished', async () => {
  const report = await verifyOf(database.address, { kind: 'http', url: 'http://127.0.0.1:9' })
  expect(report.differences).toEqual([])
  expect(report.unfinished).toContain('does not answer')
})
