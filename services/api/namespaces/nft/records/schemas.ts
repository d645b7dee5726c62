import { shape } from '../../../endpoint/index.ts'
import { field, shapeOf } from '../../../records/fields/index.ts'
import { membersText, sharedRow } from '../../../records/fragments/index.ts'
import type { FragmentKind } from '../../../records/fragments/index.ts'

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
  mediatype: shape.nullable(shape.text('Media type, as authored or guessed by name and type')),
  info: shape.nullable(shape.text('Explanation by the author')),
})

/** Members of the schema inside assets and templates. */
export const schemaFields = {
  schema_name: field.text('s.schema_name', 'Name within the collection'),
  format: field.list(FORMAT, schemaField, 'Fields in order'),
  created_at_block: field.ofHistory(field.decimal('s.created_at_block', 'Block of creation')),
  created_at_time: field.ofHistory(field.time('s.created_at_time', 'Time of creation')),
}

/** Further members of a schema's own record, stored in its fragment. */
export const typesField = {
  types: field.list(
    's.types',
    shape.object({
      name: shape.text('Name of the attribute'),
      mediatype: shape.text('Media type'),
      info: shape.text('Explanation'),
    }),
    'Descriptions of fields as stored on chain',
  ),
}

/** The schema inside assets and templates. */
export const lightSchema = shape.record(
  'LightSchema',
  'A schema, as other records contain it',
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

/** Shared row: the schema of assets and templates. */
export const schemaRow = sharedRow({
  ...{
    kind: schemaFragment,
    table: 'assets.schemas',
    alias: 's',
    columns: ['collection_name', 'schema_name'],
  },
})
