import { describe, expect, it } from 'vitest'
import type { RowSink } from '../../rows/operations.ts'
import type { ActionEvent } from '../handler.ts'
import { createHandler } from '../index.ts'
import type { MarketState } from './state.ts'

/** A recorded sink operation: kind, table, columns. */
type Operation = readonly [string, string, Record<string, unknown>]

function recordingSink(): { readonly operations: Operation[]; readonly sink: RowSink } {
  const operations: Operation[] = []
  const note = (what: string, table: { name: string }, ...rows: object[]) => {
    operations.push([what, table.name, Object.assign({}, ...rows) as Record<string, unknown>])
  }
  const sink: RowSink = {
    insert: (table, row) => note('insert', table, row),
    upsert: (table, row) => note('upsert', table, row),
    patch: (table, key, changes) => note('patch', table, key, changes),
    remove: (table, key) => note('remove', table, key),
    replaceGroup: (table, group, rows) => note('replace', table, group, { rows }),
    add: (table, increments) => note('add', table, increments),
    append: (table, row) => note('append', table, row),
    version: (table, row) => note('version', table, row),
    end: (table, key) => note('end', table, key),
    forget: (table) => note('forget', table),
    recheck: ({ name }, key) => operations.push(['recheck', name, { key }]),
  }
  return { operations, sink }
}

const entries = [
  { handler: 'assets', args: { assets_account: 'assets' } },
  { handler: 'oracle', args: { oracle_account: 'oracle' } },
  { handler: 'market', args: { market_account: 'market', store_logs: true } },
]
const version1: MarketState = { v2SinceBlock: null, tokens: [], symbolPairs: [] }
const version2: MarketState = { ...version1, v2SinceBlock: 50 }

interface Row {
  readonly table: string
  readonly key: bigint
  readonly present: boolean
  readonly value: object
}

/** Runs one block of the market: actions as [name, data, ordinal, creator, transaction], then rows. */
function block(
  state: MarketState,
  actions: readonly (readonly [string, object, number?, number?, number?])[],
  rows: readonly Row[] = [],
  num = 100,
) {
  const { operations, sink } = recordingSink()
  const handler = createHandler(entries[2]!, entries)!
  const scope = handler.open({ num, timeMs: 1_000 }, state, sink, () => undefined)
  actions.forEach(([name, data, ordinal = 1, creatorOrdinal = 0, txIndex = 0], place) => {
    const event: ActionEvent = {
      seq: BigInt(place + 1),
      txIndex,
      txid: Buffer.alloc(32),
      ordinal,
      creatorOrdinal,
      name,
      data,
      packed: Buffer.alloc(0),
      actors: () => ['market'],
    }
    scope.action(event)
  })
  for (const { table, key, present, value } of rows)
    scope.row({ table, present, scope: () => 'market', primaryKey: () => key, value: () => value })
  return { operations, state: scope.end() as MarketState }
}

function changes(operations: readonly Operation[], table: string): Record<string, unknown>[] {
  return operations.filter(([what, name]) => what === 'patch' && name === table).map(([, , row]) => row)
}

/** Log rows of the recorded operations, in action order. */
function logsOf(operations: readonly Operation[]): Record<string, unknown>[] {
  const rows = operations.filter(([, table]) => table === 'market.logs').map(([, , row]) => row)
  return rows.sort((a, b) => Number((a.seq as bigint) - (b.seq as bigint)))
}

const purchase = {
  buyer: 'bob',
  sale_id: 7n,
  intended_delphi_median: 0n,
  taker_marketplace: 'shop',
}
const removed = (table: string, assets: number, claimed = {}): Row => ({
  table,
  key: 7n,
  present: false,
  value: {
    asset_ids: Array.from({ length: assets }, (_, i) => BigInt(i)),
    claimed_by_seller: false,
    claimed_by_buyer: false,
    ...claimed,
  },
})

describe('bundles from before version 2 of the market contract', () => {
  it.each([
    ['version 1 sells a bundle', version1, [2, 100], 3],
    ['version 2 dissolves a bundle', version2, [2, 100], 2],
    ['the block that starts version 2 sells a bundle', version2, [2, 50], 3],
    ['version 2 sells a single asset', version2, [1, 100], 3],
  ] as const)('a purchase from a sale of contract version 1: %s', (_, state, [assets, num], expected) => {
    const { operations } = block(state, [['purchasesale', purchase]], [removed('sales', assets)], num)
    expect(changes(operations, 'market.sales')).toMatchObject([{ sale_id: 7n, state: expected }])
  })

  it.each([
    ['a bid cancels the auction', 'auctionbid', {}, { state: 2 }],
    ['a claim by the seller cancels an unclaimed auction', 'auctclaimsel', {}, { state: 2 }],
    [
      'a claim by the seller settles an auction that the buyer has claimed',
      'auctclaimsel',
      { claimed_by_buyer: true },
      { claimed_by_seller: true },
    ],
    [
      'a claim by the buyer settles an auction that the seller has claimed',
      'auctclaimbuy',
      { claimed_by_seller: true },
      { claimed_by_buyer: true },
    ],
  ] as const)(
    'an auction of a bundle from before version 2 of the contract: %s',
    (_, action, claimed, expected) => {
      const data = { auction_id: 7n, bidder: 'bob', bid: '1.0000 TOK', taker_marketplace: '' }
      const { operations } = block(version2, [[action, data]], [removed('auctions', 2, claimed)])
      expect(changes(operations, 'market.auctions')).toMatchObject([{ auction_id: 7n, ...expected }])
      expect(operations.some(([what, table]) => what === 'append' && table === 'market.bids')).toBe(false)
    },
  )

  it('an accepted buy offer for a bundle from before version 2 of the contract counts as declined, and causes no warning', () => {
    const data = { buyoffer_id: 7n, taker_marketplace: 'shop' }
    const { operations } = block(version2, [['acceptbuyo', data]], [removed('buyoffers', 3)])
    expect(changes(operations, 'market.buyoffers')).toMatchObject([
      { buyoffer_id: 7n, state: 1, decline_memo: '' },
    ])
  })
})

