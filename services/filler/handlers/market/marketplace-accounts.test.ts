import type pg from 'pg'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { connectDatabase } from '../../../core/database/index.ts'
import { createTestDatabase } from '../../../../tests/setup/database.ts'
import type { TestDatabase } from '../../../../tests/setup/database.ts'
import type { RowSink } from '../../rows/operations.ts'
import { marketplaceAccounts, recheckParties } from './marketplace-accounts.ts'
import type { MarketplaceAccountRow, TradeRow } from './tables.ts'

let database: TestDatabase
let client: pg.Client
beforeAll(async () => {
  database = await createTestDatabase()
  client = await connectDatabase(database.address, { applicationName: 'test' })
})
beforeEach(() => client.query('TRUNCATE market.trades, market.party_stats, market.marketplace_accounts'))
afterAll(async () => {
  await client.end()
  await database.drop()
})

const trade = (time: number): TradeRow => ({
  ...{
    kind: 1,
    listing_id: BigInt(time),
    trade_time: BigInt(time),
    price: 10n,
    asset_id: 1n,
    template_id: 1,
  },
  ...{
    template_mint: 1,
    asset_count: 1,
    token_symbol: 'WAX',
    seller: 'ann',
    buyer: 'bob',
    asset_burned: false,
  },
  ...{ maker_marketplace: 'shop', taker_marketplace: 'mart', collection_name: 'cards', schema_name: 'odd' },
})

async function insert(table: string, row: object): Promise<void> {
  const json = JSON.stringify(row, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value))
  await client.query(`INSERT INTO ${table} SELECT * FROM json_populate_record(NULL::${table}, $1)`, [json])
}

/**
 * Writes and undoes trades in the given units; returns the first and last trade times of the seller and of the buyer.
 */
async function timesAfter(
  units: readonly { readonly added?: readonly number[]; readonly undone?: readonly number[] }[],
): Promise<unknown> {
  for (const { added = [], undone = [] } of units) {
    const keys: string[] = []
    const sink = { recheck: (_: unknown, key: string) => keys.push(key) } as unknown as RowSink
    for (const time of added) {
      await insert('market.trades', trade(time))
      recheckParties(trade(time), true, sink)
    }
    for (const time of undone) {
      await client.query('DELETE FROM market.trades WHERE trade_time = $1', [time])
      recheckParties(trade(time), false, sink)
    }
    await client.query(`TRUNCATE market.party_stats`)
    await client.query(`INSERT INTO market.party_stats
      SELECT token_symbol, maker_marketplace, seller, collection_name, count(*), sum(price), 0, 0 FROM market.trades GROUP BY 1, 2, 3, 4
      UNION ALL
      SELECT token_symbol, taker_marketplace, buyer, collection_name, 0, 0, count(*), sum(price) FROM market.trades GROUP BY 1, 2, 3, 4`)
    const { rows } = await client.query<MarketplaceAccountRow>(marketplaceAccounts.statement, [keys])
    await client.query('TRUNCATE market.marketplace_accounts')
    const kept: MarketplaceAccountRow[] = []
    const writer = {
      upsert: (_: unknown, row: MarketplaceAccountRow) => kept.push(row),
      remove: () => undefined,
    }
    marketplaceAccounts.apply(rows, writer as unknown as RowSink)
    for (const row of kept) await insert('market.marketplace_accounts', row)
  }
  const { rows } = await client.query(
    `SELECT account, first_sold, last_sold, first_bought, last_bought FROM market.marketplace_accounts ORDER BY account`,
  )
  return rows
}
const both = (first: bigint, last: bigint) => [
  { account: 'ann', first_sold: first, last_sold: last, first_bought: null, last_bought: null },
  { account: 'bob', first_sold: null, last_sold: null, first_bought: first, last_bought: last },
]

it.each([
  ['trades are added', [{ added: [20, 30] }, { added: [10, 40] }], both(10n, 40n)],
  ['a trade between others is undone', [{ added: [10, 20, 30] }, { undone: [20] }], both(10n, 30n)],
  ['the first trade is undone', [{ added: [10, 20, 30] }, { undone: [10] }], both(20n, 30n)],
  ['the last trade is undone', [{ added: [10, 20, 30] }, { undone: [30] }], both(10n, 20n)],
  ['trades are added and undone', [{ added: [10, 20] }, { added: [5, 40], undone: [5, 40] }], both(10n, 20n)],
  ['all trades are undone', [{ added: [10, 20] }, { undone: [10, 20] }], []],
])('a marketplace account has the times of its first and last trades when %s', async (_, units, expected) => {
  expect(await timesAfter(units)).toEqual(expected)
})
