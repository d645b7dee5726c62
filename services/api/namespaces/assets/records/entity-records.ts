import type { Session } from '../../../database/index.ts'
import type { Json, KeptJson } from '../../../json/index.ts'
import type { Part } from './part-cache.ts'
import { packRows, queryPacked } from './packed-rows.ts'
import type { Parts } from './parts.ts'
import {
  COLLECTION_RECORD_VERSION,
  COLLECTION_VERSION,
  dataMembers,
  SCHEMA_VERSION,
  TEMPLATE_VERSION,
} from './parts.ts'

/** The records of collections, by name. */
export async function renderCollections(
  session: Session,
  contract: string,
  parts: Parts,
  names: readonly string[],
): Promise<Map<string, KeptJson>> {
  const rows = await session.query<[string, string]>({
    name: 'collection-versions',
    text: `SELECT c.collection_name, ${COLLECTION_RECORD_VERSION}
      FROM assets.collections c LEFT JOIN assets.author_swaps w USING (collection_name)
      WHERE c.collection_name = ANY($1::text[])`,
    values: [names],
  })
  const records = new Map<string, KeptJson>()
  for (const [name, part] of await parts.collectionRecords.load(session, new Map(rows))) {
    const make = (): Json => `{"contract":"${contract}",${part[0]!}}`
    records.set(name, parts.composed.get(`collection ${name}`, [contract, part], make))
  }
  return records
}

/** The records of schemas, by `collection/schema`. */
export async function renderSchemas(
  session: Session,
  contract: string,
  parts: Parts,
  keys: readonly string[],
): Promise<Map<string, KeptJson>> {
  const records = new Map<string, KeptJson>()
  for (const { key, schema, collection, assets } of await loadSchemas(session, parts, keys)) {
    const record = parts.composed.get(`schema ${key}`, [contract, schema, collection, assets], () => {
      const members = `${schema[0]!},${schema[1]!},"collection":${collection[0]!},"assets":${assets}`
      return `{"contract":"${contract}",${members}}`
    })
    records.set(key, record)
  }
  return records
}

/** The records of schemas inside what accounts own, without `types` and `assets`, by `collection/schema`. */
export async function renderBareSchemas(
  session: Session,
  contract: string,
  parts: Parts,
  keys: readonly string[],
): Promise<Map<string, KeptJson>> {
  const records = new Map<string, KeptJson>()
  for (const { key, schema, collection } of await loadSchemas(session, parts, keys)) {
    const make = (): Json => `{"contract":"${contract}",${schema[0]!},"collection":${collection[0]!}}`
    records.set(key, parts.composed.get(`bare schema ${key}`, [contract, schema, collection], make))
  }
  return records
}

interface LoadedSchema {
  readonly key: string
  readonly schema: Part
  readonly collection: Part
  /** Assets ever minted. */
  readonly assets: string
}

async function loadSchemas(session: Session, parts: Parts, keys: readonly string[]): Promise<LoadedSchema[]> {
  const fields = ['k.key', SCHEMA_VERSION, 'c.collection_name', COLLECTION_VERSION, 'coalesce(n.minted, 0)']
  const rows = await queryPacked<[string, string, string, string, string]>(session, {
    name: 'schema-versions',
    text: `SELECT ${packRows(fields)} FROM unnest($1::text[]) AS k(key)
        JOIN assets.schemas s ON s.collection_name = split_part(k.key, '/', 1)
          AND s.schema_name = split_part(k.key, '/', 2)
        JOIN assets.collections c ON c.collection_name = s.collection_name
        LEFT JOIN assets.schema_counts n
          ON n.collection_name = s.collection_name AND n.schema_name = s.schema_name`,
    values: [keys],
  })
  const schemas = await parts.schemas.load(session, new Map(rows.map((row) => [row[0], row[1]])))
  const wanted = new Map(rows.map((row) => [row[2], row[3]]))
  const collections = await parts.lightCollections.load(session, wanted)
  return rows.flatMap(([key, , collectionName, , assets]) => {
    const schema = schemas.get(key)
    const collection = collections.get(collectionName)
    return schema && collection ? [{ key, schema, collection, assets }] : []
  })
}

/** The records of templates, by id. */
export async function renderTemplates(
  session: Session,
  contract: string,
  parts: Parts,
  ids: readonly string[],
): Promise<Map<string, KeptJson>> {
  const schemaKey = `concat(s.collection_name, '/', s.schema_name)`
  const collectionFields = ['c.collection_name', COLLECTION_VERSION]
  const fields = ['t.template_id', TEMPLATE_VERSION, ...collectionFields, schemaKey, SCHEMA_VERSION]
  const rows = await queryPacked<[string, string, string, string, string, string]>(session, {
    name: 'template-versions',
    text: `SELECT ${packRows(fields)} FROM assets.templates t
        JOIN assets.collections c ON c.collection_name = t.collection_name
        JOIN assets.schemas s ON s.collection_name = t.collection_name AND s.schema_name = t.schema_name
      WHERE t.template_id = ANY($1::integer[])`,
    values: [ids],
  })
  const wanted = (key: number, version: number): Map<string, string> =>
    new Map(rows.map((row) => [row[key]!, row[version]!]))
  const templates = await parts.templates.load(session, wanted(0, 1))
  const collections = await parts.lightCollections.load(session, wanted(2, 3))
  const schemas = await parts.schemas.load(session, wanted(4, 5))
  const records = new Map<string, KeptJson>()
  for (const [id, , collectionName, , schemaName] of rows) {
    const template = templates.get(id)
    const collection = collections.get(collectionName)
    const schema = schemas.get(schemaName)
    if (!template || !collection || !schema) continue
    const record = parts.composed.get(`template ${id}`, [contract, template, collection, schema], () => {
      const nested = `"collection":${collection[0]!},"schema":{${schema[0]!}}`
      const data = dataMembers(template[1]!, template[2]!)
      return `{"contract":"${contract}",${template[0]!},${nested},${data}}`
    })
    records.set(id, record)
  }
  return records
}
