import { ComposedJson } from './composed-json.ts'
import { jsonData, jsonList, jsonMembers, jsonText, quoted } from './json-sql.ts'
import type { PartKind } from './part-cache.ts'
import { PartCache } from './part-cache.ts'
import { UnchangedRecords } from './unchanged-records.ts'

/** Version of a collection inside other records; `c` is the row. */
export const COLLECTION_VERSION = 'c.xmin'
/** Version of a collection's own record; `w` is its author swap, if any. */
export const COLLECTION_RECORD_VERSION = `concat(c.xmin, '/', w.xmin)`
/** Version of a schema; `s` is the row. */
export const SCHEMA_VERSION = 's.xmin'
/** Version of a template; `t` is the row. */
export const TEMPLATE_VERSION = 't.xmin'

const collectionMembers = {
  collection_name: quoted('c.collection_name'),
  name: jsonText(`c.data ->> 'name'`),
  img: jsonText(`c.data ->> 'img'`),
  author: quoted('c.author'),
  allow_notify: 'c.allow_notify::text',
  authorized_accounts: 'to_json(c.authorized_accounts)',
  notify_accounts: 'to_json(c.notify_accounts)',
  market_fee: 'c.market_fee',
  created_at_block: quoted('c.created_at_block'),
  created_at_time: quoted('c.created_at_time'),
}

const { market_fee: MARKET_FEE, ...lastingMembers } = collectionMembers
const lightMembers = { ...lastingMembers, images: jsonText(`c.data ->> 'images'`) }

/**
 * Key: collection name. Parts: the object inside assets, schemas and templates; its members without the fee, for
 * records that show the fee of another time; the fee.
 */
const lightCollections: PartKind = {
  name: 'collection-light',
  key: 'c.collection_name',
  version: COLLECTION_VERSION,
  texts: [
    `'{' || ${jsonMembers({ ...lightMembers, market_fee: MARKET_FEE })} || '}'`,
    jsonMembers(lightMembers),
    MARKET_FEE,
  ],
  from: 'FROM assets.collections c WHERE c.collection_name = ANY($1::text[])',
}

/** Key: collection name. Part: the members of the collection's own record, without `contract`. */
const collectionRecords: PartKind = {
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
  from: `FROM assets.collections c LEFT JOIN assets.author_swaps w USING (collection_name)
    WHERE c.collection_name = ANY($1::text[])`,
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
  created_at_block: quoted('s.created_at_block'),
  created_at_time: quoted('s.created_at_time'),
}

/**
 * Key: `collection/schema`. Parts: the members inside assets and templates; the further members of the schema's own
 * record.
 */
const schemas: PartKind = {
  name: 'schema',
  key: 'k.key',
  version: SCHEMA_VERSION,
  texts: [jsonMembers(schemaMembers), jsonMembers({ types: jsonList('s.types') })],
  from: `FROM unnest($1::text[]) AS k(key) JOIN assets.schemas s
      ON s.collection_name = split_part(k.key, '/', 1) AND s.schema_name = split_part(k.key, '/', 2)`,
}

/**
 * Key: template id. Parts: the template's own members; the text of its merged data; the text of the name in it (empty
 * when there is none); the flags as members of an asset.
 */
const templates: PartKind = {
  name: 'template',
  key: 't.template_id',
  version: TEMPLATE_VERSION,
  texts: [
    jsonMembers({
      template_id: quoted('t.template_id'),
      max_supply: quoted('t.max_supply'),
      issued_supply: quoted('t.issued_supply'),
      is_transferable: 't.transferable::text',
      is_burnable: 't.burnable::text',
      immutable_data: jsonData('t.immutable_data'),
      mutable_data: jsonData('t.mutable_data'),
      created_at_time: quoted('t.created_at_time'),
      created_at_block: quoted('t.created_at_block'),
      deleted_at_time: quoted('t.deleted_at_time'),
      deleted_at_block: quoted('t.deleted_at_block'),
    }),
    'm.data::text',
    `(m.data -> 'name')::text`,
    jsonMembers({ is_transferable: 't.transferable::text', is_burnable: 't.burnable::text' }),
  ],
  from: `FROM assets.templates t
      CROSS JOIN LATERAL (SELECT coalesce(t.mutable_data, '{}') || t.immutable_data AS data) m
    WHERE t.template_id = ANY($1::integer[])`,
}