describe('logs of the market handler', () => {
  it('the log of an action that cancels a bundle in version 2 of the contract stores the data of the action, because the row of the listing lacks the data', () => {
    const acceptance = { buyoffer_id: 7n, taker_marketplace: 'shop' }
    const { operations } = block(
      version2,
      [
        ['purchasesale', purchase],
        ['acceptbuyo', acceptance],
      ],
      [removed('sales', 2), removed('buyoffers', 3)],
    )
    expect(logsOf(operations).map(({ data }) => JSON.parse(data as string) as unknown)).toEqual([
      { taker_marketplace: 'shop', intended_delphi_median: '0' },
      { taker_marketplace: 'shop' },
    ])
  })

  it('logs of a purchase store no data, because the row of the listing has the data', () => {
    const acceptance = { buyoffer_id: 7n, taker_marketplace: 'shop' }
    const { operations } = block(version2, [
      ['purchasesale', purchase],
      ['acceptbuyo', acceptance],
    ])
    expect(logsOf(operations)).toMatchObject([
      { seq: 1n, subject: 7n, data: null },
      { seq: 2n, subject: 7n, data: null },
    ])
  })
})

describe('royalty payouts', () => {
  const payouts = [
    { recipient: 'alice', amount: '1.0000 TOK' },
    { recipient: 'carol', amount: '0.5000 TOK' },
  ]
  const found = { collection_name: 'cards', asset_id: 5n, payouts }
  const ledgerOf = (operations: readonly Operation[]) =>
    operations.filter(([, table]) => table === 'market.royalty_payouts').map(([, , row]) => row)

  it('royalty payouts belong to the listing whose action sent the payouts, also when a transaction settles several listings', () => {
    const { operations } = block(version2, [
      ['purchasesale', purchase, 1, 0],
      ['logroyfound', found, 3, 1],
      ['auctclaimsel', { auction_id: 9n }, 2, 0],
      ['logroytempl', { ...found, template_id: 4 }, 4, 2],
      ['logroydust', { collection_name: 'cards', collection_author: 'dan', amount: '0.0001 TOK' }, 5, 2],
    ])
    expect(ledgerOf(operations)).toMatchObject([
      { seq: 2n, payout_index: 0, category: 1, kind: 1, listing_id: 7n, recipient: 'alice', amount: 10_000n },
      { seq: 2n, payout_index: 1, category: 1, kind: 1, listing_id: 7n, recipient: 'carol', amount: 5_000n },
      { seq: 4n, payout_index: 0, category: 2, kind: 2, listing_id: 9n, template_id: 4 },
      { seq: 4n, payout_index: 1, category: 2, kind: 2, listing_id: 9n, template_id: 4 },
      { seq: 5n, payout_index: 0, category: 4, kind: 2, listing_id: 9n, asset_id: null, recipient: 'dan' },
    ])
    expect(logsOf(operations)).toMatchObject([
      { seq: 1n, action: 4, subject: 7n, data: null },
      { seq: 2n, action: 10, subject: 7n },
      { seq: 3n, action: 24, subject: 9n },
      { seq: 4n, action: 31, subject: 9n },
      { seq: 5n, action: 33, subject: 9n },
    ])
  })

  it('royalty payouts belong to the listing whose action is several inline levels above', () => {
    const { operations } = block(version2, [
      ['purchasesale', purchase, 1, 0],
      ['logroyfound', found, 2, 1],
      ['logroytempl', { ...found, template_id: 4 }, 3, 2],
    ])
    expect(ledgerOf(operations).map(({ seq, listing_id }) => [seq, listing_id])).toEqual([
      [2n, 7n],
      [2n, 7n],
      [3n, 7n],
      [3n, 7n],
    ])
  })

  it('royalty payouts do not belong to a listing that another transaction settles', () => {
    const { operations } = block(version2, [
      ['purchasesale', purchase, 1, 0, 0],
      ['logroyfound', found, 2, 1, 1],
    ])
    expect(ledgerOf(operations)).toMatchObject([
      { kind: 0, listing_id: null },
      { kind: 0, listing_id: null },
    ])
  })

  it('royalty payouts are stored without a listing when no settling action is found', () => {
    const { operations } = block(version2, [['logroyfound', found, 3, 2]])
    expect(ledgerOf(operations)).toMatchObject([
      { kind: 0, listing_id: null },
      { kind: 0, listing_id: null },
    ])
    expect(operations.some(([, table]) => table === 'market.logs')).toBe(false)
  })
})

