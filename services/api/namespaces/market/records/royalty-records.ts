import { declareKind } from '../../../records/index.ts'
import { field } from '../../../records/fields/index.ts'
import type { Field } from '../../../records/fields/index.ts'
import { shape } from '../../../endpoint/index.ts'
import { listingKinds } from '../lists/listing-table.ts'
import { tokenFields } from './token-fields.ts'

/** Names of the types of listing that a payout can belong to. Index: the code of the type. */
export const listingTypes = ['unresolved', ...listingKinds] as const
/** Names of the rules that give an account a share of a price; the code of the first is 1. */
export const categories = ['founders', 'template', 'attribute', 'dust'] as const

/**
 * Field that shows the name of a numeric code.
 * @param first code of the first name.
 */
function spelled(column: string, description: string, names: readonly string[], first: number): Field {
  const cases = names.map((name, index) => `WHEN ${index + first} THEN '"${name}"'`)
  return field.json(`CASE ${column} ${cases.join(' ')} END`, shape.choice(description, names))
}

/** Record type of royalty payouts. Key: `seq/payout_index`. */
export const payouts = declareKind({
  ...{ title: 'Payout', description: 'A share of the collection fee of one trade', keyType: 'text' },
  ...{ alias: 'l', key: 'p.k' },
  from: `market.royalty_payouts l JOIN market.tokens y USING (token_symbol)
    LEFT JOIN LATERAL market.origin_of(l.seq) x ON true`,
  where: `l.seq = split_part(p.k, '/', 1)::bigint AND l.payout_index = split_part(p.k, '/', 2)::smallint`,
  members: {
    market_contract: field.contract('market_contract', 'Account of the market contract'),
    log_global_sequence: field.decimal(
      'l.seq',
      'Global sequence number of the action that logged the payout',
    ),
    payout_index: field.integer('l.payout_index', 'Position of the payout in the action'),
    listing_type: spelled(
      'l.kind',
      'Type of the listing; unresolved if the type is not known',
      listingTypes,
      0,
    ),
    listing_id: field.nullable(field.decimal('l.listing_id', 'Id of the listing')),
    category: spelled('l.category', 'Rule by which the account gets the share', categories, 1),
    collection_name: field.name('l.collection_name', 'Collection'),
    asset_id: field.nullable(field.decimal('l.asset_id', 'Asset')),
    template_id: field.nullable(field.decimal('l.template_id', 'Template of the rule')),
    rule_id: field.nullable(field.decimal('l.rule_id', 'Attribute rule')),
    recipient: field.name('l.recipient', 'Account that is paid'),
    amount: field.decimal('l.amount', 'Amount in units of the smallest decimal place'),
    ...tokenFields,
    txid: field.transaction('x.txid'),
    created_at_block: field.decimal('x.block_num', 'Block'),
    created_at_time: field.time('x.block_time', 'Time of the block'),
  },
})
