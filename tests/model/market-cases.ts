import { hexToBytes } from '../../services/core/bytes/index.ts'
import type { RowCase } from './row-case.ts'
import { block, created, LARGE, unknownCreation, unknownUpdate, updated } from './row-case.ts'

const dated = { ...created, ...updated }
const undated = { ...unknownCreation, ...unknownUpdate }

/** Listing columns that the store fills from other rows when it writes the listing. */
const assetsOf = (ids: readonly bigint[]) => ({
  template_id: null,
  min_mint: null,
  max_mint: null,
  asset_count: ids.length,
  schema_name: null,
  name: null,
  asset_names: null,
  asset_ids: ids,
  template_ids: null,
  schema_names: null,
  traits: [],
})
const listed = {
  collection_name: 'alicecollect',
  collection_fee: 0.06,
  maker_marketplace: 'maker1',
}
const bundle = ['1099511627776', '1099511627777']
const bundled = assetsOf([1099511627776n, 1099511627777n])
const token = { listing_symbol: '2,USD', settlement_symbol: '8,WAX' }
const shares = [
  { recipient: 'founder1', weight: 3 },
  { recipient: 'founder2', weight: 1 },
]
const SHARES = '[{"recipient":"founder1","weight":3},{"recipient":"founder2","weight":1}]'
const HASH = '00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff'

const config = {
  contract: 'market',
  version: '2.0.0',
  assets_contract: 'assets',
  oracle_contract: 'oracle',
  sale_counter: 91n,
  auction_counter: 92n,
  minimum_bid_increase: 0.1,
  minimum_auction_duration: 120,
  maximum_auction_duration: 2_592_000,
  auction_reset_duration: 121,
  maker_market_fee: 0.01,
  taker_market_fee: 0.02,
}
const tokens = [
  { token_symbol: 'WAX', place: 0, token_precision: 8, token_contract: 'eosio.token' },
  { token_symbol: 'KARMA', place: 1, token_precision: 4, token_contract: 'karmatoken' },
]
const symbolPair = {
  listing_symbol: 'USD',
  settlement_symbol: 'WAX',
  place: 0,
  listing_precision: 2,
  settlement_precision: 8,
  pair_name: 'waxpusd',
  invert_pair: true,
}
const sale = {
  sale_id: 51n,
  ...listed,
  ...bundled,
  taker_marketplace: null,
  seller: 'seller1',
  buyer: null,
  listing_price: 1234n,
  price: null,
  intended_median: null,
  listing_precision: 2,
  settlement_precision: 8,
  listing_symbol: 'USD',
  settlement_symbol: 'WAX',
}
const auction = {
  auction_id: 52n,
  ...listed,
  ...bundled,
  seller: 'seller2',
  token_symbol: 'WAX',
  end_time: 1_800_000_001,
}
const buyoffer = {
  buyoffer_id: 53n,
  ...listed,
  ...bundled,
  taker_marketplace: null,
  state: 0,
  seller: 'receiver3',
  buyer: 'buyer3',
  price: 300000000n,
  token_symbol: 'WAX',
  memo: 'please',
  decline_memo: null,
}
const templateBuyoffer = {
  buyoffer_id: 54n,
  ...listed,
  taker_marketplace: null,
  state: 0,
  seller: null,
  buyer: 'buyer4',
  price: 400000000n,
  token_symbol: 'WAX',
  template_id: 31,
  asset_id: null,
  mint: null,
  schema_name: null,
  name: null,
  traits: [],
}

