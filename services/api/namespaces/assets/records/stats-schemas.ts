import { shape } from '../../../endpoint/index.ts'

/** Statistics of an asset. */
export const assetStatsRecord = shape.record('AssetStats', 'The place of an asset in its series', {
  template_mint: shape.ofHistory(
    shape.decimal('Mint number within the template, from 1; 0 without a template'),
  ),
  original: shape.nullable(
    shape.object(
      {
        mint: shape.nullable(shape.decimal('Mint number')),
        total_ever: shape.decimal('Assets ever minted'),
        circulation: shape.decimal('Assets that are not burned'),
        burned: shape.decimal('Assets that are burned'),
      },
      'The series that it was bridged from',
    ),
  ),
})

/** Statistics of a collection. */
export const collectionStatsRecord = shape.record('CollectionStats', 'Counts of a collection', {
  assets: shape.nullable(shape.decimal('Assets ever minted; null when none')),
  burned: shape.nullable(shape.decimal('Of these, burned')),
  burned_by_template: shape.list(
    shape.object({
      burned: shape.integer('Burned assets'),
      template_id: shape.integer('Template; 0 for assets without one'),
    }),
  ),
  burned_by_schema: shape.list(
    shape.object({ burned: shape.integer('Burned assets'), schema_name: shape.text('Schema') }),
  ),
  templates: shape.decimal('Templates, deleted ones included'),
  schemas: shape.decimal('Schemas'),
})

/** A schema that a collection uses. */
export const collectionSchemaRecord = shape.record(
  'CollectionSchema',
  'A schema with assets that are not burned',
  {
    schema_name: shape.text('Schema'),
  },
)

/** Statistics of a schema. */
export const schemaStatsRecord = shape.record('SchemaStats', 'Counts of a schema', {
  assets: shape.nullable(shape.decimal('Assets ever minted; null when none')),
  burned: shape.nullable(shape.decimal('Of these, burned')),
  templates: shape.decimal('Templates, deleted ones included'),
})

/** Statistics of a template. */
export const templateStatsRecord = shape.record('TemplateStats', 'How many assets a template has', {
  assets: shape.decimal('Assets ever minted'),
  burned: shape.decimal('Of these, burned'),
})
