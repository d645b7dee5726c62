import { attributeMapToJson } from '../../core/antelope/attributes/index.ts'
import type { AttributePair } from '../../core/antelope/attributes/index.ts'
import { ASSETS_ACCOUNT } from './rows.ts'
import type { CollectionRow, SchemaRow, Template2Row, TemplateRow } from './rows.ts'
import { collectionOf, configOf, notifyCollection, putConfig, readRow, schemaOf } from './assets-shared.ts'
import { attributeMap, packAttributes, unpackAttributes } from './attributes.ts'
import type { FormatField } from './attributes.ts'
import type { ActionContext, ActionHandler } from '../runtime/index.ts'
import { nameValue } from '../runtime/index.ts'

interface TemplateData {
  readonly authorized_creator: string
  readonly collection_name: string
  readonly schema_name: string
  readonly transferable: boolean
  readonly burnable: boolean
  readonly max_supply: number
  readonly immutable_data: readonly AttributePair[]
  /** Mutable data of the template; only the action `createtempl2` has this field. */
  readonly mutable_data?: readonly AttributePair[]
}

interface TemplateEdit {
  readonly authorized_editor: string
  readonly collection_name: string
  readonly template_id: number
  readonly new_mutable_data: readonly AttributePair[]
}

/** Handlers of the actions on collections, schemas and templates. */
export const collectionActions: readonly [string, ActionHandler][] = [
  ['createcol', createCollection],
  ['setcoldata', setCollectionData],
  ['setmarketfee', (context) => patchCollection(context, ['market_fee'])],
  ['addnotifyacc', addNotifyAccount],
  ['createschema', createSchema],
  ['extendschema', extendSchema],
  ['createtempl', createTemplate],
  ['createtempl2', createTemplate],
  ['lognewtempl', (context) => notifyCollection(context, (context.data() as CollectionRow).collection_name)],
  ['locktemplate', lockTemplate],
  ['settempldata', setTemplateData],
  ['logsetdatatl', (context) => notifyCollection(context, (context.data() as CollectionRow).collection_name)],
  ['deltemplate', deleteTemplate],
]

function createCollection(context: ActionContext): void {
  const { data, ...row } = context.data() as CollectionRow & { data: AttributePair[] }
  const serialized = packAttributes(configOf(context).collection_format, attributeMapToJson(data))
  putCollection(context, { ...row, serialized_data: serialized })
}

function setCollectionData(context: ActionContext): void {
  const { collection_name: name, data } = context.data() as { collection_name: string; data: AttributePair[] }
  const serialized = packAttributes(configOf(context).collection_format, attributeMapToJson(data))
  putCollection(context, { ...collectionOf(context, name), serialized_data: serialized })
}

function addNotifyAccount(context: ActionContext): void {
  const data = context.data() as { collection_name: string; account_to_add: string }
  const row = collectionOf(context, data.collection_name)
  putCollection(context, { ...row, notify_accounts: [...row.notify_accounts, data.account_to_add] })
}

function patchCollection(context: ActionContext, fields: readonly (keyof CollectionRow)[]): void {
  const data = context.data() as CollectionRow
  const patch = Object.fromEntries(fields.map((field) => [field, data[field]]))
  putCollection(context, { ...collectionOf(context, data.collection_name), ...patch })
}

function putCollection(context: ActionContext, row: CollectionRow): void {
  context.put(
    { table: 'collections', scope: ASSETS_ACCOUNT, key: nameValue(row.collection_name), payer: row.author },
    { ...row },
  )
}

function createSchema(context: ActionContext): void {
  const data = context.data() as {
    authorized_creator: string
    collection_name: string
    schema_name: string
    schema_format: FormatField[]
  }
  const row = { schema_name: data.schema_name, format: data.schema_format } satisfies SchemaRow
  context.put(
    {
      table: 'schemas',
      scope: data.collection_name,
      key: nameValue(row.schema_name),
      payer: data.authorized_creator,
    },
    row,
  )
}

