import type { Fragment, FragmentKind } from '../../../records/index.ts'
import type { Json } from '../../../json/index.ts'
import { jsonData, jsonList, jsonMembers, jsonText, quoted } from '../../../json/index.ts'

/** Version of a collection inside other records; `c` is the row. */
export const COLLECTION_VERSION = 'c.xmin'
/** Version of a collection's own record; `w` is its author swap, if any. */
export const COLLECTION_RECORD_VERSION = `concat(c.xmin, '/', w.xmin)`
/** Version of a schema; `s` is the row. */
export const SCHEMA_VERSION = 's.xmin'
/** Version of a template; `t` is the row. */
export const TEMPLATE_VERSION = 't.xmin'

const MEBIBYTE = 1024 * 1024

const collectionMembers = {
  collection_name: quoted('c.collection_name'),
  name: jsonText(`c.data ->> 'name'`),
  img: jsonText(`c.data ->> 'img'`),
  author: quoted('c.author'),
  allow_notify: 'c.allow_notify::text',
  authorized_accounts: 'to_json(c.authorized_accounts)',
  notify_accounts: 'to_json(c.notify_accounts)',
  market_fee: 'c.market_fee',
  created_at_block: quoted('nullif(c.created_at_block, 0)'),
  created_at_time: quoted('nullif(c.created_at_time, 0)'),
}

const { market_fee: MARKET_FEE, ...lastingMembers } = collectionMembers
const lightMembers = { ...lastingMembers, images: jsonText(`c.data ->> 'images'`) }

/**
 * Key: collection name. Texts: its members inside other records, without the fee, for records that show the fee of
 * another time; the fee.
 */
export const collectionFragment: FragmentKind = {
  name: 'collection',
  key: 'c.collection_name',
  version: COLLECTION_VERSION,
  texts: [jsonMembers(lightMembers), MARKET_FEE],
  large: ['c.data'],
  from: (keys) => `FROM assets.collections c WHERE c.collection_name = ANY(${keys}::text[])`,
  maxBytes: 8 * MEBIBYTE,
}

/** Key: collection name. Text: the members of the collection's own record, without `contract`. */
export const collectionRecordFragment: FragmentKind = {
  name: 'collection-record',
  key: 'c.collection_name',
  version: COLLECTION_RECORD_VERSION,
  texts: [
    jsonMembers({
      ...collectionMembers,
      data: jsonData('c.data'),
      new_author_name: quoted('w.new_author'),
      new_author_date: quoted('w.acceptance_date * 1000'),
    }),
  ],
  large: ['c.data'],
  from: (keys) => `FROM assets.collections c LEFT JOIN assets.author_swaps w USING (collection_name)
    WHERE c.collection_name = ANY(${keys}::text[])`,
  maxBytes: 8 * MEBIBYTE,
}

/**
 * The media type of a field: the authored one, otherwise a guess by its name and type; where several guesses fit,
 * audio goes before video, image and name.
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

const schemaMembers = {
  schema_name: jsonText('s.schema_name'),
  format: FORMAT,
  created_at_block: quoted('nullif(s.created_at_block, 0)'),
  created_at_time: quoted('nullif(s.created_at_time, 0)'),
}

/**
 * Key: `collection/schema`. Texts: the members inside assets and templates; the further members of the schema's own
 * record.
 */
export const schemaFragment: FragmentKind = {
  name: 'schema',
  key: 'k.key',
  version: SCHEMA_VERSION,
  texts: [jsonMembers(schemaMembers), jsonMembers({ types: jsonList('s.types') })],
  large: ['s.format', 's.types'],
  from: (keys) => `FROM unnest(${keys}::text[]) AS k(key) JOIN assets.schemas s
      ON s.collection_name = split_part(k.key, '/', 1) AND s.schema_name = split_part(k.key, '/', 2)`,
  maxBytes: 8 * MEBIBYTE,
}

/** Key: template id. Texts: its members but for its attributes, in two parts; its immutable and its mutable attributes. */
export const templateFragment: FragmentKind = {
  name: 'template',
  key: 't.template_id',
  version: TEMPLATE_VERSION,
  texts: [
    jsonMembers({
      template_id: quoted('t.template_id'),
      max_supply: quoted('t.max_supply'),
      issued_supply: quoted('t.issued_supply'),
    }),
    jsonMembers({ is_transferable: 't.transferable::text', is_burnable: 't.burnable::text' }),
    jsonData('t.immutable_data'),
    jsonData('t.mutable_data'),
    jsonMembers({
      created_at_time: quoted('nullif(t.created_at_time, 0)'),
      created_at_block: quoted('nullif(t.created_at_block, 0)'),
      deleted_at_time: quoted('t.deleted_at_time'),
      deleted_at_block: quoted('t.deleted_at_block'),
    }),
  ],
  large: ['t.immutable_data', 't.mutable_data'],
  from: (keys) => `FROM assets.templates t WHERE t.template_id = ANY(${keys}::integer[])`,
  maxBytes: 48 * MEBIBYTE,
  assembledBytes: 3_000,
}

/** The object of a collection inside other records. @param fee the fee to show; default: its present one. */
export function collectionObject({ texts }: Fragment, fee?: string): Json {
  const [members, present] = texts
  return ['{', members!, `,"market_fee":${fee ?? present!}}`]
}