const config = {
  version: '1.3.3',
  sale_counter: 0n,
  auction_counter: 0n,
  minimum_bid_increase: 0.1,
  minimum_auction_duration: 120,
  maximum_auction_duration: 2_592_000,
  auction_reset_duration: 120,
  supported_tokens: [{ token_contract: 'eosio.token', token_symbol: '8,WAX' }],
  supported_symbol_pairs: [],
  maker_market_fee: 0.01,
  taker_market_fee: 0.01,
  atomicassets_account: 'assets',
  delphioracle_account: 'oracle',
}
const configRow = (value: object): Row => ({ table: 'config', key: 1n, present: true, value })

describe('bonus fees', () => {
  const range = (counter_name: string, start_id: bigint, end_id = 2n ** 64n - 1n) => ({
    counter_name,
    start_id,
    end_id,
  })
  const rangesOf = (...counter_ranges: object[]) => {
    const value = { bonusfee_id: 3n, fee: 0.01, fee_recipient: 'dan', fee_name: 'x', counter_ranges }
    const { operations } = block(version1, [], [{ table: 'bonusfees', key: 3n, present: true, value }])
    return operations.find(([what, table]) => what === 'replace' && table === 'market.bonus_fee_ranges')![2]
  }

  it('a bonus fee has a range of listing ids for each counter, with the end NULL if the contract sets the maximum id', () => {
    expect(rangesOf(range('sale', 5n), range('auction', 1n, 9n))).toEqual({
      bonusfee_id: 3n,
      rows: [
        { bonusfee_id: 3n, counter_name: 'sale', start_id: 5n, end_id: null },
        { bonusfee_id: 3n, counter_name: 'auction', start_id: 1n, end_id: 9n },
      ],
    })
  })

  it('a bonus fee that lists a counter twice uses the first range of the counter, as the contract does', () => {
    const ranges = [range('sale', 5n, 9n), range('auction', 1n), range('sale', 20n), range('sale', 5n, 9n)]
    expect(rangesOf(...ranges)).toMatchObject({
      rows: [
        { counter_name: 'sale', start_id: 5n, end_id: 9n },
        { counter_name: 'auction', start_id: 1n, end_id: null },
      ],
    })
  })
})

describe('the configuration row of the market contract', () => {
  it('an upgrade of the market contract to version 2 stores the block of the upgrade, and recomputes the states of unclaimed bundle auctions', () => {
    const upgrade = block(version1, [], [configRow({ ...config, version: '2.0.0' })], 70)
    expect(upgrade.state.v2SinceBlock).toBe(70)
    expect(upgrade.operations).toContainEqual([
      'recheck',
      'unclaimed auctions of several assets when the market contract is upgraded to version 2',
      { key: 0n },
    ])
    const later = block(upgrade.state, [], [configRow({ ...config, version: '2.0.1' })], 90)
    expect(later.state.v2SinceBlock).toBe(70)
    expect(later.operations.some(([what]) => what === 'recheck')).toBe(false)
  })

  it('the configuration of a market drops a token that the contract no longer lists', () => {
    const { operations, state } = block({ ...version1, tokens: ['OLD', 'WAX'] }, [], [configRow(config)])
    expect(operations).toContainEqual(['remove', 'market.tokens', { token_symbol: 'OLD' }])
    expect(state.tokens).toEqual(['WAX'])
  })

  it.each([
    ['assets', { ...config, atomicassets_account: 'otherassets' }],
    ['oracle', { ...config, delphioracle_account: 'otheroracle' }],
  ])(
    'the reader stops if the market configuration names a different %s contract from the indexed one',
    (family, value) => {
      expect(() => block(version1, [], [configRow(value)])).toThrow(
        expect.objectContaining({
          code: 'READER_FAMILIES_DIFFER',
          message: expect.stringContaining(`${family} contract other${family}`) as string,
        }) as Error,
      )
    },
  )
})

describe('a market handler', () => {
  it.each([
    ['assets', [entries[1]!]],
    ['oracle', [entries[0]!]],
  ])('a market handler without an %s handler in its reader is refused', (family, others) => {
    expect(() => createHandler(entries[2]!, [...others, entries[2]!])).toThrow(
      `needs an ${family} handler in the same reader`,
    )
  })

  it('a market handler is refused if it names contracts that its reader does not index', () => {
    const market = { handler: 'market', args: { market_account: 'market', assets_account: 'otherassets' } }
    expect(() => createHandler(market, [entries[0]!, entries[1]!, market])).toThrow(
      'for contract otherassets',
    )
  })
})
