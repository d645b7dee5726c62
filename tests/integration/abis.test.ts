import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { normalizeAbiJson, parsePackedAbi } from '../../services/core/antelope/abi/index.ts'
import { connectDatabase } from '../../services/core/database/index.ts'
import { readRawAbi } from '../../services/core/chain-node/index.ts'
import { createLogger } from '../../services/core/log/index.ts'
import { createHandler } from '../../services/filler/handlers/index.ts'
import { BlockApplier } from '../../services/filler/pipeline/block-applier.ts'
import { createTestDatabase } from '../setup/database.ts'
import type { TestDatabase } from '../setup/database.ts'
import { compareDumps, dumpDatabase } from './database-dump.ts'
import { indexUntil, startChain, testSettings } from './index-chain.ts'
import type { TestChain } from './index-chain.ts'

const tables = join(import.meta.dirname, '../fixtures/recordings/v2/tables')

describe('stored state of all accounts', () => {
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

  it('the stored state has the same ABIs as the chain, for indexed contracts and for other accounts', async () => {
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

  it('the stored state has each ABI version from the block that set it: the assets contract was upgraded in block 863', async () => {
    const rows = await select<{ block_num: number }>(
      "SELECT block_num FROM chain.abis WHERE account = 'atomicassets' ORDER BY 1",
    )
    expect(rows.at(-1)).toEqual({ block_num: 863 })
    expect(rows.length).toBeGreaterThan(1)
  })

  it('the stored state records which accounts have code', async () => {
    const rows = await select<{ account: string }>(
      "SELECT account FROM chain.code_accounts WHERE account IN ('atomicassets', 'eosio', 'alice') ORDER BY 1",
    )
    expect(rows).toEqual([{ account: 'atomicassets' }, { account: 'eosio' }])
  })
})

describe('ABIs in a database of several readers', () => {
  let database: TestDatabase
  let running: TestChain
  let client: pg.Client
  beforeEach(async () => {
    database = await createTestDatabase()
    running = await startChain({ recordings: ['main', 'v2'], libLagBlocks: 0, blocks: 20, rate: 4, seed: 4 })
    client = await connectDatabase(database.address, { applicationName: 'test' })
  })
  afterEach(async () => {
    await client.end()
    await running.chain.stop()
    await database.drop()
  })

  /**
   * Settings of a reader of the given contract families. The chain has no HTTP interface, so the reader cannot request
   * ABIs that it lacks.
   */
  function readerOf(name: string, ...families: string[]) {
    const contracts = testSettings.contracts.filter(({ handler }) => families.includes(handler))
    const { chain, shipUrl } = running
    return {
      settings: { name, contracts },
      options: { chain: { chainId: chain.chainId, http: null, ship: [shipUrl] } },
    }
  }

  it('ABIs in a database of several readers stay when the reader that stored them last is deleted', async () => {
    const main = readerOf('main', 'assets', 'market', 'oracle')
    const links = readerOf('links', 'tools')
    await indexUntil(running, database.address, 970, main)
    await indexUntil(running, database.address, 975, links)
    await indexUntil(running, database.address, 5, {
      ...links,
      settings: { ...links.settings, delete_data: true },
    })
    const { rows } = await client.query(
      "SELECT block_num, reader FROM chain.abis WHERE account = 'atomicassets' ORDER BY 1",
    )
    expect(rows).toEqual([21, 863].map((num) => ({ block_num: num, reader: 'main' })))
    await indexUntil(running, database.address, running.chain.head().num, main)
  })

  it('ABIs that several readers store apply from their blocks on, independent of which reader is ahead', async () => {
    const main = readerOf('main', 'assets', 'market', 'oracle')
    const straight = await createTestDatabase()
    try {
      await indexUntil(running, straight.address, 700, main)
      await indexUntil(running, database.address, 500, main)
      const other = await readRawAbi(running.httpUrl, 'delphioracle')
      await client.query("INSERT INTO chain.abis VALUES ('atomicassets', 701, 'other', $1)", [other])
      await indexUntil(running, database.address, 700, main)
      const difference = compareDumps(
        await dumpDatabase(straight.address),
        await dumpDatabase(database.address),
      )
      expect(difference.filter((line) => !line.startsWith('chain.abis'))).toEqual([])
    } finally {
      await straight.drop()
    }
  })

  it('a reader that begins later uses ABIs stored by another reader; for a block before the oldest stored ABI, the oldest ABI is used', async () => {
    await indexUntil(running, database.address, 970, readerOf('links', 'tools'))
    const main = readerOf('main', 'assets')
    const settings = { ...main.settings, start_block: 400, delete_data: true }
    for (const oldest of [0, 800]) {
      await client.query('DELETE FROM chain.abis WHERE block_num < $1', [oldest])
      await indexUntil(running, database.address, 870, { ...main, settings })
      expect((await client.query('SELECT FROM assets.logs')).rowCount).toBeGreaterThan(0)
    }
  })

  it('ABIs that several readers store apply only to readers that have indexed the block of the ABI', async () => {
    const [assets] = testSettings.contracts
    const handler = createHandler(assets!, testSettings.contracts)!
    const logger = createLogger({ name: 'test', level: 'silent', pretty: false })
    const abi = await readRawAbi(running.httpUrl, 'atomicassets')
    const knowsAbi = async (name: string, block: number) => {
      const applier = new BlockApplier(name, [handler], [], logger)
      const query = async (text: string, values: readonly unknown[] = []) =>
        (await client.query(text, [...values])).rows as never
      await applier.reload(query, block, 0)
      return applier.accountsWithoutAbi.length === 0
    }
    await client.query("INSERT INTO chain.abis VALUES ('atomicassets', 10, 'ann', $1)", [abi])
    await client.query(`INSERT INTO chain.reversible_blocks VALUES
      ('ann', 10, NULL, 0, '\\x0a'), ('bob', 10, NULL, 0, '\\x0a'), ('eve', 10, NULL, 0, '\\x0b')`)
    expect(await knowsAbi('ann', 10)).toBe(true)
    expect(await knowsAbi('ann', 9)).toBe(false)
    expect(await knowsAbi('bob', 10)).toBe(true)
    expect(await knowsAbi('eve', 10)).toBe(false)
  })
})
