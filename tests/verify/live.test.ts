import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { connectDatabase } from '../../services/core/database/index.ts'
import { findFreePort } from '../../services/core/http/listener/index.ts'
import { indexUntil, startChain, testSettings } from '../integration/index-chain.ts'
import type { TestChain } from '../integration/index-chain.ts'
import { createBegunDatabase } from '../integration/indexed-database.ts'
import { PositionWatch } from '../integration/position.ts'
import { createRandom } from '../integration/seeded-random.ts'
import type { TestDatabase } from '../setup/database.ts'
import { rounds } from '../setup/rounds.ts'
import { broadMix, verifyOf } from './verify-of.ts'

/** Number of consecutive comparisons. VERIFY_ROUNDS overrides the default. */
const comparisons = Number(process.env.VERIFY_ROUNDS ?? rounds(1, 2))
/** Time between two blocks, ms; the default is the block time of a real chain. */
const intervalMs = Number(process.env.VERIFY_BLOCK_MS ?? 500)

/**
 * Maximum number of blocks that the chain may be ahead of the filler. On a slow machine the chain waits for the filler.
 */
const FARTHEST = 12
const LIB_LAG_BLOCKS = 20

let database: TestDatabase
let running: TestChain
let watch: PositionWatch
let ending: AbortController
let filler: Promise<void>
let stopping: AbortController
let producing: Promise<void>
let blocksMade = 0

/** Generates blocks at a steady rate. Every tenth block starts a fork. */
async function produce(signal: AbortSignal): Promise<void> {
  const random = createRandom(77)
  while (!signal.aborted) {
    running.chain.generate(1)
    blocksMade++
    if (random.fraction() < 0.1) {
      const depth = random.between(1, 8)
      running.chain.fork(depth, depth + random.between(0, 2))
    }
    await delay(intervalMs)
    const isNear = (position: { num: number } | null) =>
      (position?.num ?? 0) >= running.chain.head().num - FARTHEST
    if (!ending.signal.aborted) await watch.until(isNear, () => signal.aborted || ending.signal.aborted)
  }
}

beforeEach(async () => {
  database = await createBegunDatabase()
  running = await startChain({ blocks: 60, rate: 3, mix: broadMix, seed: 9, libLagBlocks: LIB_LAG_BLOCKS })
  ending = new AbortController()
  filler = indexUntil(running, database.address, 0, { signal: ending.signal })
  filler.catch(() => undefined)
  watch = await PositionWatch.open(database.address, testSettings.name)
  const head = running.chain.head().num
  await watch.until(
    (position) => (position?.num ?? 0) >= head,
    () => false,
  )
  stopping = new AbortController()
  producing = produce(stopping.signal)
  producing.catch(() => undefined)
})

afterEach(async () => {
  stopping.abort()
  await producing
  ending.abort()
  await filler
  await watch.close()
  await running.chain.stop()
  await database.drop()
})

it('while a filler follows a chain with forks, verify reports damaged rows only', async () => {
  const source = { kind: 'http', url: running.httpUrl } as const
  const first = running.chain.head().num
  let deferred = 0
  let seen = 0
  for (let round = 0; round < comparisons; round++) {
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
  const before = blocksMade
  const report = await verifyOf(database.address, source, { pollMs: 50 })
  expect(report.differences).toMatchObject([
    { table: 'market.marketplaces', kind: 'differs', columns: [{ column: 'creator', database: 'nobody' }] },
  ])
  // `verify` reports a difference only after it has lasted for ten blocks.
  expect(blocksMade - before).toBeGreaterThanOrEqual(10)
})

it('a stalled filler causes no difference: verify reports that it could not finish', async () => {
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

it('an unavailable node causes no difference: verify reports that it could not finish', async () => {
  const report = await verifyOf(database.address, {
    kind: 'http',
    url: `http://127.0.0.1:${await findFreePort()}`,
  })
  expect(report.differences).toEqual([])
  expect(report.unfinished).toContain('refuses connections')
})