function extendSchema(context: ActionContext): void {
  const data = context.data() as {
    authorized_editor: string
    collection_name: string
    schema_name: string
    schema_format_extension: FormatField[]
  }
  const row = schemaOf(context, data.collection_name, data.schema_name)
  const format = [...row.format, ...data.schema_format_extension]
  const key = nameValue(data.schema_name)
  context.put(
    { table: 'schemas', scope: data.collection_name, key, payer: data.authorized_editor },
    { ...row, format },
  )
}

function createTemplate(context: ActionContext): void {
  const data = context.data() as TemplateData
  const { collection_name: collection, authorized_creator: creator, mutable_data: mutableData } = data
  const config = configOf(context)
  const id = config.template_counter
  const format = schemaOf(context, collection, data.schema_name).format
  putConfig(context, { ...config, template_counter: id + 1 })
  context.put(
    { table: 'templates', scope: collection, key: BigInt(id), payer: creator },
    {
      ...data,
      template_id: id,
      issued_supply: 0,
      immutable_serialized_data: packAttributes(format, attributeMapToJson(data.immutable_data)),
    },
  )
  const hasMutableData = mutableData !== undefined && mutableData.length > 0
  if (hasMutableData) {
    putTemplate2(context, { ...data, template_id: id, authorized_editor: creator }, mutableData, format)
  }
  context.log('lognewtempl', { ...data, template_id: id })
  if (hasMutableData) {
    const { schema_name: schema } = data
    context.log('logsetdatatl', {
      collection_name: collection,
      schema_name: schema,
      template_id: id,
      old_data: [],
      new_data: mutableData,
    })
  }
}

function putTemplate2(
  context: ActionContext,
  where: { collection_name: string; schema_name: string; template_id: number; authorized_editor: string },
  data: readonly AttributePair[],
  format: readonly FormatField[],
): void {
  const row = {
    template_id: where.template_id,
    schema_name: where.schema_name,
    mutable_serialized_data: packAttributes(format, attributeMapToJson(data)),
  } satisfies Template2Row
  context.put(
    {
      table: 'templates2',
      scope: where.collection_name,
      key: BigInt(where.template_id),
      payer: where.authorized_editor,
    },
    row,
  )
}

function lockTemplate(context: ActionContext): void {
  const data = context.data() as TemplateEdit
  const key = BigInt(data.template_id)
  const template = templateOf(context, data)
  context.put(
    { table: 'templates', scope: data.collection_name, key, payer: data.authorized_editor },
    {
      ...template,
      max_supply: template.issued_supply,
    },
  )
}

function setTemplateData(context: ActionContext): void {
  const data = context.data() as TemplateEdit
  const { collection_name: collection, template_id: id, new_mutable_data: newData } = data
  const { schema_name: schema } = templateOf(context, data)
  const format = schemaOf(context, collection, schema).format
  const before = context.get('templates2', collection, BigInt(id))?.mutable_serialized_data
  const oldData = before === undefined ? {} : unpackAttributes(format, before)
  if (newData.length > 0) putTemplate2(context, { ...data, schema_name: schema }, newData, format)
  else context.erase('templates2', collection, BigInt(id))
  context.log('logsetdatatl', {
    collection_name: collection,
    schema_name: schema,
    template_id: id,
    old_data: attributeMap(context.abi.definition, format, oldData),
    new_data: newData,
  })
}

/** The contract writes no log for a deletion: only the action and the deltas show the deletion. */
function deleteTemplate(context: ActionContext): void {
  const data = context.data() as TemplateEdit
  context.erase('templates', data.collection_name, BigInt(data.template_id))
  context.erase('templates2', data.collection_name, BigInt(data.template_id))
}

function templateOf(context: ActionContext, data: TemplateEdit): TemplateRow {
  const row = context.get('templates', data.collection_name, BigInt(data.template_id))
  return readRow(row, `template ${data.template_id}`)
}
