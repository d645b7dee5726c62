import type { Session } from '../../../database/index.ts'

/**
 * Returns the key of the schema that the path of a request names, `collection/schema`. A path may list several
 * collections and schemas. The newest schema with one of these names is then returned.
 */
export async function schemaInPath(
  session: Session,
  collections: readonly string[],
  names: readonly string[],
): Promise<string> {
  const key = `${collections[0]!}/${names[0]!}`
  if (collections.length === 1 && names.length === 1) return key
  const rows = await session.query<[string]>({
    name: 'schema-of-several',
    text: `SELECT s.collection_name || '/' || s.schema_name FROM assets.schemas s
      WHERE s.collection_name = ANY($1::text[]) AND s.schema_name = ANY($2::text[])
      ORDER BY s.created_at_time DESC, s.schema_name, s.collection_name LIMIT 1`,
    values: [collections, names],
  })
  return rows[0]?.[0] ?? key
}
