import { packRows, unpackRows } from '../../../database/index.ts'
import { COLLECTION_VERSION, SCHEMA_VERSION, TEMPLATE_VERSION } from './shared-rows.ts'

/** Packed names and versions of the collections of a relation. */
export function collectionVersionsOf(relation: string): string {
  return `(SELECT ${packRows(['c.collection_name', 'c.version'])}
    FROM (SELECT DISTINCT collection_name FROM ${relation}) d CROSS JOIN LATERAL (
      SELECT c.collection_name, ${COLLECTION_VERSION} AS version FROM assets.collections c
      WHERE c.collection_name = d.collection_name OFFSET 0) c)`
}

/** Packed keys, `collection/schema`, and versions of the schemas of a relation. */
export function schemaVersionsOf(relation: string): string {
  return `(SELECT ${packRows([`concat(s.collection_name, '/', s.schema_name)`, 's.version'])}
    FROM (SELECT DISTINCT collection_name, schema_name FROM ${relation}) d CROSS JOIN LATERAL (
      SELECT s.collection_name, s.schema_name, ${SCHEMA_VERSION} AS version FROM assets.schemas s
      WHERE s.collection_name = d.collection_name AND s.schema_name = d.schema_name OFFSET 0) s)`
}

/** Packed ids and versions of the templates of a relation. */
export function templateVersionsOf(relation: string): string {
  return `(SELECT ${packRows(['t.template_id', 't.version'])}
    FROM (SELECT DISTINCT template_id FROM ${relation}) d CROSS JOIN LATERAL (
      SELECT t.template_id, ${TEMPLATE_VERSION} AS version FROM assets.templates t
      WHERE t.template_id = d.template_id OFFSET 0) t)`
}

/** Reads packed rows of a key and a value. */
export function readPairs(text: string | null | undefined): Map<string, string> {
  return new Map(unpackRows<[string, string]>(text))
}
