/** Oracle row of the pair that converts USD prices of sales. */
export const waxPrice = {
  active: true,
  bounty_awarded: true,
  bounty_edited_by_custodians: false,
  proposer: 'alice',
  name: 'waxpusd',
  bounty_amount: '0.00000000 WAX',
  approving_custodians: [],
  approving_oracles: [],
  base_symbol: '8,WAXP',
  base_type: 4,
  base_contract: '',
  quote_symbol: '2,USD',
  quote_type: 1,
  quote_contract: '',
  quoted_precision: 4n,
}

/** Configuration row of the market contract. */
export function marketConfig(version: string) {
  return {
    version,
    sale_counter: 0n,
    auction_counter: 0n,
    minimum_bid_increase: 0.1,
    minimum_auction_duration: 120,
    maximum_auction_duration: 2_592_000,
    auction_reset_duration: 120,
    supported_tokens: [{ token_contract: 'eosio.token', token_symbol: '8,WAX' }],
    supported_symbol_pairs: [
      {
        listing_symbol: '2,USD',
        settlement_symbol: '8,WAX',
        delphi_pair_name: 'waxpusd',
        invert_delphi_pair: false,
      },
    ],
    maker_market_fee: 0.01,
    taker_market_fee: 0.01,
    atomicassets_account: 'assets',
    delphioracle_account: 'oracle',
  }
}
