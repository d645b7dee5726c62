import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { expectedDecoder } from '../decode/abieos.ts'
import { createTestDatabase } from '../setup/database.ts'
import type { TestDatabase } from '../setup/database.ts'
import { keepingSettings, verifyOf } from '../verify/verify-of.ts'
import { indexUntil, startChain } from './index-chain.ts'
import type { TestChain } from './index-chain.ts'

const recordings = join(import.meta.dirname, '../fixtures/recordings')
const fork = join(recordings, 'fork')

let database: TestDatabase
let running: TestChain | null = null

beforeEach(async () => {
  database = await createTestDatabase()
})

afterEach(async () => {
  await running?.chain.stop()
  running = null
  await database.drop()
})

/** Compares the database with the tables recorded from the chain node, and with the rows of the recorded deltas. */
async function expectChainState(recording: string, labels: readonly string[]): Promise<void> {
  for (const source of [
    { kind: 'folder', path: join(recordings, recording, 'tables') },
    { kind: 'state' },
  ] as const) {
    const report = await verifyOf(database.address, source)
    expect(report.differences).toEqual([])
    expect(report.derived).toEqual([])
    expect(report).toMatchObject({ unfinished: null, notes: [] })
    expect(report.decoder).toMatch(expectedDecoder())
    const filled = report.tables.filter(({ rows }) => rows > 0).map(({ table }) => table)
    expect(filled).toEqual(expect.arrayContaining([...labels]))
    expect(report.tables.find(({ table }) => table === 'assets.assets')!.rows).toBeGreaterThan(50)
  }
}

const ofFork = [
  'assets.config',
  'assets.config (tokenconfigs)',
  'assets.balances',
  'assets.collections',
  'assets.schemas',
  'assets.templates',
  'assets.offers',
]
const ofMain = [
  ...ofFork,
  'market.config',
  'market.counters',
  'market.marketplaces',
  'market.balances',
  'market.bonus_fees',
  'market.sales',
  'market.auctions',
  'oracle.pairs',
  'oracle.datapoints',
]
const ofV2 = [...ofMain, 'assets.author_swaps', 'assets.schemas (types)', 'assets.templates (mutable data)']

describe.each(['history', 'recorded'] as const)(
  'recorded blocks of a real node, replayed as %s',
  (replay) => {
    it('indexing the recording "main" gives the tables of the recorded chain', async () => {
      running = await startChain({ recordings: ['main'], replay })
      await indexUntil(running, database.address, 846, { settings: keepingSettings })
      await expectChainState('main', ofMain)
    })

    it('indexing the recordings "main" and "v2" in sequence gives the tables of the recorded chain', async () => {
      running = await startChain({ recordings: ['main', 'v2'], replay })
      await indexUntil(running, database.address, 964, { settings: keepingSettings })
      await expectChainState('v2', ofV2)
    })
  },
)

it('indexing the recording "fork", which has three forks, gives the tables of the recorded chain', async () => {
  running = await startChain({ recordings: [fork], replay: 'recorded' })
  await indexUntil(running, database.address, 403, { settings: keepingSettings })
  await expectChainState('fork', ofFork)
})
