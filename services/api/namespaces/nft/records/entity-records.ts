import { declareKind } from '../../../records/index.ts'
import type { RowParts } from '../../../records/index.ts'
import { field, shapeOf } from '../../../records/fields/index.ts'
import type { Group } from '../../../records/fields/index.ts'
import { ownRow, sharedRow } from '../../../records/fragments/index.ts'
import {
  COLLECTIONS,
  collectionFields,
  collectionObject,
  collectionRecordFragment,
  collectionRow,
  lightCollection,
  nestedObjects,
  lightSchema,
  schemaFields,
  schemaRow,
  typesField,
  ownTemplateMembers,
  shownName,
  templateData,
  templateDataMember,
  templateMembers,
  templateRow,
} from './shared-rows.ts'
import { measureCollections, measureSchemas, measureTemplates } from './record-sizes.ts'

const contract = field.contract('contract', 'Account of the contract')

/**
 * Members whose JSON is a stored text of the record's first shared row.
 * @param text index of the text in the fragment.
 */
function ofFragment(members: Parameters<typeof shapeOf>[0], text = 0): Group<RowParts> {
  return { members: shapeOf(members), write: ({ shared }) => shared[0]!.texts[text]! }
}

/** Record type of collections. Key: collection name. */
export const collections = declareKind({
  ...{ title: 'Collection', description: 'A collection', keyType: 'text' },
  ...{ alias: 'c', key: 'c.collection_name', from: COLLECTIONS },
  members: { contract, own: ofFragment(collectionFields) },
  shared: [
    ownRow(
      sharedRow({
        ...{ kind: collectionRecordFragment, table: COLLECTIONS, alias: 'c', columns: ['collection_name'] },
      }),
    ),
  ],
  measure: measureCollections,
})

const collectionOfSchema: Group<RowParts> = {
  members: { collection: lightCollection },
  write: ({ shared }) => ['"collection":', collectionObject(shared[1]!)],
}

const schemaKind = {
  ...{ alias: 's', keyType: 'text', key: `concat(s.collection_name, '/', s.schema_name)` },
  from: 'assets.schemas s',
  where: `s.collection_name = split_part(p.k, '/', 1) AND s.schema_name = split_part(p.k, '/', 2)`,
  shared: [ownRow(schemaRow), collectionRow],
  measure: measureSchemas,
}

/** Record type of schemas. Key: `collection/schema`. */
export const schemas = declareKind({
  ...schemaKind,
  title: 'Schema',
  description: 'A schema: the attributes that its assets can have',
  members: {
    contract,
    own: ofFragment(schemaFields),
    types: ofFragment(typesField, 1),
    collection: collectionOfSchema,
    assets: field.integer(
      `coalesce((SELECT n.minted FROM assets.schema_counts n
        WHERE n.collection_name = s.collection_name AND n.schema_name = s.schema_name), 0)`,
      'Assets ever minted, burned ones included',
    ),
  },
})

/** Schemas as the record of an account's assets shows them. */
export const schemasOfAccount = declareKind({
  ...schemaKind,
  title: 'AccountSchema',
  description: 'A schema in the record of an account',
  members: { contract, own: ofFragment(schemaFields), collection: collectionOfSchema },
})

/** Record type of templates. Key: template id. */
export const templates = declareKind({
  ...{
    title: 'Template',
    description: 'A template: the data that its assets have in common',
    keyType: 'integer',
  },
  ...{ alias: 't', key: 't.template_id', from: 'assets.templates t' },
  members: {
    contract,
    own: { members: templateMembers, write: ({ shared }) => ownTemplateMembers(shared[0]!) },
    nested: {
      members: { collection: lightCollection, schema: lightSchema },
      write: ({ shared }) => nestedObjects(shared[1]!, shared[2]!),
    },
    data: {
      members: { ...templateDataMember, 'name?': shownName },
      write: ({ shared }) => templateData(shared[0]!),
    },
  },
  shared: [ownRow(templateRow), collectionRow, schemaRow],
  measure: measureTemplates,
})
