import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { connectDatabase } from '../../services/core/database/index.ts'
import { createTestDatabase } from '../setup/database.ts'
import type { TestDatabase } from '../setup/database.ts'
import { chainState, databaseState } from './chain-tables.ts'
import { indexUntil, startChain } from './index-chain.ts'
import type { TestChain } from './index-chain.ts'
import { chainMarketState, databaseMarketState } from './market-tables.ts'

const fork = join(import.meta.dirname, '../fixtures/recordings/fork')

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

/** Compares table by table, so that a difference names its table. */
async function expectChainState(recording: string): Promise<void> {
  const client = await connectDatabase(database.address, { applicationName: 'test' })
  const found = await databaseState(client)
  const foundMarket = await databaseMarketState(client)
  await client.end()
  const expected = chainState(recording)
  for (const table of Object.keys(expected))
    expect({ [table]: found[table] }).toEqual({ [table]: expected[table] })
  const expectedMarket = chainMarketState(recording)
  for (const table of Object.keys(expectedMarket))
    expect({ [table]: foundMarket[table] }).toEqual({ [table]: expectedMarket[table] })
  expect(found.assets!.length).toBeGreaterThan(50)
}

describe.each(['history', 'recorded'] as const)('what a real node sent, replayed as %s', (replay) => {
  it('main ends with the tables that the chain had', async () => {
    running = await startChain({ recordings: ['main'], replay })
    await indexUntil(running, database.address, 846)
    await expectChainState('main')
  })

  it('main and v2, one after the other, end with the tables that the chain had', async () => {
    running = await startChain({ recordings: ['main', 'v2'], replay })
    await indexUntil(running, database.address, 964)
    await expectChainState('v2')
  })
})

it('fork, with its three rewinds, ends with the tables that the chain had', async () => {
  running = await startChain({ recordings: [fork], replay: 'recorded' })
  await indexUntil(running, database.address, 403)
  await expectChainState('fork')
})
