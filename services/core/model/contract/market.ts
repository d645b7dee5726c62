import { parseSymbol } from '../../antelope/index.ts'
import { marketTables as tables } from '../tables/index.ts'
import {
  amount,
  amountPrecision,
  amountSymbol,
  big,
  bigs,
  bytesOf,
  childRows,
  contractTable,
  double,
  flag,
  int,
  isTrue,
  members,
  precision,
  quantities,
  scope,
  symbol,
  text,
} from './contract-table.ts'
import type { AnyInteger, ColumnReader } from './contract-table.ts'

/** Upper bound that the contract stores for a range of ids that has no end yet. */
const OPEN_END = 2n ** 64n - 1n

/** Columns that all kinds of listing have. */
const listing = {
  collection_name: text('collection_name'),
  collection_fee: double('collection_fee'),
  maker_marketplace: text('maker_marketplace'),
}
/** Reads the columns `price` and `token_symbol` from a quantity, such as `1.00000000 WAX`. */
const price = (field: string) => ({ price: amount(field), token_symbol: amountSymbol(field) })

const hasBid = (data: Readonly<Record<string, unknown>>) => data.current_bidder !== ''

interface CounterRange {
  readonly counter_name: string
  readonly start_id: AnyInteger
  readonly end_id: AnyInteger
}

/** Returns the first id range of each counter. The contract ignores further ranges of the same counter. */
function firstRanges(ranges: readonly CounterRange[]): readonly CounterRange[] {
  const counters = ranges.map((range) => range.counter_name)
  return ranges.filter((range, place) => counters.indexOf(range.counter_name) === place)
}

/**
 * Reads the attribute value of a royalty rule as JSON text. In the JSON, a 64-bit integer is text, and bytes are a list
 * of numbers.
 */
const variant: ColumnReader<string> = ({ data }) => {
  const [type, inner] = data.value as [string, unknown]
  const plain = ArrayBuffer.isView(inner) ? Array.from(inner as Uint8Array) : inner
  return JSON.stringify([type, plain], (_, value: unknown) =>
    typeof value === 'bigint' ? value.toString() : value,
  )
}

