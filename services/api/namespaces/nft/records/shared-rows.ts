import { shape } from '../../../endpoint/index.ts'
import type { Json } from '../../../json/index.ts'
import { field, shapeOf } from '../../../records/fields/index.ts'
import { membersText, sharedRow } from '../../../records/fragments/index.ts'
import type { Fragment, FragmentKind } from '../../../records/fragments/index.ts'
import {
  nameOf,
  joinDataMap,
  overlayDataMap,
  splitDataMap,
  dataMembers,
  findName,
  jsonBytes,
  jsonSize,
  LateJson,
} from '../../../json/index.ts'
import type { RowParts } from '../../../records/index.ts'
import type { Group } from '../../../records/fields/index.ts'

const lastingFields = {
  collection_name: field.name('c.collection_name', 'Name, up to 13 characters'),
  name: field.nullable(field.text(`c.data ->> 'name'`, 'Shown name, from the attributes')),
  img: field.nullable(field.text(`c.data ->> 'img'`, 'Image, from the attributes')),
  author: field.name('c.author', 'Account that owns the collection'),
  allow_notify: field.flag('c.allow_notify', 'Accounts may be added to notify_accounts'),
  authorized_accounts: field.list(
    'to_json(c.authorized_accounts)',
    shape.text('Account'),
    'Accounts that may mint assets and edit the collection',
  ),
  notify_accounts: field.list(
    'to_json(c.notify_accounts)',
    shape.text('Account'),
    'Accounts that the contract notifies of its actions',
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
  'Value of the attribute `images`: further images, as a text that contains JSON',
)

const lightFields = { ...lastingFields, ...created, images: field.nullable(images) }

/** JSON schema of the object `collection` inside other records. */
export const lightCollection = shape.record(
  'LightCollection',
  'A collection inside another record',
  shapeOf({ ...lightFields, ...fee }),
)

/** Members of a collection's own record, except the member `contract`. */
export const collectionFields = {
  ...lastingFields,
  ...fee,
  ...created,
  data: field.attributes('c.data', 'Attributes'),
  new_author_name: field.nullable(
    field.name('w.new_author', 'Future author, if an author swap waits for acceptance'),
  ),
  new_author_date: field.nullable(field.time('w.acceptance_date * 1000', 'Earliest acceptance')),
}

/**
 * Fragment of a collection. Key: collection name. First text: the members inside other records, except the fee. Second
 * text: the current fee. The fee is a separate text, because some records show the fee of an earlier time.
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

/** The collection of a record, as a row that records share. */
export const collectionRow = sharedRow({
  ...{ kind: collectionFragment, table: 'assets.collections', alias: 'c', columns: ['collection_name'] },
  keyType: 'text',
})

/** FROM item: collections `c` with their pending author swaps `w`, if any. */
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
 * JSON object of a collection inside other records.
 * @param shownFee the fee to show; default: the current fee.
 */
export function collectionObject({ texts }: Fragment, shownFee?: string): Json {
  const [members, present] = texts
  return ['{', members!, `,"market_fee":${shownFee ?? present!}}`]
}

/**
 * The media type of a field: as declared, otherwise guessed from name and type. Of several guesses the order is audio,
 * video, image, name.
 */
const MEDIATYPE = `coalesce(nullif(d.mediatype, ''), CASE
    WHEN lower(e.field ->> 'name') ~ '^audio|audio$' THEN 'audio'
    WHEN lower(e.field ->> 'name') ~ '^video|video$' THEN 'video'
    WHEN lower(e.field ->> 'name') ~ '^(image|img)|(image|img)$' OR e.field ->> 'type' = 'image' THEN 'image'
    WHEN e.field ->> 'name' = 'name' THEN 'name' END)`

const FORMAT = `(SELECT coalesce(json_agg(json_build_object('name', e.field ->> 'name', 'type', e.field ->> 'type',
      'mediatype', ${MEDIATYPE}, 'info', nullif(d.info, '')) ORDER BY e.position), '[]')
    FROM jsonb_array_elements(s.format) WITH ORDINALITY AS e(field, position) LEFT JOIN LATERAL (
      SELECT y ->> 'mediatype' AS mediatype, y ->> 'info' AS info FROM jsonb_array_elements(s.types) y
      WHERE y ->> 'name' = e.field ->> 'name' LIMIT 1) d ON true)`

const schemaField = shape.record('SchemaField', 'A field of a schema', {
  name: shape.text('Name of the attribute'),
  type: shape.text('Type of the attribute, for example uint64, string, image[]'),
  mediatype: shape.nullable(
    shape.text('Media type: set by the author, or guessed from name and type of the attribute'),
  ),
  info: shape.nullable(shape.text('Explanation by the author')),
})

/** Members of the object of a schema inside assets and templates. */
export const schemaFields = {
  schema_name: field.text('s.schema_name', 'Name within the collection'),
  format: field.list(FORMAT, schemaField, 'Fields in order'),
  created_at_block: field.ofHistory(field.decimal('s.created_at_block', 'Block of creation')),
  created_at_time: field.ofHistory(field.time('s.created_at_time', 'Time of creation')),
}

/**
 * Member `types` of a schema's own record. The object `schema` inside other records has no such member. The fragment of
 * the schema contains the JSON of the member.
 */
export const typesField = {
  types: field.list(
    's.types',
    shape.object({
      name: shape.text('Name of the attribute'),
      mediatype: shape.text('Media type'),
      info: shape.text('Explanation'),
    }),
    'Descriptions of the attributes, as stored on chain',
  ),
}

/** JSON schema of the object `schema` inside assets and templates. */
export const lightSchema = shape.record(
  'LightSchema',
  'A schema inside another record',
  shapeOf(schemaFields),
)

/**
 * Fragment of a schema. Key: `collection/schema`. Texts: the members inside assets and templates; the further members
 * of the schema's own record.
 */
const schemaFragment: FragmentKind = {
  name: 'schema',
  key: 'k.key',
  version: 's.xmin',
  texts: [membersText(schemaFields), membersText(typesField)],
  large: ['s.format', 's.types'],
  from: (keys) => `FROM unnest(${keys}::text[]) AS k(key) JOIN assets.schemas s
      ON s.collection_name = split_part(k.key, '/', 1) AND s.schema_name = split_part(k.key, '/', 2)`,
  maxBytes: 8 * 1024 * 1024,
}

/** The schema of an asset or of a template, as a row that records share. */
export const schemaRow = sharedRow({
  ...{
    kind: schemaFragment,
    table: 'assets.schemas',
    alias: 's',
    columns: ['collection_name', 'schema_name'],
  },
})

/** The attribute `name` of an asset or template. */
export const shownName = shape.nullable(
  shape.text('Value of the attribute `name`, as text; absent without this attribute'),
)

const supply = {
  template_id: field.decimal('t.template_id', 'Template'),
  max_supply: field.decimal(
    't.max_supply',
    'Maximum number of assets that can be minted, burned ones included; 0 = unlimited',
  ),
  issued_supply: field.decimal('t.issued_supply', 'Number of assets minted so far, burned ones included'),
}
const flags = {
  is_transferable: field.flag('t.transferable', 'Assets can be transferred'),
  is_burnable: field.flag('t.burnable', 'Assets can be burned'),
}
const ownData = {
  immutable_data: field.attributes('t.immutable_data', 'Attributes that never change'),
  mutable_data: field.attributes('t.mutable_data', 'Attributes that may change'),
}
const times = {
  created_at_time: field.ofHistory(field.time('t.created_at_time', 'Time of creation')),
  created_at_block: field.ofHistory(field.decimal('t.created_at_block', 'Block of creation')),
  deleted_at_time: field.nullable(field.time('t.deleted_at_time', 'Time of deletion')),
  deleted_at_block: field.nullable(field.decimal('t.deleted_at_block', 'Block of deletion')),
}

/** JSON schemas of the members of a template that come from its own row. */
export const templateMembers = shapeOf({ ...supply, ...flags, ...ownData, ...times })
/** Member with the immutable and mutable attributes of a template in one map. */
export const templateDataMember = {
  data: shape.attributes(
    'Mutable and immutable data; an immutable attribute replaces a mutable attribute of the same name',
  ),
}

/** JSON schema of the template inside assets. */
export const lightTemplate = shape.record('LightTemplate', 'A template inside the record of an asset', {
  ...templateMembers,
  ...templateDataMember,
})

/**
 * Fragment of a template. Key: template id. Texts: its members without attributes, in two parts; its immutable
 * attributes; its mutable attributes.
 */
const templateFragment: FragmentKind = {
  name: 'template',
  key: 't.template_id',
  version: 't.xmin',
  texts: [
    membersText(supply),
    membersText(flags),
    ...Object.values(ownData).map(({ sql, empty }) => ({
      ...{ columns: [sql], text: ([value]: readonly string[]) => value! || empty! },
    })),
    membersText(times),
  ],
  large: ['t.immutable_data', 't.mutable_data'],
  from: (keys) => `FROM assets.templates t WHERE t.template_id = ANY(${keys}::integer[])`,
  maxBytes: 48 * 1024 * 1024,
  assembledBytes: 3_000,
}

/** The template of a record, as a row that records share. */
export const templateRow = sharedRow({
  ...{ kind: templateFragment, table: 'assets.templates', alias: 't', columns: ['template_id'] },
  keyType: 'integer',
})

/** The flags of a template: whether its assets can be transferred and burned. */
function templateFlags({ texts }: Fragment): string {
  return texts[1]!
}

/**
 * The member `template` of other records.
 * @param index position of the template among the record's shared rows.
 */
export function templateMember(index: number): Group<RowParts> {
  return {
    members: { template: lightTemplate },
    write: ({ shared }) => ['"template":', templateObject(shared[index]!)],
  }
}

/** JSON object of a template inside other records. */
function templateObject(template: Fragment): Json {
  return ['{', ownTemplateMembers(template), ',"data":', templateMaps(template).data, '}']
}

/** JSON of the members of a template that come from the template's own row. */
export function ownTemplateMembers({ texts }: Fragment): Json {
  const [head, shownFlags, immutableData, mutableData, tail] = texts
  return [
    `${head!},${shownFlags!},"immutable_data":`,
    immutableData!,
    ',"mutable_data":',
    mutableData!,
    `,${tail!}`,
  ]
}

/** The members `data` and `name` of a template. */
export function templateData(template: Fragment): Json {
  const { data, name } = templateMaps(template)
  return ['"data":', data, name]
}

interface TemplateMaps {
  readonly immutable: ReturnType<typeof overlayDataMap>
  readonly mutable: ReturnType<typeof overlayDataMap>
  /** JSON text of both attribute maps as one map. `name` is `,"name":…`, or empty if neither map has a name. */
  readonly data: string
  readonly name: string
}

const maps = new WeakMap<Fragment, TemplateMaps>()

/** The attribute maps of a template, parsed once for each version of the template. */
function templateMaps(template: Fragment): TemplateMaps {
  const known = maps.get(template)
  if (known) return known
  const [immutable, mutable] = [splitDataMap(template.texts[2]!), splitDataMap(template.texts[3]!)]
  const merged = overlayDataMap(mutable, immutable)
  const name = nameOf(merged)
  const split = {
    immutable,
    mutable,
    data: mutable.length === 0 ? template.texts[2]! : joinDataMap(merged),
    name: name === undefined ? '' : `,"name":${name}`,
  }
  maps.set(template, split)
  return split
}

/**
 * Members that are equal for all assets of a template. For assets without a template: members that are equal for all
 * such assets of a schema.
 */
interface SharedMembers {
  /**
   * Collection fragment from which the members were assembled. If a record has another version of the collection, the
   * members are assembled again.
   */
  readonly collection: Fragment
  readonly schema: Fragment
  /** JSON members `collection`, `schema` and `template`. */
  readonly nested: Json
  /** `,"data":…,"name":…` of assets without attributes of their own. */
  readonly data: Json
}

/**
 * Assembled members. Key: the fragment of the template, or of the schema for assets without a template. An entry lives
 * as long as the fragment that is its key.
 */
const assembled = new WeakMap<Fragment, SharedMembers>()

/**
 * Maximum size of a text that is copied into a record, bytes. For a larger text, the answer refers to the text of the
 * fragment until the answer is written.
 */
const COPIED_BYTES = 16_384
/**
 * Bytes of a record with two attribute maps that are not part of the maps: a separator between the maps, and the member
 * `name` without its value.
 */
const SEPARATORS = 32

function commonMembers([collection, schema, template]: readonly Fragment[]): SharedMembers {
  const key = template ?? schema!
  const known = assembled.get(key)
  if (known?.collection === collection && known?.schema === schema) return known!
  const nested = sharedPiece([nestedObjects(collection!, schema!), ',', templateOfAsset(template)])
  const data = sharedPiece([',', template ? templateData(template) : '"data":{}'])
  const members = { collection: collection!, schema: schema!, nested, data }
  assembled.set(key, members)
  return members
}

/**
 * Prepares JSON that many records share. Small JSON is encoded once; JSON above COPIED_BYTES is encoded when the answer
 * is written.
 */
function sharedPiece(json: Json): Json {
  const size = jsonSize(json)
  return size > COPIED_BYTES ? new LateJson(size, () => json) : jsonBytes(json, size)
}

/** JSON members `collection` and `schema` inside other records. */
export function nestedObjects(collection: Fragment, schema: Fragment): Json {
  return ['"collection":', collectionObject(collection), ',"schema":{', schema.texts[0]!, '}']
}

function templateOfAsset(template: Fragment | undefined): Json {
  if (!template) return '"is_transferable":true,"is_burnable":true,"template":null'
  return [templateFlags(template), ',"template":', templateObject(template)]
}

/**
 * The members of an asset from its collection, schema and template, and the merged attributes of template and asset.
 */
export function sharedMembers(shared: readonly Fragment[], mutableData: string, immutableData: string): Json {
  const { nested, data } = commonMembers(shared)
  if (mutableData === '' && immutableData === '') return [nested, data]
  const write = (): string => `,${mergedData(shared[2], mutableData, immutableData)}`
  const sharedBytes = jsonSize(data)
  if (sharedBytes + mutableData.length + immutableData.length <= COPIED_BYTES) return [nested, write()]
  const ownSize = ownBytes(mutableData) + ownBytes(immutableData)
  return [nested, new LateJson(sharedBytes + ownSize + SEPARATORS, write)]
}

/** Size of the asset's own attributes in its record; the name counts twice, because the record repeats it. */
function ownBytes(data: string): number {
  return Buffer.byteLength(data) + Buffer.byteLength(findName(data) ?? '')
}

/**
 * Merged attributes. Later maps overlay earlier maps: mutable of the template, mutable of the asset, immutable of the
 * asset, immutable of the template.
 */
function mergedData(template: Fragment | undefined, mutableData: string, immutableData: string): string {
  const { immutable, mutable } = template ? templateMaps(template) : noMaps
  const own = overlayDataMap(splitDataMap(mutableData), splitDataMap(immutableData))
  return dataMembers(overlayDataMap(overlayDataMap(mutable, own), immutable))
}

const noMaps: Pick<ReturnType<typeof templateMaps>, 'immutable' | 'mutable'> = { immutable: [], mutable: [] }
