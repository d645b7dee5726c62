import type { RowCase } from './row-case.ts'
import { created, LARGE, unknownCreation, unknownUpdate, updated } from './row-case.ts'

const KEY = 'PUB_K1_6MRyAjQq8ud7hVNYcfnVPJqcVpscN5So8BhtHuGYqET5BoDq63'
const OLD_KEY = 'EOS6MRyAjQq8ud7hVNYcfnVPJqcVpscN5So8BhtHuGYqET5GDW5CV'

const pair = {
  pair_name: 'waxpusd',
  median: null,
  median_time: null,
  median_precision: 4,
  base_symbol: 'WAXP',
  base_precision: 8,
  base_type: 4,
  base_contract: 'eosio.token',
  quote_symbol: 'USD',
  quote_precision: 2,
  quote_type: 1,
  quote_contract: 'usdtoken',
  active: true,
  bounty_awarded: false,
  bounty_edited_by_custodians: true,
  proposer: 'proposer1',
  bounty_amount: '1.00000000 WAX',
  approving_custodians: ['custodian1'],
  approving_oracles: ['oracle1', 'oracle2'],
  ...unknownUpdate,
}
const link = {
  link_id: 71n,
  has_unknown_assets: false,
  creator: 'creator1',
  claimer: null,
  public_key: KEY,
  claimer_signature: null,
  memo: 'a gift',
  asset_ids: [1099511627776n, 1099511627777n],
  collection_names: [],
}

/** Cases for rows of the oracle contract and of the tools contract. */
export const otherCases: readonly RowCase[] = [
  {
    family: 'oracle',
    table: 'pairs',
    row: {
      active: true,
      bounty_awarded: false,
      bounty_edited_by_custodians: true,
      proposer: 'proposer1',
      name: 'waxpusd',
      bounty_amount: '1.00000000 WAX',
      approving_custodians: ['custodian1'],
      approving_oracles: ['oracle1', 'oracle2'],
      base_symbol: '8,WAXP',
      base_type: 4,
      base_contract: 'eosio.token',
      quote_symbol: '2,USD',
      quote_type: 1,
      quote_contract: 'usdtoken',
      quoted_precision: 4,
    },
    handled: { 'oracle.pairs': [pair] },
    verified: {
      key: ['waxpusd'],
      values: {
        active: true,
        bounty_awarded: false,
        bounty_edited_by_custodians: true,
        proposer: 'proposer1',
        bounty_amount: '1.00000000 WAX',
        approving_custodians: ['custodian1'],
        approving_oracles: ['oracle1', 'oracle2'],
        base_symbol: 'WAXP',
        base_precision: 8,
        base_type: 4,
        base_contract: 'eosio.token',
        quote_symbol: 'USD',
        quote_precision: 2,
        quote_type: 1,
        quote_contract: 'usdtoken',
        median_precision: 4,
      },
    },
  },
  {
    family: 'oracle',
    table: 'datapoints',
    scope: 'waxpusd',
    row: {
      id: 3,
      owner: 'oracle1',
      value: '18446744073709551615',
      median: LARGE,
      timestamp: '2026-11-20T09:55:34.500',
    },
    handled: {
      'oracle.datapoints': [
        {
          pair_name: 'waxpusd',
          id: 3n,
          value: 18446744073709551615n,
          median: BigInt(LARGE),
          point_time: 1795168534500n,
          owner: 'oracle1',
        },
      ],
    },
    verified: {
      key: ['waxpusd', '3'],
      values: {
        value: '18446744073709551615',
        median: LARGE,
        point_time: '1795168534500',
        owner: 'oracle1',
      },
    },
  },
  {
    family: 'tools',
    table: 'config',
    row: { version: '1.2.0', link_counter: '18446744073709551615', atomicassets_account: 'assets' },
    handled: {
      'tools.config': [
        {
          contract: 'tools',
          version: '1.2.0',
          assets_contract: 'assets',
          link_counter: 18446744073709551615n,
        },
      ],
    },
    verified: {
      key: ['tools'],
      values: { version: '1.2.0', assets_contract: 'assets', link_counter: '18446744073709551615' },
    },
  },
  {
    family: 'tools',
    table: 'links',
    row: {
      link_id: 71,
      creator: 'creator1',
      key: OLD_KEY,
      asset_ids: ['1099511627776', '1099511627777'],
      assets_transferred: true,
      memo: 'a gift',
    },
    actions: [
      [
        'lognewlink',
        {
          link_id: 71,
          creator: 'creator1',
          key: OLD_KEY,
          asset_ids: ['1099511627776', '1099511627777'],
          memo: 'a gift',
        },
      ],
      ['loglinkstart', { link_id: 71 }],
    ],
    handled: { 'tools.links': [{ ...link, ...created, ...updated, state: 1 }] },
    imported: { 'tools.links': [{ ...link, ...unknownCreation, ...unknownUpdate, state: 1 }] },
    verified: {
      key: ['71'],
      values: {
        creator: 'creator1',
        public_key: KEY,
        asset_ids: ['1099511627776', '1099511627777'],
        state: 1,
        memo: 'a gift',
      },
    },
  },
]
