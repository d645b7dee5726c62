import { shape } from '../../../endpoint/index.ts'
import { declareRecord, field } from '../../../records/fields/index.ts'
import { templateMint } from '../../nft/records/index.ts'

/**
 * Statistics of an asset. The SQL alias of the asset is `a`. The member `original` is always null, because the database
 * has no data of the chain from which an asset was bridged.
 */
export const assetStatsRecord = declareRecord(
  'AssetStats',
  'Mint number of an asset within its template; the member `original` is always null',
  {
    template_mint: templateMint,
    original: field.constant(
      'null',
      shape.nullable(
        shape.object(
          {
            mint: shape.nullable(shape.decimal('Mint number')),
            total_ever: shape.decimal('Assets ever minted'),
            circulation: shape.decimal('Assets that are not burned'),
            burned: shape.decimal('Assets that are burned'),
          },
          'Mint number and number of assets on the chain from which the asset was bridged; always null',
        ),
      ),
    ),
  },
)

/** Numbers of assets of a collection or schema. The relation `k` has the counters. */
const counted = {
  assets: field.nullable(
    field.decimal(
      '(SELECT minted FROM k)',
      'Assets ever minted, burned ones included; null when none were minted',
    ),
  ),
  burned: field.nullable(
    field.decimal('(SELECT burned FROM k)', 'Burned assets; null when none were minted'),
  ),
}

/**
 * Statistics of the collection `$1`. The relation `r` has the number of burned assets of each template of the
 * collection.
 */
export const collectionStatsRecord = declareRecord('CollectionStats', 'Counts of a collection', {
  ...counted,
  burned_by_template: field.list(
    `(SELECT json_agg(json_build_object('burned', r.burned, 'template_id', r.template_id)
      ORDER BY r.burned DESC, r.template_id) FROM r WHERE r.burned > 0)`,
    shape.object({
      burned: shape.integer('Burned assets'),
      template_id: shape.integer('Template; 0 for assets without a template'),
    }),
  ),
  burned_by_schema: field.list(
    `(SELECT json_agg(json_build_object('burned', n.burned, 'schema_name', n.schema_name)
      ORDER BY n.burned DESC, n.schema_name)
      FROM assets.schema_counts n WHERE n.collection_name = $1::text AND n.burned > 0)`,
    shape.object({ burned: shape.integer('Burned assets'), schema_name: shape.text('Schema') }),
  ),
  templates: field.decimal(
    '(SELECT count(*) FROM assets.templates WHERE collection_name = $1::text)',
    'Templates, deleted ones included',
  ),
  schemas: field.decimal('(SELECT count(*) FROM assets.schemas WHERE collection_name = $1::text)', 'Schemas'),
})

/** JSON schema of an entry in the list of schemas that a collection uses. */
export const collectionSchemaRecord = shape.record(
  'CollectionSchema',
  'A schema with assets that are not burned',
  {
    schema_name: shape.text('Schema'),
  },
)

/** Statistics of the schema `$2` of the collection `$1`. */
export const schemaStatsRecord = declareRecord('SchemaStats', 'Counts of a schema', {
  ...counted,
  templates: field.decimal(
    '(SELECT count(*) FROM assets.templates WHERE collection_name = $1::text AND schema_name = $2::text)',
    'Templates, deleted ones included',
  ),
})

/** Statistics of a template. SQL alias `n`: the row with the counters of the template. */
export const templateStatsRecord = declareRecord(
  'TemplateStats',
  'Number of minted and of burned assets of a template',
  {
    assets: field.decimal('coalesce(n.minted, 0)', 'Assets ever minted'),
    burned: field.decimal('coalesce(n.burned, 0)', 'Burned assets'),
  },
)
