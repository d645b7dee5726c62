import { afterAll, beforeAll, expect, it } from 'vitest'
import type pg from 'pg'
import { connectDatabase } from '../../services/core/database/index.ts'
import { findDerivedViolations } from '../../services/core/derived/index.ts'
import { indexUntil, startChain, testSettings } from '../integration/index-chain.ts'
import type { TestChain } from '../integration/index-chain.ts'
import { createTestDatabase } from '../setup/database.ts'
import type { TestDatabase } from '../setup/database.ts'
import { broadChain } from './verify-of.ts'

/** The tests switch `store_transfers` and `store_logs` off and on again while a chain is indexed. */
let running: TestChain
let database: TestDatabase
let client: pg.Client
let head: number

beforeAll(async () => {
  running = await startChain(broadChain.chain)
  head = running.chain.head().num
  database = await createTestDatabase()
  client = await connectDatabase(database.address, { applicationName: 'test' })
})

afterAll(async () => {
  await client.end()
  await running.chain.stop()
  await database.drop()
})

function contracts(stored: boolean) {
  return testSettings.contracts.map(({ handler, args }) => ({
    handler,
    args: {
      ...args,
      ...('store_logs' in args ? { store_logs: stored } : {}),
      ...('store_transfers' in args ? { store_transfers: stored } : {}),
    },
  }))
}

const index = (block: number, stored: boolean): Promise<void> =>
  indexUntil(running, database.address, block, { settings: { contracts: contracts(stored) } })

async function broken(): Promise<string[]> {
  return (await findDerivedViolations(client, 5)).map(
    ({ rule, count, violations }) => `${rule}: ${count}: ${violations.join('; ')}`,
  )
}

async function leftOut(): Promise<string> {
  const { rows } = await client.query<{ blocks: string }>(
    "SELECT transfers_left_out::text AS blocks FROM chain.sources WHERE family = 'assets'",
  )
  return rows[0]!.blocks
}

it('verify reports a link that was created before its assets, unless another reader indexes the assets', async () => {
  await index(head - 160, true)
  await client.query('BEGIN')
  await client.query(
    "UPDATE tools.links SET has_unknown_assets = true, collection_names = '{}' WHERE link_id = (SELECT min(link_id) FROM tools.links)",
  )
  expect((await broken()).join()).toMatch(/the row of a claim link names the collections of its assets/)
  await client.query("UPDATE chain.sources SET reader = 'other' WHERE family = 'tools'")
  expect((await broken()).join()).not.toMatch(/the row of a claim link names the collections of its assets/)
  await client.query("UPDATE tools.links SET has_unknown_assets = false WHERE collection_names = '{}'")
  expect((await broken()).join()).toMatch(/the row of a claim link names the collections of its assets/)
  await client.query('ROLLBACK')
})

it('verify reports no broken rule for transfers and logs that a setting excludes from storing, and checks the stored transfers', async () => {
  const off = head - 160
  const on = head - 80
  await index(off, true)
  expect(await broken()).toEqual([])
  expect(await leftOut()).toBe('{}')

  await index(on, false)
  expect(await broken()).toEqual([])
  const open = await leftOut()
  expect(open).toMatch(/^\{\[\d+,\)\}$/)
  const from = Number(/\d+/.exec(open)![0])
  // The left-out range begins at the first reversible block: a fork would replace that block with one that is indexed
  // with the new settings.
  expect(from).toBeLessThanOrEqual(off)
  // A restart with unchanged settings does not change the recorded range of left-out blocks.
  await index(on, false)
  expect(await leftOut()).toBe(open)

  await index(head, true)
  expect(await broken()).toEqual([])
  expect(await leftOut()).toBe(`{[${from},${on + 1})}`)

  // Damage two transfers: the sender of the first one, before the left-out blocks, and the recipient of the last one,
  // after them.
  const { rows } = await client.query<{ first: bigint; last: bigint }>(
    'SELECT min(transfer_id) AS first, max(transfer_id) AS last FROM assets.transfers',
  )
  const { first, last } = rows[0]!
  for (const [column, id] of [
    ['sender', first],
    ['recipient', last],
  ] as const) {
    await client.query('BEGIN')
    await client.query(`UPDATE assets.transfers SET ${column} = 'wrong' WHERE transfer_id = $1`, [id])
    expect((await broken()).join(), column).toMatch(/the sender of each transfer of an asset received/)
    await client.query('ROLLBACK')
  }
})