/** Cases for rows of the market contract. */
export const marketCases: readonly RowCase[] = [
  {
    family: 'market',
    table: 'config',
    row: {
      version: '2.0.0',
      sale_counter: 91,
      auction_counter: 92,
      minimum_bid_increase: 0.1,
      minimum_auction_duration: 120,
      maximum_auction_duration: 2_592_000,
      auction_reset_duration: 121,
      supported_tokens: [
        { token_contract: 'eosio.token', token_symbol: '8,WAX' },
        { token_contract: 'karmatoken', token_symbol: '4,KARMA' },
      ],
      supported_symbol_pairs: [{ ...token, delphi_pair_name: 'waxpusd', invert_delphi_pair: true }],
      maker_market_fee: 0.01,
      taker_market_fee: 0.02,
      atomicassets_account: 'assets',
      delphioracle_account: 'oracle',
    },
    handled: {
      'market.config': [{ ...config, v2_since_block: block.num }],
      'market.tokens': tokens,
      'market.symbol_pairs': [symbolPair],
    },
    imported: {
      'market.config': [{ ...config, v2_since_block: 0 }],
      'market.tokens': tokens,
      'market.symbol_pairs': [symbolPair],
    },
    verified: {
      key: ['market'],
      values: {
        version: '2.0.0',
        assets_contract: 'assets',
        oracle_contract: 'oracle',
        sale_counter: '91',
        auction_counter: '92',
        minimum_bid_increase: 0.1,
        minimum_auction_duration: '120',
        maximum_auction_duration: '2592000',
        auction_reset_duration: '121',
        maker_market_fee: 0.01,
        taker_market_fee: 0.02,
        tokens,
        symbol_pairs: [symbolPair],
      },
    },
  },
  {
    family: 'market',
    table: 'counters',
    row: { counter_name: 'tbuyoffer', counter_value: '18446744073709551615' },
    handled: {
      'market.counters': [{ counter_name: 'tbuyoffer', counter_value: 18446744073709551615n }],
    },
    verified: { key: ['tbuyoffer'], values: { counter_value: '18446744073709551615' } },
  },
  {
    family: 'market',
    table: 'marketplaces',
    row: { marketplace_name: 'market.one', creator: 'creator1' },
    handled: { 'market.marketplaces': [{ marketplace_name: 'market.one', ...created, creator: 'creator1' }] },
    imported: {
      'market.marketplaces': [{ marketplace_name: 'market.one', ...unknownCreation, creator: 'creator1' }],
    },
    verified: { key: ['market.one'], values: { creator: 'creator1' } },
  },
  {
    family: 'market',
    table: 'balances',
    row: { owner: 'owner2', quantities: ['5.00000000 WAX'] },
    handled: {
      'market.balances': [{ owner: 'owner2', token_symbol: 'WAX', amount: 500000000n, ...updated }],
    },
    imported: {
      'market.balances': [{ owner: 'owner2', token_symbol: 'WAX', amount: 500000000n, ...unknownUpdate }],
    },
    verified: { key: ['owner2'], values: { quantities: [{ token_symbol: 'WAX', amount: '500000000' }] } },
  },
  {
    family: 'market',
    table: 'bonusfees',
    row: {
      bonusfee_id: 5,
      fee_recipient: 'bonus1',
      fee: 0.03,
      counter_ranges: [
        { counter_name: 'sale', start_id: 5, end_id: 9 },
        { counter_name: 'auction', start_id: 6, end_id: '18446744073709551615' },
        { counter_name: 'sale', start_id: 20, end_id: 21 },
      ],
      fee_name: 'spring',
    },
    handled: {
      'market.bonus_fees': [
        { bonusfee_id: 5n, ...created, fee: 0.03, fee_recipient: 'bonus1', fee_name: 'spring' },
      ],
      'market.bonus_fee_ranges': [
        { bonusfee_id: 5n, counter_name: 'sale', start_id: 5n, end_id: 9n },
        { bonusfee_id: 5n, counter_name: 'auction', start_id: 6n, end_id: null },
      ],
    },
    imported: {
      'market.bonus_fees': [
        { bonusfee_id: 5n, ...unknownCreation, fee: 0.03, fee_recipient: 'bonus1', fee_name: 'spring' },
      ],
      'market.bonus_fee_ranges': [
        { bonusfee_id: 5n, counter_name: 'sale', start_id: 5n, end_id: 9n },
        { bonusfee_id: 5n, counter_name: 'auction', start_id: 6n, end_id: null },
      ],
    },
    verified: {
      key: ['5'],
      values: {
        fee_recipient: 'bonus1',
        fee: 0.03,
        fee_name: 'spring',
        ranges: [
          { counter_name: 'auction', start_id: '6', end_id: null },
          { counter_name: 'sale', start_id: '5', end_id: '9' },
        ],
      },
    },
  },
  {
    family: 'market',
    table: 'sales',
    row: {
      sale_id: 51,
      seller: 'seller1',
      asset_ids: bundle,
      offer_id: 77,
      listing_price: '12.34 USD',
      settlement_symbol: '8,WAX',
      ...listed,
    },
    actions: [
      [
        'lognewsale',
        {
          sale_id: 51,
          seller: 'seller1',
          asset_ids: bundle,
          listing_price: '12.34 USD',
          settlement_symbol: '8,WAX',
          ...listed,
        },
      ],
      ['logsalestart', { sale_id: 51, offer_id: 77 }],
    ],
    handled: { 'market.sales': [{ ...sale, ...dated, offer_id: 77n, state: 1 }] },
    imported: { 'market.sales': [{ ...sale, ...undated, offer_id: 77n, state: 1 }] },
    verified: {
      key: ['51'],
      values: {
        seller: 'seller1',
        asset_ids: bundle,
        offer_id: '77',
        listing_price: '1234',
        listing_symbol: 'USD',
        listing_precision: 2,
        settlement_symbol: 'WAX',
        settlement_precision: 8,
        ...listed,
      },
    },
  },
  {
    family: 'market',
    table: 'auctions',
    primary: 52n,
    row: {
      auction_id: 52,
      seller: 'seller2',
      asset_ids: bundle,
      end_time: 1_800_000_001,
      assets_transferred: true,
      current_bid: '3.50000000 WAX',
      current_bidder: 'bidder2',
      claimed_by_seller: true,
      claimed_by_buyer: false,
      taker_marketplace: 'taker2',
      ...listed,
    },
    actions: [
      [
        'lognewauct',
        {
          auction_id: 52,
          seller: 'seller2',
          asset_ids: bundle,
          starting_bid: '2.00000000 WAX',
          duration: 3_600,
          end_time: 1_800_000_000,
          ...listed,
        },
      ],
      ['logauctstart', { auction_id: 52 }],
      [
        'auctionbid',
        { bidder: 'bidder2', auction_id: 52, bid: '3.50000000 WAX', taker_marketplace: 'taker2' },
      ],
      ['auctclaimsel', { auction_id: 52 }],
    ],
    handled: {
      'market.auctions': [
        {
          ...auction,
          ...dated,
          state: 1,
          taker_marketplace: 'taker2',
          buyer: 'bidder2',
          starting_price: 200000000n,
          price: 350000000n,
          claimed_by_seller: true,
          claimed_by_buyer: false,
        },
      ],
    },
    imported: {
      'market.auctions': [
        {
          ...auction,
          ...undated,
          state: 1,
          taker_marketplace: 'taker2',
          buyer: 'bidder2',
          starting_price: null,
          price: 350000000n,
          claimed_by_seller: true,
          claimed_by_buyer: false,
        },
      ],
    },
    verified: {
      key: ['52'],
      values: {
        seller: 'seller2',
        asset_ids: bundle,
        end_time: '1800000001',
        state: 1,
        price: '350000000',
        token_symbol: 'WAX',
        buyer: 'bidder2',
        claimed_by_seller: true,
        claimed_by_buyer: false,
        taker_marketplace: 'taker2',
        ...listed,
      },
    },
  },
  {
    family: 'market',
    table: 'buyoffers',
    row: {
      buyoffer_id: 53,
      buyer: 'buyer3',
      recipient: 'receiver3',
      price: '3.00000000 WAX',
      asset_ids: bundle,
      memo: 'please',
      ...listed,
    },
    actions: [
      [
        'lognewbuyo',
        {
          buyoffer_id: 53,
          buyer: 'buyer3',
          recipient: 'receiver3',
          price: '3.00000000 WAX',
          asset_ids: bundle,
          memo: 'please',
          ...listed,
        },
      ],
    ],
    handled: { 'market.buyoffers': [{ ...buyoffer, ...dated }] },
    imported: { 'market.buyoffers': [{ ...buyoffer, ...undated }] },
    verified: {
      key: ['53'],
      values: {
        buyer: 'buyer3',
        seller: 'receiver3',
        price: '300000000',
        token_symbol: 'WAX',
        asset_ids: bundle,
        memo: 'please',
        ...listed,
      },
    },
  },
  {
    family: 'market',
    table: 'tbuyoffers',
    row: { buyoffer_id: 54, buyer: 'buyer4', price: '4.00000000 WAX', template_id: 31, ...listed },
    actions: [
      [
        'lognewtbuyo',
        { buyoffer_id: 54, buyer: 'buyer4', price: '4.00000000 WAX', template_id: 31, ...listed },
      ],
    ],
    handled: { 'market.template_buyoffers': [{ ...templateBuyoffer, ...dated }] },
    imported: { 'market.template_buyoffers': [{ ...templateBuyoffer, ...undated }] },
    verified: {
      key: ['54'],
      values: { buyer: 'buyer4', price: '400000000', token_symbol: 'WAX', template_id: 31, ...listed },
    },
  },
  {
    family: 'market',
    table: 'royaltyconf',
    row: {
      collection: 'alicecollect',
      founders: shares,
      attribute_mode: 2,
      split_founders: 10,
      split_templates: 20,
      split_attributes: 30,
    },
    handled: {
      'market.royalty_configs': [
        {
          collection_name: 'alicecollect',
          ...dated,
          split_founders: 10,
          split_templates: 20,
          split_attributes: 30,
          attribute_mode: 2,
          founders: SHARES,
        },
      ],
    },
    imported: {
      'market.royalty_configs': [
        {
          collection_name: 'alicecollect',
          ...undated,
          split_founders: 10,
          split_templates: 20,
          split_attributes: 30,
          attribute_mode: 2,
          founders: SHARES,
        },
      ],
    },
    verified: {
      key: ['alicecollect'],
      values: {
        founders: shares,
        attribute_mode: 2,
        split_founders: '10',
        split_templates: '20',
        split_attributes: '30',
      },
    },
  },
  {
    family: 'market',
    table: 'royaltytemp',
    scope: 'alicecollect',
    row: { template_id: 31, recipients: shares },
    handled: {
      'market.royalty_templates': [
        { collection_name: 'alicecollect', template_id: 31, ...dated, recipients: SHARES },
      ],
    },
    imported: {
      'market.royalty_templates': [
        { collection_name: 'alicecollect', template_id: 31, ...undated, recipients: SHARES },
      ],
    },
    verified: { key: ['alicecollect', '31'], values: { recipients: shares } },
  },
  {
    family: 'market',
    table: 'royaltyattr',
    scope: 'alicecollect',
    row: {
      index: 61,
      source: 1,
      field: 'level',
      value: ['uint64', LARGE],
      weight: 8,
      recipients: shares,
      lookup_hash: HASH,
    },
    handled: {
      'market.royalty_attributes': [
        {
          collection_name: 'alicecollect',
          rule_id: 61n,
          ...dated,
          weight: 8,
          source: 1,
          field: 'level',
          value: `["uint64","${LARGE}"]`,
          recipients: SHARES,
          lookup_hash: hexToBytes(HASH),
        },
      ],
    },
    imported: {
      'market.royalty_attributes': [
        {
          collection_name: 'alicecollect',
          rule_id: 61n,
          ...undated,
          weight: 8,
          source: 1,
          field: 'level',
          value: `["uint64","${LARGE}"]`,
          recipients: SHARES,
          lookup_hash: hexToBytes(HASH),
        },
      ],
    },
    verified: {
      key: ['alicecollect', '61'],
      values: {
        source: 1,
        field: 'level',
        value: ['uint64', LARGE],
        weight: '8',
        recipients: shares,
        lookup_hash: HASH,
      },
    },
  },
]