/** Tables of the market contract. */
export const marketContract = {
  config: contractTable(
    {
      family: 'market',
      name: 'config',
      children: [
        childRows(
          { name: 'tokens', by: [] },
          tables.tokens,
          ['place', 'token_symbol', 'token_precision', 'token_contract'],
          ({ data }) =>
            (data.supported_tokens as { token_symbol: string; token_contract: string }[]).map(
              ({ token_symbol, token_contract }, place) => ({
                place,
                token_symbol: parseSymbol(token_symbol).symbol,
                token_precision: parseSymbol(token_symbol).precision,
                token_contract,
              }),
            ),
        ),
        childRows(
          { name: 'symbol_pairs', by: [] },
          tables.symbolPairs,
          [
            'place',
            'listing_symbol',
            'listing_precision',
            'settlement_symbol',
            'settlement_precision',
            'pair_name',
            'invert_pair',
          ],
          ({ data }) =>
            (data.supported_symbol_pairs as Record<string, string>[]).map((pair, place) => ({
              place,
              listing_symbol: parseSymbol(pair.listing_symbol!).symbol,
              listing_precision: parseSymbol(pair.listing_symbol!).precision,
              settlement_symbol: parseSymbol(pair.settlement_symbol!).symbol,
              settlement_precision: parseSymbol(pair.settlement_symbol!).precision,
              pair_name: pair.delphi_pair_name!,
              invert_pair: isTrue(pair.invert_delphi_pair),
            })),
        ),
      ],
    },
    tables.config,
    {
      contract: scope,
      version: text('version'),
      assets_contract: text('atomicassets_account'),
      oracle_contract: text('delphioracle_account'),
      sale_counter: big('sale_counter'),
      auction_counter: big('auction_counter'),
      minimum_bid_increase: double('minimum_bid_increase'),
      minimum_auction_duration: int('minimum_auction_duration'),
      maximum_auction_duration: int('maximum_auction_duration'),
      auction_reset_duration: int('auction_reset_duration'),
      maker_market_fee: double('maker_market_fee'),
      taker_market_fee: double('taker_market_fee'),
    },
  ),
  counters: contractTable({ family: 'market', name: 'counters', primary: 'counter_name' }, tables.counters, {
    counter_name: text('counter_name'),
    counter_value: big('counter_value'),
  }),
  marketplaces: contractTable(
    { family: 'market', name: 'marketplaces', primary: 'marketplace_name' },
    tables.marketplaces,
    { marketplace_name: text('marketplace_name'), creator: text('creator') },
  ),
  balances: contractTable(
    {
      family: 'market',
      name: 'balances',
      primary: 'owner',
      key: ['owner'],
      children: [
        childRows(
          { name: 'quantities', by: ['owner'] },
          tables.balances,
          ['token_symbol', 'amount'],
          ({ data }) => quantities(data.quantities),
        ),
      ],
    },
    tables.balances,
    { owner: text('owner') },
  ),
  bonusfees: contractTable(
    {
      family: 'market',
      name: 'bonusfees',
      primary: 'bonusfee_id',
      children: [
        childRows(
          { name: 'ranges', by: ['bonusfee_id'] },
          tables.bonusFeeRanges,
          ['counter_name', 'start_id', 'end_id'],
          ({ data }) =>
            firstRanges(data.counter_ranges as CounterRange[]).map(({ counter_name, start_id, end_id }) => ({
              counter_name,
              start_id: BigInt(start_id),
              end_id: BigInt(end_id) === OPEN_END ? null : BigInt(end_id),
            })),
        ),
      ],
    },
    tables.bonusFees,
    {
      bonusfee_id: big('bonusfee_id'),
      fee_recipient: text('fee_recipient'),
      fee: double('fee'),
      fee_name: text('fee_name'),
    },
  ),
  royaltyconf: contractTable(
    { family: 'market', name: 'royaltyconf', primary: 'collection' },
    tables.royaltyConfigs,
    {
      collection_name: text('collection'),
      founders: members('founders', 'recipient', 'weight'),
      attribute_mode: int('attribute_mode'),
      split_founders: int('split_founders'),
      split_templates: int('split_templates'),
      split_attributes: int('split_attributes'),
    },
  ),
  royaltytemp: contractTable(
    { family: 'market', name: 'royaltytemp', primary: 'template_id' },
    tables.royaltyTemplates,
    {
      collection_name: scope,
      template_id: int('template_id'),
      recipients: members('recipients', 'recipient', 'weight'),
    },
  ),
  royaltyattr: contractTable(
    { family: 'market', name: 'royaltyattr', primary: 'index' },
    tables.royaltyAttributes,
    {
      collection_name: scope,
      rule_id: big('index'),
      source: int('source'),
      field: text('field'),
      value: variant,
      weight: int('weight'),
      recipients: members('recipients', 'recipient', 'weight'),
      lookup_hash: ({ data }) => bytesOf(data.lookup_hash),
    },
  ),
  sales: contractTable({ family: 'market', name: 'sales', primary: 'sale_id' }, tables.sales, {
    sale_id: big('sale_id'),
    ...listing,
    seller: text('seller'),
    asset_ids: bigs('asset_ids'),
    // The contract stores a negative offer id until the seller has created the offer.
    offer_id: ({ data }) => (Number(data.offer_id) < 0 ? null : BigInt(data.offer_id as AnyInteger)),
    listing_price: amount('listing_price'),
    listing_symbol: amountSymbol('listing_price'),
    listing_precision: amountPrecision('listing_price'),
    settlement_symbol: symbol('settlement_symbol'),
    settlement_precision: precision('settlement_symbol'),
  }),
  auctions: contractTable({ family: 'market', name: 'auctions', primary: 'auction_id' }, tables.auctions, {
    auction_id: big('auction_id'),
    ...listing,
    ...price('current_bid'),
    seller: text('seller'),
    asset_ids: bigs('asset_ids'),
    end_time: int('end_time'),
    state: ({ data }) => (isTrue(data.assets_transferred) ? 1 : 0),
    buyer: ({ data }) => (hasBid(data) ? (data.current_bidder as string) : null),
    taker_marketplace: ({ data }) => (hasBid(data) ? (data.taker_marketplace as string) : null),
    claimed_by_seller: flag('claimed_by_seller'),
    claimed_by_buyer: flag('claimed_by_buyer'),
  }),
  buyoffers: contractTable(
    { family: 'market', name: 'buyoffers', primary: 'buyoffer_id' },
    tables.buyoffers,
    {
      buyoffer_id: big('buyoffer_id'),
      ...listing,
      ...price('price'),
      buyer: text('buyer'),
      seller: text('recipient'),
      asset_ids: bigs('asset_ids'),
      memo: text('memo'),
    },
  ),
  tbuyoffers: contractTable(
    { family: 'market', name: 'tbuyoffers', primary: 'buyoffer_id' },
    tables.templateBuyoffers,
    {
      buyoffer_id: big('buyoffer_id'),
      ...listing,
      ...price('price'),
      buyer: text('buyer'),
      template_id: int('template_id'),
    },
  ),
}
