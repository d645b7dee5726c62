import type { Members } from '../../../endpoint/index.ts'
import { shape } from '../../../endpoint/index.ts'
import { tokenMembers } from './token-fields.ts'

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
