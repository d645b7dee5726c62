import { shape } from '../../../endpoint/index.ts'
import { declareRecord, field } from '../../../records/fields/index.ts'
import { collections, schemasOfAccount, templates } from '../../nft/records/index.ts'

/** Record type of the lists `/v1/accounts` and `/v1/burns`. */
export const accountCount = declareRecord(
  'AccountCount',
  'An account, and the number of assets that the account owns or has burned',
  {
    account: field.name('p.account', 'Account'),
    assets: field.decimal('p.assets', 'Matching assets'),
  },
)

const ofCollection = shape.object({
  collection: collections.schema,
  assets: shape.decimal('Assets of the collection'),
})

/** JSON schema of the answer with the assets of one account. */
export const accountDetail = shape.record(
  'AccountDetail',
  'Number of assets that an account owns, by collection, schema and template',
  {
    collections: shape.list(ofCollection, 'Collections, those with the most assets first'),
    schemas: shape.list(
      shape.object({ schema: schemasOfAccount.schema, assets: shape.decimal('Assets of the schema') }),
      'Schemas, those with the most assets first',
    ),
    templates: shape.list(
      shape.object({
        template: templates.schema,
        template_id: shape.decimal('Template'),
        collection_name: shape.text('Collection'),
        assets: shape.decimal('Assets of the template'),
      }),
      'Templates, those with the most assets first; assets without a template have no entry',
    ),
    assets: shape.decimal('All assets'),
  },
)

/** JSON schema of the answer with the assets of one account in one collection. */
export const accountCollectionRecord = shape.record(
  'AccountCollection',
  'Number of assets of a collection that an account owns, by schema and template',
  {
    schemas: shape.list(
      shape.object({ schema_name: shape.text('Schema'), assets: shape.decimal('Assets') }),
      'Schemas, those with the most assets first',
    ),
    templates: shape.list(
      shape.object({
        template_id: shape.nullable(shape.decimal('Template; null for assets without a template')),
        assets: shape.decimal('Assets'),
      }),
      'Templates, those with the most assets first',
    ),
  },
)

/** JSON schema of the answer with the burned assets of one account. */
export const burnDetail = shape.record(
  'BurnDetail',
  'Number of assets that an account has burned, by collection and template',
  {
    collections: shape.list(ofCollection, 'Collections, those with the most assets first'),
    templates: shape.list(
      shape.object({
        collection_name: shape.text('Collection'),
        template_id: shape.nullable(shape.decimal('Template; null for assets without a template')),
        assets: shape.decimal('Assets'),
      }),
      'Templates, those with the most assets first',
    ),
    assets: shape.integer('All burned assets'),
  },
)
