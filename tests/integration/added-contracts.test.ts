import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { connectDatabase } from '../../services/core/database/index.ts'
import type { ReaderSettings } from '../../services/filler/index.ts'
import { createTestDatabase } from '../setup/database.ts'
import type { TestDatabase } from '../setup/database.ts'
import { indexUntil, startChain, testSettings } from './index-chain.ts'
import type { TestChain } from './index-chain.ts'

let history: TestChain
let database: TestDatabase

beforeAll(async () => {
  history = await startChain({ recordings: ['main', 'v2'] })
})

afterAll(() => history.chain.stop())

beforeEach(async () => {
  database = await createTestDatabase()
})

afterEach(() => database.drop())

const without = (...families: string[]): Partial<ReaderSettings> => ({
  contracts: testSettings.contracts.filter(({ handler }) => !families.includes(handler)),
})

const index = (block: number, settings: Partial<ReaderSettings> = {}) =>
  indexUntil(history, database.address, block, { settings })

it('a reader refuses a contract added after blocks were indexed, until start_block_override accepts the missing actions', async () => {
  await index(300, without('oracle', 'market', 'tools'))
  await expect(index(500)).rejects.toThrow(
    /handler oracle .* delphioracle in blocks 1 to 300 would be missing/,
  )
  // A second attempt is refused as well: the first refusal changed nothing in the database.
  await expect(index(500)).rejects.toMatchObject({ code: 'READER_SETTINGS_CHANGED' })

  await index(500, { start_block_override: true })
  const client = await connectDatabase(database.address, { applicationName: 'test' })
  const { rows } = await client.query<{ pair_name: string }>('SELECT pair_name FROM oracle.pairs')
  await client.end()
  expect(rows.map((row) => row.pair_name)).toContain('waxpusd')
  // The accepted gap is recorded, so later starts need no start_block_override.
  await index(600)
})

it('a reader refuses a contract for which earlier settings skipped some blocks, and accepts a contract that missed no block', async () => {
  await index(300)
  await index(300, without('tools'))
  await index(400)
  await index(500, without('tools'))
  await expect(index(600)).rejects.toThrow(
    /handler tools .* atomictoolsx in blocks 401 to 500 would be missing/,
  )
  await index(600, { delete_data: true })
  await index(700)
})
