import { shape } from '../../../endpoint/index.ts'
import { declareRecord, field } from '../../../records/fields/index.ts'
import { collections, schemasOfAccount, templates } from '../../nft/records/index.ts'

/** An account of `/v1/accounts` or `/v1/burns`. */
export const accountCount = declareRecord(
  'AccountCount',
  'An account and how many assets it owns, or burned',
  {
    account: field.name('p.account', 'Account'),
    assets: field.decimal('p.assets', 'Matching assets'),
  },
)

const ofCollection = shape.object({
  collection: collections.schema,
  assets: shape.decimal('Assets of the collection'),
})

/** Holdings of one account. */
export const accountDetail = shape.record('AccountDetail', 'What an account owns', {
  collections: shape.list(ofCollection, 'Most first'),
  schemas: shape.list(
    shape.object({ schema: schemasOfAccount.schema, assets: shape.decimal('Assets of the schema') }),
    'Most first',
  ),
  templates: shape.list(
    shape.object({
      template: templates.schema,
      template_id: shape.decimal('Template'),
      collection_name: shape.text('Collection'),
      assets: shape.decimal('Assets of the template'),
    }),
    'Most first; assets without a template have no entry',
  ),
  assets: shape.decimal('All assets'),
})

/** Holdings of one account in a collection. */
export const accountCollectionRecord = shape.record(
  'AccountCollection',
  'What an account owns of a collection',
  {
    schemas: shape.list(
      shape.object({ schema_name: shape.text('Schema'), assets: shape.decimal('Assets') }),
      'Most first',
    ),
    templates: shape.list(
      shape.object({
        template_id: shape.nullable(shape.decimal('Template; null for assets without one')),
        assets: shape.decimal('Assets'),
      }),
      'Most first',
    ),
  },
)

/** Burned assets of one account. */
export const burnDetail = shape.record('BurnDetail', 'What an account burned', {
  collections: shape.list(ofCollection, 'Most first'),
  templates: shape.list(
    shape.object({
      collection_name: shape.text('Collection'),
      template_id: shape.nullable(shape.decimal('Template; null for assets without one')),
      assets: shape.decimal('Assets'),
    }),
    'Most first',
  ),
  assets: shape.integer('All burned assets'),
})