/** Most assets have no attributes of their own: their merged data is that of the template, which is kept. */
const HAS_OWN_DATA = '(a.immutable_data IS NOT NULL OR a.mutable_data IS NOT NULL)'

const MERGED = `(SELECT coalesce(t.mutable_data, '{}'::jsonb) || coalesce(a.mutable_data, '{}')
    || coalesce(a.immutable_data, '{}') || coalesce(t.immutable_data, '{}'))`

/**
 * Version of an asset; `a` is the row, `t` that of its template. Attributes of its own are shown merged with those of
 * the template.
 */
export const ASSET_VERSION = `CASE WHEN ${HAS_OWN_DATA} THEN concat(a.xmin, '/', t.xmin) ELSE a.xmin::text END`

/**
 * Key: asset id. Parts: its members up to the backed tokens; those behind; collection, schema as `collection/schema`,
 * and template (empty without one); merged data and the name in it where the asset has attributes of its own.
 */
const assets: PartKind = {
  name: 'asset',
  key: 'a.asset_id',
  version: ASSET_VERSION,
  texts: [
    jsonMembers({
      asset_id: quoted('a.asset_id'),
      owner: quoted('a.owner'),
      mutable_data: jsonData('a.mutable_data'),
      immutable_data: jsonData('a.immutable_data'),
      template_mint: `'"' || coalesce(a.template_mint, 0) || '"'`,
    }),
    jsonMembers({
      burned_by_account: quoted('a.burned_by_account'),
      burned_at_block: quoted('a.burned_at_block'),
      burned_at_time: quoted('a.burned_at_time'),
      updated_at_block: quoted('a.updated_at_block'),
      updated_at_time: quoted('a.updated_at_time'),
      transferred_at_block: quoted('a.transferred_at_block'),
      transferred_at_time: quoted('a.transferred_at_time'),
      minted_at_block: quoted('a.minted_at_block'),
      minted_at_time: quoted('a.minted_at_time'),
      original_mint: `'null'`,
    }),
    'a.collection_name',
    `concat(a.collection_name, '/', a.schema_name)`,
    't.template_id',
    `CASE WHEN ${HAS_OWN_DATA} THEN ${MERGED} END`,
    `CASE WHEN ${HAS_OWN_DATA} THEN ${MERGED} -> 'name' END`,
  ],
  from: `FROM assets.assets a LEFT JOIN assets.templates t ON t.template_id = a.template_id
    WHERE a.asset_id = ANY($1::bigint[])`,
}

const MEBIBYTE = 1024 * 1024

/** The parts of one namespace, kept between requests. */
export class Parts {
  readonly lightCollections = new PartCache(lightCollections, 8 * MEBIBYTE)
  readonly collectionRecords = new PartCache(collectionRecords, 8 * MEBIBYTE)
  readonly schemas = new PartCache(schemas, 8 * MEBIBYTE)
  readonly templates = new PartCache(templates, 24 * MEBIBYTE)
  readonly assets = new PartCache(assets, 32 * MEBIBYTE)
  /** What is made of them. */
  readonly composed = new ComposedJson(48 * MEBIBYTE)
  /** Whole records, for as long as the database stays what it was. */
  readonly unchanged = new UnchangedRecords(32 * MEBIBYTE)

  /** Bytes held, roughly; at most 160 MB. */
  get bytes(): number {
    return this.#all.reduce((sum, kept) => sum + kept.bytes, 0)
  }

  clear(): void {
    for (const kept of this.#all) kept.clear()
  }

  get #all(): readonly (PartCache | ComposedJson | UnchangedRecords)[] {
    const { lightCollections, collectionRecords, schemas, templates, assets, composed, unchanged } = this
    return [lightCollections, collectionRecords, schemas, templates, assets, composed, unchanged]
  }
}

/** The members `data` and `name` of a record, from the texts of both; `name` is left out when it is empty. */
export function dataMembers(data: string, name: string): string {
  return name === '' ? `"data":${data}` : `"data":${data},"name":${name}`
}
