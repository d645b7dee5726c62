import { shape } from '../../../endpoint/index.ts'
import { declareRecord, field } from '../../../records/fields/index.ts'
import type { Field } from '../../../records/fields/index.ts'
import { tokenMembers } from './token-fields.ts'

/** The earnings of an account in one token. */
export const royaltySumRecord = shape.record('RoyaltySum', 'Sum that an account earned in one token', {
  ...tokenMembers,
  amount: shape.decimal('Sum'),
  payout_count: shape.decimal('Payouts'),
})

const shares = shape.object({
  recipient: shape.text('Account'),
  weight: shape.integer('Weight of the share'),
})
const sharesOf = (sql: string): Field =>
  field.list(sql, shares, 'Accounts that get a share, with their weights')

const times = {
  updated_at_block: field.ofHistory(field.decimal('r.updated_at_block', 'Block of the last change')),
  updated_at_time: field.ofHistory(field.time('r.updated_at_time', 'Time of the last change')),
  created_at_block: field.ofHistory(field.decimal('r.created_at_block', 'Block of creation')),
  created_at_time: field.ofHistory(field.time('r.created_at_time', 'Time of creation')),
}
const ofCollection = {
  market_contract: field.contract('market_contract', 'Account of the market contract'),
  collection_name: field.name('r.collection_name', 'Collection'),
}

/** Weights by which a collection splits its fee; `r` is the row of the collection. */
export const royaltyConfigRecord = declareRecord(
  'RoyaltyConfig',
  'Weights by which a collection splits its fee',
  {
    ...ofCollection,
    founders: sharesOf('r.founders'),
    attribute_mode: field.integer(
      'r.attribute_mode',
      '0: attributes of all sources are merged; 1: each source is looked up separately',
    ),
    split_founders: field.decimal('r.split_founders', 'Weight of the founders'),
    split_templates: field.decimal('r.split_templates', 'Weight of the template rules'),
    split_attributes: field.decimal('r.split_attributes', 'Weight of the attribute rules'),
    ...times,
  },
)

/** The royalty rule of a template. */
export const royaltyTemplateRecord = declareRecord(
  'RoyaltyTemplateRule',
  'Royalty recipients of a template',
  {
    ...ofCollection,
    template_id: field.decimal('r.template_id', 'Template'),
    recipients: sharesOf('r.recipients'),
    ...times,
  },
)

/** The royalty rule of an attribute. */
export const royaltyAttributeRecord = declareRecord(
  'RoyaltyAttributeRule',
  'Royalty recipients of an attribute',
  {
    ...ofCollection,
    rule_id: field.decimal('r.rule_id', 'Rule'),
    source: field.integer(
      'r.source',
      'Data in which the rule looks up the attribute: 0 all data merged, 1 immutable data of the asset, 2 mutable data of the asset, 3 immutable data of the template, 4 mutable data of the template',
    ),
    field: field.text('r.field', 'Name of the attribute'),
    value: field.json('r.value', {
      type: 'array',
      items: shape.attributeValue,
      description: 'Two items: the type of the value in the ABI, and the value',
    }),
    weight: field.decimal('r.weight', 'Weight of the rule'),
    recipients: sharesOf('r.recipients'),
    lookup_hash: {
      ...field.transaction('r.lookup_hash'),
      schema: { type: 'string', pattern: '^[0-9a-f]{64}$', description: 'Key of the rule on chain' },
    },
    ...times,
  },
)
