import type { SourceChoice } from '../../services/verify/engine/verify-database.ts'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type pg from 'pg'
import { connectDatabase } from '../../services/core/database/index.ts'
import { findDerivedViolations } from '../../services/core/derived/index.ts'
import { repairDatabase } from '../../services/verify/index.ts'

import { startChain } from '../integration/index-chain.ts'
import type { TestChain } from '../integration/index-chain.ts'
import type { TestDatabase } from '../setup/database.ts'
import { broadChain, createBroadDatabase, verifyOf } from './verify-of.ts'

/** Each test deletes rows from a complete database by SQL. The chain produces no blocks meanwhile. */
let running: TestChain
let database: TestDatabase
let client: pg.Client

beforeAll(async () => {
  running = await startChain(broadChain.chain)
  database = await createBroadDatabase()
  client = await connectDatabase(database.address, { applicationName: 'test' })
})

afterAll(async () => {
  await client.end()
  await running.chain.stop()
  await database.drop()
})

const state: SourceChoice = { kind: 'state' }
const signal = new AbortController().signal

interface Listing {
  readonly table: string
  readonly key: string
  /** SQL conditions of listings that the chain still has. The test deletes one row for each condition. */
  readonly open: readonly string[]
}

const listings: readonly Listing[] = [
  {
    table: 'market.sales',
    key: 'sale_id',
    open: [
      'asset_count > 1 AND state IN (0, 1, 4)',
      'state = 0',
      'state = 1',
      'state = 4',
      'state = 1 AND listing_symbol <> settlement_symbol',
    ],
  },
  {
    table: 'market.auctions',
    key: 'auction_id',
    open: ['state = 0', 'state = 1 AND buyer IS NULL AND NOT claimed_by_seller'],
  },
  {
    table: 'market.auctions',
    key: 'auction_id',
    open: ['state = 1 AND buyer IS NOT NULL AND NOT (claimed_by_buyer AND claimed_by_seller)'],
  },
  { table: 'market.buyoffers', key: 'buyoffer_id', open: ['state = 0', 'state = 4'] },
  { table: 'market.template_buyoffers', key: 'buyoffer_id', open: ['state = 0'] },
  { table: 'tools.links', key: 'link_id', open: ['state = 0', 'state = 1'] },
]

it('verify names rows whose parent row in another table is missing', async () => {
  await client.query("INSERT INTO assets.backed_tokens (asset_id, token_symbol, amount) VALUES (7, 'WAX', 5)")
  await client.query(
    "INSERT INTO market.bonus_fee_ranges (bonusfee_id, counter_name, start_id) VALUES (9, 'sale', 1)",
  )
  const { derived } = await verifyOf(database.address, state)
  await client.query('DELETE FROM assets.backed_tokens WHERE asset_id = 7')
  await client.query('DELETE FROM market.bonus_fee_ranges WHERE bonusfee_id = 9')
  expect(derived?.flatMap(({ violations }) => violations).sort()).toEqual([
    'assets.backed_tokens 7',
    'market.bonus_fee_ranges 9',
  ])
})

const FIRST_BID_OF_MANY = `seq = (SELECT min(seq) FROM market.bids WHERE auction_id = (
  SELECT auction_id FROM market.bids GROUP BY auction_id HAVING count(*) > 1 ORDER BY auction_id LIMIT 1))`
const OFFER_OF_PURCHASE = 'offer_id = (SELECT min(offer_id) FROM market.sales WHERE state = 3)'
const ENDED_OFFER =
  'offer_id = (SELECT min(offer_id) FROM assets.offers WHERE state = 4 AND cardinality(sender_asset_ids) > 0)'
const TOKENS_OF_BURNED = `SELECT asset_id, token_symbol FROM assets.backed_tokens JOIN assets.assets a USING (asset_id)
  WHERE a.owner IS NULL ORDER BY 1, 2 LIMIT 1`
const LAST_TRANSFER_BLOCK = `SELECT max(b.block_num) FROM assets.blocks b
  WHERE b.first_seq <= (SELECT max(transfer_id) FROM assets.transfers)
    AND NOT EXISTS (SELECT FROM assets.assets a WHERE a.minted_at_block = b.block_num)`

