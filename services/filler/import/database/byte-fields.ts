import type { ByteFields } from './attribute-fixes.ts'
import { literal } from './copy-parts.ts'
import type { PartContext } from './copy-parts.ts'

/** Fields of type `int8[]` of the source's schemas. */
export async function readByteFields({ source, accounts }: PartContext): Promise<ByteFields> {
  if (accounts.assets === null) return new Map()
  const rows = await source.query<{ schema: string; fields: string[] }>(
    `SELECT s.collection_name || '/' || s.schema_name AS schema, array_agg(f.field->>'name') AS fields
     FROM atomicassets_schemas s CROSS JOIN unnest(s.format) f(field)
     WHERE s.contract = ${literal(accounts.assets)} AND f.field->>'type' = 'int8[]' GROUP BY 1`,
  )
  return new Map(rows.map(({ schema, fields }) => [schema, fields]))
}
