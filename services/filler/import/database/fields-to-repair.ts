import { typesToRepair } from './attribute-fixes.ts'
import type { FieldToRepair, FieldsToRepair } from './attribute-fixes.ts'
import { literal } from './copy-parts.ts'
import type { PartContext } from './copy-parts.ts'

/** Reads the fields of all schemas in the source database whose attribute values may need repair. */
export async function readFieldsToRepair({ source, accounts }: PartContext): Promise<FieldsToRepair> {
  if (accounts.assets === null) return new Map()
  const types = typesToRepair(source.version)
  const rows = await source.query<{ schema: string; fields: FieldToRepair[] }>(
    `SELECT s.collection_name || '/' || s.schema_name AS schema, jsonb_agg(f.field) AS fields
     FROM atomicassets_schemas s CROSS JOIN unnest(s.format) f(field)
     WHERE s.contract = ${literal(accounts.assets)} AND f.field->>'type' IN (${types.map(literal).join(', ')}) GROUP BY 1`,
  )
  return new Map(rows.map(({ schema, fields }) => [schema, fields]))
}
