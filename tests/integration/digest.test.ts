import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { connectDatabase } from '../../services/core/database/index.ts'
import type { DatabaseAddress } from '../../services/core/database/index.ts'
import { compareDigests } from '../../services/verify/index.ts'
import { createTestDatabase } from '../setup/database.ts'
import type { TestDatabase } from '../setup/database.ts'
import { digestOf } from '../../scripts/simulation/digests.ts'
import { indexUntil, startChain } from './index-chain.ts'
import type { TestChain } from './index-chain.ts'

const fork = join(import.meta.dirname, '../fixtures/recordings/fork')

let running: TestChain | null = null
const databases: TestDatabase[] = []

afterEach(async () => {
  await running?.chain.stop()
  running = null
  for (const database of databases.splice(0)) await database.drop()
})

/** Indexes a chain into a new database. */
async function index(
  chain: TestChain,
  until: number,
  settings: { db_group_blocks?: number } = {},
): Promise<DatabaseAddress> {
  const database = await createTestDatabase()
  databases.push(database)
  await indexUntil(chain, database.address, until, { settings })
  return database.address
}

async function change(address: DatabaseAddress, text: string): Promise<void> {
  const client = await connectDatabase(address, { applicationName: 'test' })
  await client.query(text)
  await client.end()
}

describe('digests of databases', () => {
  it('a database has the same digest with one block per transaction, with 500 blocks per transaction, and after live blocks with forks', async () => {
    running = await startChain({ recordings: [fork], replay: 'history' })
    const single = await digestOf(await index(running, 403, { db_group_blocks: 1 }))
    const many = await digestOf(await index(running, 403, { db_group_blocks: 500 }))
    await running.chain.stop()
    running = await startChain({ recordings: [fork], replay: 'recorded' })
    const lived = await digestOf(await index(running, 403))
    expect(compareDigests(single, many)).toEqual([])
    expect(compareDigests(single, lived)).toEqual([])
    expect(many.digest).toBe(single.digest)
    expect(lived.digest).toBe(single.digest)
    expect(lived.positions).toEqual(single.positions)
    const filled = single.tables.filter(({ rows }) => rows > 0n)
    expect(filled.length).toBeGreaterThan(20)
  })

  it('digests do not depend on session settings, collation, column order, row order or generated columns', async () => {
    const database = await createTestDatabase()
    databases.push(database)
    const client = await connectDatabase(database.address, {
      applicationName: 'test',
      settings: { extra_float_digits: '0', bytea_output: 'escape', TimeZone: 'Asia/Tokyo' },
    })
    const make = async (columns: string, values: string, more = '') => {
      await client.query(
        `DROP TABLE IF EXISTS sample; CREATE TABLE sample (${columns}); ${more}; INSERT INTO sample ${values}`,
      )
      const { rows } = await client.query("SELECT row_count, digest FROM chain.digest('sample')")
      return rows[0] as unknown
    }
    const plain = await make(
      'b text COLLATE "C", f double precision, n numeric, j jsonb, a text[], x bytea, i bigint, reader text',
      `VALUES ('é"', 0.1::float8 + 0.2::float8, 10.500, '{"b": 1.50, "a": [null, "\u00e9"]}', '{a,"b c",NULL}', '\\x00ff', -9223372036854775808, 'one'), (NULL, 'NaN', 1e20, NULL, '{}', '', 0, 'one')`,
    )
    const other = await make(
      'reader text, gone integer, x bytea, i bigint, a text[], j jsonb, n numeric, f double precision, b text',
      `VALUES ('two', '', 0, '{}', NULL, 100000000000000000000.00, 'NaN', NULL), ('two', '\\x00ff', -9223372036854775808, '{a,"b c",NULL}', '{"a": [null, "é"], "b": 1.50}', 10.5, 0.30000000000000004, 'é"')`,
      'ALTER TABLE sample DROP gone, ADD made bigint GENERATED ALWAYS AS (i / 2) STORED',
    )
    await client.end()
    expect(plain).toEqual({ row_count: 2n, digest: '4499ddd6f2010d053686687f26bcff06' })
    expect(other).toEqual(plain)
  })

  it('a changed value and duplicated rows change the digest of their table; an update to equal values does not', async () => {
    running = await startChain({ recordings: [fork], replay: 'history' })
    const address = await index(running, 403)
    const before = await digestOf(address)
    const differing = async (text: string) => {
      await change(address, text)
      return compareDigests(before, await digestOf(address))
    }
    await change(address, 'VACUUM FULL assets.assets')
    expect(await differing('UPDATE assets.assets SET owner = owner')).toEqual([])
    expect(
      await differing(
        'UPDATE assets.collections SET market_fee = market_fee + 1e-17 WHERE collection_name = (SELECT min(collection_name) FROM assets.collections WHERE market_fee < 0.06)',
      ),
    ).toEqual(['assets.collections'])
    expect(await differing('INSERT INTO assets.logs SELECT * FROM assets.logs ORDER BY seq LIMIT 2')).toEqual(
      ['assets.collections', 'assets.logs'],
    )
    expect(
      await differing(
        'UPDATE assets.assets SET ram_payer = NULL WHERE asset_id = (SELECT min(asset_id) FROM assets.assets WHERE ram_payer IS NOT NULL)',
      ),
    ).toEqual(['assets.assets', 'assets.collections', 'assets.logs'])
  })
})
