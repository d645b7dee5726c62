/** Columns that nothing is compared with, and why: table, and its columns separated by spaces. */
export interface NotChecked {
  readonly reason: string
  readonly columns: Readonly<Record<string, string>>
}

const CREATED = 'created_at_time created_at_block'
const UPDATED = 'updated_at_time updated_at_block'
const BOTH = `${CREATED} ${UPDATED}`
const BLOCKS = 'first_seq block_time block_num tx_offsets txids'

/** Every column of the tables that digests are of which is neither compared with the chain nor recomputed. */
export const notChecked: readonly NotChecked[] = [
  {
    reason:
      'times and blocks of the past: the chain does not hold them, only contradictions between rows are found',
    columns: {
      'assets.assets': `minted_at_time transferred_at_time minted_at_block transferred_at_block minted_seq ${UPDATED}`,
      'assets.balances': UPDATED,
      'assets.blocks': BLOCKS,
      'assets.collections': CREATED,
      'assets.config': 'v2_since_block',
      'assets.offers': BOTH,
      'assets.schemas': CREATED,
      'assets.templates': CREATED,
      'market.auctions': BOTH,
      'market.balances': UPDATED,
      'market.blocks': BLOCKS,
      'market.bonus_fees': CREATED,
      'market.buyoffers': BOTH,
      'market.config': 'v2_since_block',
      'market.marketplaces': CREATED,
      'market.royalty_attributes': BOTH,
      'market.royalty_configs': BOTH,
      'market.royalty_templates': BOTH,
      'market.sales': BOTH,
      'market.template_buyoffers': BOTH,
      'oracle.pairs': UPDATED,
      'tools.blocks': BLOCKS,
      'tools.links': BOTH,
    },
  },
  {
    reason:
      'what actions of the past said: the chain does not hold it, only contradictions between rows are found',
    columns: {
      'assets.assets': 'minter',
      'assets.logs': 'seq subject action data packed',
      'assets.transfers': 'transfer_id memo',
      'market.auctions': 'starting_price',
      'oracle.pairs': 'median median_time',
      'market.bids': 'seq auction_id amount account',
      'market.logs': 'seq subject action data',
      'market.royalty_payouts':
        'seq payout_index category kind template_id listing_id asset_id rule_id amount paid_at_time token_symbol collection_name recipient',
      'tools.logs': 'seq subject action',
    },
  },
  {
    reason: 'what the reader itself decodes by: rows that were decoded wrongly differ from the chain',
    columns: {
      'chain.abis': 'account block_num abi',
      'chain.code_accounts': 'account since_block',
    },
  },
  {
    reason: 'the id of the chain: a node of another chain is refused, the other sources do not have it',
    columns: { 'chain.identity': 'chain_id' },
  },
  {
    reason: 'rows of the handler state: with --state, the other rows are compared with these',
    columns: {
      'state.links': 'account contract action since_block permission',
      'state.permissions': 'account permission since_block keys',
      'state.rows': 'account table_name scope primary_key since_block payer value',
    },
  },
]
