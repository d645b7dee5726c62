import { shape } from '../../../endpoint/index.ts'
import type { Json } from '../../../json/index.ts'
import { field, shapeOf } from '../../../records/fields/index.ts'
import { membersText, sharedRow } from '../../../records/fragments/index.ts'
import type { Fragment, FragmentKind } from '../../../records/fragments/index.ts'

const lastingFields = {
  collection_name: field.name('c.collection_name', 'Name, up to 13 characters'),
  name: field.nullable(field.text(`c.data ->> 'name'`, 'Shown name, from the attributes')),
  img: field.nullable(field.text(`c.data ->> 'img'`, 'Image, from the attributes')),
  author: field.name('c.author', 'Account that owns the collection'),
  allow_notify: field.flag('c.allow_notify', 'Accounts may be added to notify_accounts'),
  authorized_accounts: field.list(
    'to_json(c.authorized_accounts)',
    shape.text('Account'),
    'Accounts that may mint and edit',
  ),
  notify_accounts: field.list(
    'to_json(c.notify_accounts)',
    shape.text('Account'),
    'Accounts that are notified of events',
  ),
}
const fee = {
  market_fee: field.number('c.market_fee', 'Share of each sale that goes to the collection, 0 to 0.15'),
}
const created = {
  created_at_block: field.ofHistory(field.decimal('c.created_at_block', 'Block of creation')),
  created_at_time: field.ofHistory(field.time('c.created_at_time', 'Time of creation')),
}
const images = field.text(
  `c.data ->> 'images'`,
  'Further images, from the attributes: text that is itself JSON',
)

const lightFields = { ...lastingFields, ...created, images: field.nullable(images) }

/** The collection inside other records. */
export const lightCollection = shape.record(
  'LightCollection',
  'A collection, as other records contain it',
  shapeOf({ ...lightFields, ...fee }),
)

/** Members of a collection's own record, without the contract. */
export const collectionFields = {
  ...lastingFields,
  ...fee,
  ...created,
  data: field.attributes('c.data', 'Attributes'),
  new_author_name: field.nullable(
    field.name('w.new_author', 'Author to be, while a succession waits for acceptance'),
  ),
  new_author_date: field.nullable(field.time('w.acceptance_date * 1000', 'Earliest acceptance')),
}

/**
 * Fragment of a collection. Key: collection name. Texts: its members inside other records, without the fee, because
 * some records show the fee of an earlier time; and the current fee.
 */
const collectionFragment: FragmentKind = {
  name: 'collection',
  key: 'c.collection_name',
  version: 'c.xmin',
  texts: [membersText(lightFields), { columns: [fee.market_fee.sql], text: ([value]) => value! }],
  large: ['c.data'],
  from: (keys) => `FROM assets.collections c WHERE c.collection_name = ANY(${keys}::text[])`,
  maxBytes: 8 * 1024 * 1024,
}

/** Shared row: the collection of a record. */
export const collectionRow = sharedRow({
  ...{ kind: collectionFragment, table: 'assets.collections', alias: 'c', columns: ['collection_name'] },
})

/** A collection with its author swap, `w`, if any. */
export const COLLECTIONS = 'assets.collections c LEFT JOIN assets.author_swaps w USING (collection_name)'

/** Fragment of a collection's own record. Key: collection name. Text: its members, without `contract`. */
export const collectionRecordFragment: FragmentKind = {
  name: 'collection-record',
  key: 'c.collection_name',
  version: `concat(c.xmin, '/', w.xmin)`,
  texts: [membersText(collectionFields)],
  large: ['c.data'],
  from: (keys) => `FROM ${COLLECTIONS} WHERE c.collection_name = ANY(${keys}::text[])`,
  maxBytes: 8 * 1024 * 1024,
}

/**
 * The object of a collection inside other records.
 * @param shownFee the fee to show; default: the current one.
 */
export function collectionObject({ texts }: Fragment, shownFee?: string): Json {
  const [members, present] = texts
  return ['{', members!, `,"market_fee":${shownFee ?? present!}}`]
}
