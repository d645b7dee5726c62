import type { Members } from '../../../endpoint/index.ts'
import { shape } from '../../../endpoint/index.ts'

const created: Members = {
  created_at_block: shape.ofHistory(shape.decimal('Block of creation')),
  created_at_time: shape.ofHistory(shape.time('Time of creation')),
}

const contract: Members = { contract: shape.text('Account of the contract') }

/** The attribute `name` of an asset or template. */
export const shownName = shape.nullable(
  shape.text('The attribute name; a number or a list as its text. Absent without such an attribute'),
)

const collectionMembers: Members = {
  collection_name: shape.text('Name, up to 13 characters'),
  name: shape.nullable(shape.text('Shown name, from the attributes')),
  img: shape.nullable(shape.text('Image, from the attributes')),
  author: shape.text('Account that owns the collection'),
  allow_notify: shape.flag('Accounts may be added to notify_accounts'),
  authorized_accounts: shape.list(shape.text('Account'), 'Accounts that may mint and edit'),
  notify_accounts: shape.list(shape.text('Account'), 'Accounts that are notified of events'),
  market_fee: shape.number('Share of each sale that goes to the collection, 0 to 0.15'),
  ...created,
}

/** The collection inside assets, schemas and templates. */
export const lightCollection = shape.record('LightCollection', 'A collection, as other records contain it', {
  ...collectionMembers,
  images: shape.nullable(shape.text('Further images, from the attributes: text that is itself JSON')),
})

/** A collection's own record. */
export const collectionRecord = shape.record('Collection', 'A collection', {
  ...contract,
  ...collectionMembers,
  data: shape.attributes('Attributes'),
  new_author_name: shape.nullable(shape.text('Author to be, while a succession waits for acceptance')),
  new_author_date: shape.nullable(shape.time('Earliest acceptance')),
})

const field = shape.record('SchemaField', 'A field of a schema', {
  name: shape.text('Name of the attribute'),
  type: shape.text('Type of the attribute, for example uint64, string, image[]'),
  mediatype: shape.nullable(shape.text('Media type, as authored or guessed by name and type')),
  info: shape.nullable(shape.text('Explanation by the author')),
})

/** The schema inside assets and templates. */
export const lightSchema = shape.record('LightSchema', 'A schema, as other records contain it', {
  schema_name: shape.text('Name within the collection'),
  format: shape.list(field, 'Fields in order'),
  ...created,
})

/** A schema's own record. */
export const schemaRecord = shape.extend(
  lightSchema,
  'Schema',
  'A schema: which attributes assets of a kind have',
  {
    ...contract,
    types: shape.list(
      shape.object({
        name: shape.text('Name of the attribute'),
        mediatype: shape.text('Media type'),
        info: shape.text('Explanation'),
      }),
      'Descriptions of fields as stored on chain',
    ),
    collection: lightCollection,
    assets: shape.integer('Assets ever minted, burned ones included'),
  },
)

/** The schema inside what an account owns. */
export const schemaOfAccount = shape.omit(schemaRecord, 'AccountSchema', 'A schema, as accounts list it', [
  'types',
  'assets',
])

const templateMembers: Members = {
  template_id: shape.decimal('Template'),
  max_supply: shape.decimal('Greatest number of assets; 0 = unlimited'),
  issued_supply: shape.decimal('Assets minted so far; burning does not lower it'),
  is_transferable: shape.flag('Assets can be transferred'),
  is_burnable: shape.flag('Assets can be burned'),
  immutable_data: shape.attributes('Attributes that never change'),
  mutable_data: shape.attributes('Attributes that may change'),
  data: shape.attributes('Mutable data, overlaid by immutable data'),
  ...created,
  deleted_at_time: shape.nullable(shape.time('Time of deletion')),
  deleted_at_block: shape.nullable(shape.decimal('Block of deletion')),
}

/** The template inside assets. */
export const lightTemplate = shape.record(
  'LightTemplate',
  'A template, as assets contain it',
  templateMembers,
)

/** A template's own record. */
export const templateRecord = shape.record('Template', 'A template: what many assets have in common', {
  ...contract,
  ...templateMembers,
  collection: lightCollection,
  schema: lightSchema,
  'name?': shownName,
})
