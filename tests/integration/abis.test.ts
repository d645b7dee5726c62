import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { normalizeAbiJson, parsePackedAbi } from '../../services/core/antelope/index.ts'
import { connectDatabase } from '../../services/core/database/index.ts'
import { createTestDatabase } from '../setup/database.ts'
import type { TestDatabase } from '../setup/database.ts'
import { indexUntil, startChain } from './index-chain.ts'

const tables = join(import.meta.dirname, '../fixtures/recordings/v2/tables')

describe('what is kept of all accounts', () => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await createTestDatabase()
    const running = await startChain({ recordings: ['main', 'v2'] })
    await indexUntil(running, database.address, 964)
    await running.chain.stop()
  })
  afterAll(() => database.drop())

  async function select<T extends object>(text: string, values: unknown[] = []): Promise<T[]> {
    const client = await connectDatabase(database.address, { applicationName: 'test' })
    const { rows } = await client.query<T>(text, values)
    await client.end()
    return rows
  }

  it('the stored state of accounts has the ABI that the chain has, for every account that has one, watched or not', async () => {
    for (const account of [
      'atomicassets',
      'eosio.token',
      'delphioracle',
      'atomicmarket',
      'fakeassets11',
      'karmatoken',
      'faketoken111',
    ]) {
      const [row] = await select<{ abi: Buffer }>(
        'SELECT abi FROM chain.abis WHERE account = $1 ORDER BY block_num DESC LIMIT 1',
        [account],
      )
      const file = JSON.parse(readFileSync(join(tables, `${account}.abi.json`), 'utf8')) as { abi?: unknown }
      const expected = normalizeAbiJson(file.abi ?? file)
      const found = parsePackedAbi(row!.abi)
      expect(found.structs, account).toEqual(expected.structs)
      expect(
        found.tables.map(({ name, type }) => ({ name, type })),
        account,
      ).toEqual(expected.tables.map(({ name, type }) => ({ name, type })))
      expect(
        found.actions.map(({ name, type }) => ({ name, type })),
        account,
      ).toEqual(expected.actions.map(({ name, type }) => ({ name, type })))
    }
  })

  it('the stored state of accounts has each version from the block that set it: the assets contract was upgraded in block 863', async () => {
    const rows = await select<{ block_num: number }>(
      "SELECT block_num FROM chain.abis WHERE account = 'atomicassets' ORDER BY 1",
    )
    expect(rows.at(-1)).toEqual({ block_num: 863 })
    expect(rows.length).toBeGreaterThan(1)
  })

  it('the stored state of accounts knows which accounts have code', async () => {
    const rows = await select<{ account: string }>(
      "SELECT account FROM chain.code_accounts WHERE account IN ('atomicassets', 'eosio', 'alice') ORDER BY 1",
    )
    expect(rows).toEqual([{ account: 'atomicassets' }, { account: 'eosio' }])
  })
})
