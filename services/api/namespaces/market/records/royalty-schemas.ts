import type { Members } from '../../../endpoint/index.ts'
import { shape } from '../../../endpoint/index.ts'
import { tokenMembers } from './listing-schemas.ts'

/** Subject of a payout, by code. */
export const listingTypes = ['unresolved', 'sale', 'auction', 'buyoffer', 'template_buyoffer'] as const
/** Which rule a payout comes from, by code from 1. */
export const categories = ['founders', 'template', 'attribute', 'dust'] as const

/** A royalty payout. */
export const payoutRecord = shape.record('Payout', 'A share of the collection fee of one trade', {
  market_contract: shape.text('Account of the market contract'),
  log_global_sequence: shape.decimal('Global sequence number of the log action'),
  payout_index: shape.integer('Place in the action'),
  listing_type: shape.choice('What was traded; unresolved = not known', listingTypes),
  listing_id: shape.nullable(shape.decimal('Its id')),
  category: shape.choice('Rule that the share comes from', categories),
  collection_name: shape.text('Collection'),
  asset_id: shape.nullable(shape.decimal('Asset')),
  template_id: shape.nullable(shape.decimal('Template of the rule')),
  rule_id: shape.nullable(shape.decimal('Attribute rule')),
  recipient: shape.text('Account that is paid'),
  amount: shape.decimal('Amount in units of the smallest decimal place'),
  ...tokenMembers,
  txid: { type: 'string', pattern: '^[0-9a-f]{64}$', description: 'Transaction' },
  created_at_block: shape.decimal('Block'),
  created_at_time: shape.time('Time of the block'),
})

/** What an account earned. */
export const royaltySumRecord = shape.record('RoyaltySum', 'What an account earned in one token', {
  ...tokenMembers,
  amount: shape.decimal('Sum'),
  payout_count: shape.decimal('Payouts'),
})

const shares = shape.list(
  shape.object({ recipient: shape.text('Account'), weight: shape.integer('Share') }),
  'Who shares, by weight',
)
const times: Members = {
  updated_at_block: shape.ofHistory(shape.decimal('Block of the last change')),
  updated_at_time: shape.ofHistory(shape.time('Time of the last change')),
  created_at_block: shape.ofHistory(shape.decimal('Block of creation')),
  created_at_time: shape.ofHistory(shape.time('Time of creation')),
}
const ofCollection: Members = {
  market_contract: shape.text('Account of the market contract'),
  collection_name: shape.text('Collection'),
}

/** How a collection splits its fee. */
export const royaltyConfigRecord = shape.record('RoyaltyConfig', 'How a collection splits its fee', {
  ...ofCollection,
  founders: shares,
  attribute_mode: shape.integer('0 attributes merged, 1 each source by itself'),
  split_founders: shape.decimal('Weight of the founders'),
  split_templates: shape.decimal('Weight of the template rules'),
  split_attributes: shape.decimal('Weight of the attribute rules'),
  ...times,
})

/** The rule of a template. */
export const royaltyTemplateRecord = shape.record('RoyaltyTemplateRule', 'Who shares for a template', {
  ...ofCollection,
  template_id: shape.decimal('Template'),
  recipients: shares,
  ...times,
})

/** The rule of an attribute. */
export const royaltyAttributeRecord = shape.record('RoyaltyAttributeRule', 'Who shares for an attribute', {
  ...ofCollection,
  rule_id: shape.decimal('Rule'),
  source: shape.integer(
    '0 merged, 1 asset immutable, 2 asset mutable, 3 template immutable, 4 template mutable',
  ),
  field: shape.text('Name of the attribute'),
  value: {
    type: 'array',
    items: shape.attributeValue,
    description: 'Type of the value in the ABI, then the value',
  },
  weight: shape.decimal('Weight of the rule'),
  recipients: shares,
  lookup_hash: { type: 'string', pattern: '^[0-9a-f]{64}$', description: 'Key of the rule on chain' },
  ...times,
})
