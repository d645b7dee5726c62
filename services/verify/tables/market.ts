import { listingTables } from './listings.ts'
import { royaltyTables } from './royalties.ts'
import type { VerifiedTable } from './table.ts'
import {
  big,
  byName,
  byNumber,
  flag,
  float,
  freeText,
  freeTextColumn,
  id,
  int,
  onlyRow,
  plain,
  quantities,
  sortBy,
  symbolAs,
  text,
} from './values.ts'

/** End of a range of ids that still runs. */
const openEnd = (2n ** 64n - 1n).toString()

interface BonusRange {
  readonly counter_name: string
  readonly start_id: unknown
  readonly end_id: unknown
}

/** Tables of the market contract. */
export const marketTables: readonly VerifiedTable[] = [
  {
    name: 'market.config',
    family: 'market',
    contractTable: 'config',
    key: [{ name: 'contract', type: 'text' }],
    from: 'market.config t',
    columns: [
      plain('version', 'text'),
      plain('assets_contract', 'text'),
      plain('oracle_contract', 'text'),
      big('sale_counter'),
      big('auction_counter'),
      plain('minimum_bid_increase', 'double precision'),
      plain('minimum_auction_duration', 'bigint'),
      plain('maximum_auction_duration', 'bigint'),
      plain('auction_reset_duration', 'bigint'),
      plain('maker_market_fee', 'double precision'),
      plain('taker_market_fee', 'double precision'),
      {
        name: 'tokens',
        children: {
          table: 'market.tokens',
          by: [],
          columns: {
            place: 'integer',
            token_symbol: 'text',
            token_precision: 'integer',
            token_contract: 'text',
          },
        },
      },
      {
        name: 'symbol_pairs',
        children: {
          table: 'market.symbol_pairs',
          by: [],
          columns: {
            place: 'integer',
            listing_symbol: 'text',
            listing_precision: 'integer',
            settlement_symbol: 'text',
            settlement_precision: 'integer',
            pair_name: 'text',
            invert_pair: 'boolean',
          },
        },
      },
    ],
    expect: ({ scope, data }) => ({
      key: [scope],
      values: {
        version: text(data.version),
        assets_contract: text(data.atomicassets_account),
        oracle_contract: text(data.delphioracle_account),
        sale_counter: id(data.sale_counter),
        auction_counter: id(data.auction_counter),
        minimum_bid_increase: float(data.minimum_bid_increase),
        minimum_auction_duration: int(data.minimum_auction_duration),
        maximum_auction_duration: int(data.maximum_auction_duration),
        auction_reset_duration: int(data.auction_reset_duration),
        maker_market_fee: float(data.maker_market_fee),
        taker_market_fee: float(data.taker_market_fee),
        tokens: (data.supported_tokens as { token_symbol: string; token_contract: string }[]).map(
          (token, place) => ({
            place,
            ...symbolAs(token.token_symbol, 'token_symbol', 'token_precision'),
            token_contract: token.token_contract,
          }),
        ),
        symbol_pairs: (data.supported_symbol_pairs as Record<string, unknown>[]).map((pair, place) => ({
          place,
          ...symbolAs(pair.listing_symbol, 'listing_symbol', 'listing_precision'),
          ...symbolAs(pair.settlement_symbol, 'settlement_symbol', 'settlement_precision'),
          pair_name: text(pair.delphi_pair_name),
          invert_pair: flag(pair.invert_delphi_pair),
        })),
      },
    }),
    locate: onlyRow('config'),
  },
  {
    name: 'market.counters',
    family: 'market',
    contractTable: 'counters',
    key: [{ name: 'counter_name', type: 'text' }],
    from: 'market.counters t',
    columns: [{ name: 'counter_value', sql: 't.counter_value::text', type: 'numeric' }],
    expect: ({ data }) => ({
      key: [text(data.counter_name)],
      values: { counter_value: id(data.counter_value) },
    }),
    locate: byName,
  },
  {
    name: 'market.marketplaces',
    family: 'market',
    contractTable: 'marketplaces',
    key: [{ name: 'marketplace_name', type: 'text' }],
    from: 'market.marketplaces t',
    columns: [plain('creator', 'text')],
    expect: ({ data }) => ({
      key: [text(data.marketplace_name)],
      values: { creator: text(data.creator) },
    }),
    locate: byName,
  },
  {
    name: 'market.balances',
    family: 'market',
    contractTable: 'balances',
    key: [{ name: 'owner', type: 'text' }],
    from: '(SELECT DISTINCT owner FROM market.balances) t',
    columns: [
      {
        name: 'quantities',
        children: {
          table: 'market.balances',
          by: ['owner'],
          columns: { token_symbol: 'text', amount: 'bigint' },
          unique: 'token_symbol',
        },
      },
    ],
    expect: ({ data }) => ({
      key: [text(data.owner)],
      values: { quantities: quantities(data.quantities) },
    }),
    locate: byName,
  },
  {
    name: 'market.bonus_fees',
    family: 'market',
    contractTable: 'bonusfees',
    key: [{ name: 'bonusfee_id', type: 'bigint' }],
    from: 'market.bonus_fees t',
    columns: [
      plain('fee_recipient', 'text'),
      plain('fee', 'double precision'),
      freeTextColumn('fee_name'),
      {
        name: 'ranges',
        children: {
          table: 'market.bonus_fee_ranges',
          by: ['bonusfee_id'],
          columns: { counter_name: 'text', start_id: 'numeric', end_id: 'numeric' },
        },
      },
    ],
    expect: ({ data }) => ({
      key: [id(data.bonusfee_id)],
      values: {
        fee_recipient: text(data.fee_recipient),
        fee: float(data.fee),
        fee_name: freeText(data.fee_name),
        ranges: sortBy(
          effectiveRanges(data.counter_ranges as BonusRange[]).map(({ counter_name, start_id, end_id }) => ({
            counter_name,
            start_id: id(start_id),
            end_id: id(end_id) === openEnd ? null : id(end_id),
          })),
          (range) => range.counter_name,
        ),
      },
    }),
    locate: byNumber,
  },
  ...listingTables,
  ...royaltyTables,
]

/** Of the ranges of a counter the contract reads the first. */
function effectiveRanges(ranges: readonly BonusRange[]): BonusRange[] {
  const first = new Map<string, BonusRange>()
  for (const range of ranges) if (!first.has(range.counter_name)) first.set(range.counter_name, range)
  return [...first.values()]
}