/** Changes of rows that the chain does not hold any more, each with the rule that it breaks. */
const contradictions: readonly (readonly [rule: string, text: string])[] = [
  ...[
    `UPDATE assets.offers SET state = 4 WHERE ${OFFER_OF_PURCHASE}`,
    `UPDATE assets.offers SET sender = 'nobody' WHERE ${OFFER_OF_PURCHASE}`,
    `UPDATE assets.offers SET recipient = 'nobody' WHERE ${OFFER_OF_PURCHASE}`,
    `UPDATE assets.offers SET sender_asset_ids = sender_asset_ids || 1 WHERE ${OFFER_OF_PURCHASE}`,
    `UPDATE assets.offers SET updated_at_block = updated_at_block + 1 WHERE ${OFFER_OF_PURCHASE}`,
    "UPDATE market.sales SET seller = 'nobody' WHERE sale_id = (SELECT min(sale_id) FROM market.sales WHERE state = 2 AND offer_id IS NOT NULL)",
    'UPDATE market.sales SET offer_id = NULL WHERE sale_id = (SELECT min(sale_id) FROM market.sales WHERE state = 3)',
  ].map(
    (text) =>
      [
        'a sale and its offer have the same seller and assets, and a sale is sold in the block that accepts its offer',
        text,
      ] as const,
  ),
  ...[
    `DELETE FROM assets.backed_tokens WHERE (asset_id, token_symbol) = (${TOKENS_OF_BURNED})`,
    `UPDATE assets.backed_tokens SET amount = amount - 1 WHERE (asset_id, token_symbol) = (${TOKENS_OF_BURNED})`,
  ].map(
    (text) => ['an asset has at least as many backed tokens as its stored log entries added', text] as const,
  ),
  ...[
    `UPDATE assets.offers SET sender_asset_ids = '{5}', collection_names = '{}' WHERE ${ENDED_OFFER}`,
    `UPDATE assets.offers SET sender_asset_ids = sender_asset_ids || sender_asset_ids WHERE ${ENDED_OFFER}`,
  ].map((text) => ['an offer lists each asset once, and the collections of its assets', text] as const),
  [
    'the price of a sale is the paid price, or the asking price if no oracle is involved',
    'UPDATE market.sales SET intended_median = NULL WHERE sale_id = (SELECT min(sale_id) FROM market.sales WHERE state = 3 AND intended_median > 0)',
  ],
  [
    'the bids of an auction ascend, and its price is the last bid',
    `UPDATE market.bids SET amount = 1 WHERE ${FIRST_BID_OF_MANY}`,
  ],
  ...[
    'DELETE FROM market.royalty_payouts WHERE (seq, payout_index) = (SELECT min(seq), 0 FROM market.royalty_payouts WHERE payout_index = 1)',
    'UPDATE market.royalty_payouts SET payout_index = 7 WHERE (seq, payout_index) = (SELECT min(seq), 0 FROM market.royalty_payouts)',
  ].map(
    (text) =>
      [
        'each royalty payout belongs to a trade and to an asset of this trade, and the payouts of a trade are together at most 15 % of its price',
        text,
      ] as const,
  ),
  ...[
    `DELETE FROM assets.blocks WHERE block_num = (${LAST_TRANSFER_BLOCK})`,
    `UPDATE assets.assets SET (transferred_at_block, transferred_at_time) = (
       SELECT block_num, block_time FROM assets.blocks ORDER BY first_seq OFFSET 40 LIMIT 1)
     WHERE asset_id = (SELECT min(asset) FROM assets.transfers, unnest(asset_ids) asset)`,
  ].map(
    (text) =>
      [
        'the sender of each transfer of an asset received the asset in the previous transfer, and the owner is the last recipient',
        text,
      ] as const,
  ),
]

it.each(contradictions)(
  'verify reports the rule "%s" as broken after the statement %s',
  async (rule, text) => {
    await client.query('BEGIN')
    try {
      expect((await client.query(text)).rowCount).toBe(1)
      const broken = await findDerivedViolations(client, 5)
      expect(broken.map(({ rule }) => rule)).toContain(rule)
    } finally {
      await client.query('ROLLBACK')
    }
  },
)

it('verify names missing listings and links, and a repair does not create them', async () => {
  const deleted: (Listing & { readonly row: Record<string, unknown> })[] = []
  for (const listing of listings) {
    const { table, key } = listing
    for (const condition of listing.open) {
      const { rows } = await client.query<Record<string, unknown>>(
        `DELETE FROM ${table} WHERE ${key} = (SELECT min(${key}) FROM ${table} WHERE ${condition}) RETURNING *`,
      )
      expect(rows, `${table} ${condition}`).toHaveLength(1)
      deleted.push({ ...listing, row: rows[0]! })
    }
  }
  const { differences, derived } = await verifyOf(database.address, state)
  expect(derived?.map(({ rule }) => rule)).toEqual(
    expect.arrayContaining([
      ...listings.map(({ table, key }) => `${table} has every ${key} that the contract has given out`),
      'listing_counts counts listings by state and collection',
      'the bids of an auction ascend, and its price is the last bid',
    ]),
  )
  const named = differences.map(({ table, kind, key }) => `${table} ${kind} ${key}`)
  expect(named.sort()).toEqual(
    deleted.map(({ table, key, row }) => `${table} missing ${String(row[key])}`).sort(),
  )

  const { repairs, isWritten } = await repairDatabase(database.address, { source: state, signal })
  expect(repairs.filter(({ impossible }) => impossible === null)).toEqual([])
  expect(isWritten).toBe(false)
})

it('if an asset, offer or listing is active on the chain but ended in the database, verify reports a missing row, and a repair does not reopen it', async () => {
  const ended = [
    `UPDATE assets.assets SET owner = NULL, burned_at_block = 7, burned_at_time = 7, burned_by_account = owner
     WHERE asset_id = (SELECT min(asset_id) FROM assets.assets WHERE owner IS NOT NULL)`,
    'UPDATE assets.offers SET state = 3 WHERE offer_id = (SELECT min(offer_id) FROM assets.offers WHERE state = 0)',
    'UPDATE market.auctions SET state = 2 WHERE auction_id = (SELECT min(auction_id) FROM market.auctions WHERE state = 1 AND NOT claimed_by_buyer)',
    "UPDATE market.buyoffers SET state = 1, decline_memo = 'no' WHERE buyoffer_id = (SELECT min(buyoffer_id) FROM market.buyoffers WHERE state = 0)",
    'UPDATE market.template_buyoffers SET state = 1 WHERE buyoffer_id = (SELECT min(buyoffer_id) FROM market.template_buyoffers WHERE state = 0)',
    "UPDATE tools.links SET state = 3, claimer = 'nobody' WHERE link_id = (SELECT min(link_id) FROM tools.links WHERE state = 1)",
  ]
  for (const text of ended) expect((await client.query(text)).rowCount, text).toBe(1)
  const { differences } = await verifyOf(database.address, state)
  expect(differences.map(({ kind }) => kind)).toEqual(expect.arrayContaining(ended.map(() => 'missing')))
  const { repairs, isWritten } = await repairDatabase(database.address, { source: state, signal })
  expect(repairs.filter(({ impossible }) => impossible === null)).toEqual([])
  expect(isWritten).toBe(false)
})
