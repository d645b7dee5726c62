import type { Statements } from '../../store/index.ts'
import type { ImportWorker } from './workers.ts'

/**
 * Temporary tables for data from the log of the source database. Later steps complete or check rows of the assets
 * family with these data.
 */
export const loggedTables = [
  'CREATE TABLE import.templates (template_id bigint NOT NULL, is_brief boolean NOT NULL)',
  'CREATE TABLE import.typed_schemas (collection_name text NOT NULL, schema_name text NOT NULL)',
  'CREATE TABLE import.creations (collection_name text NOT NULL, schema_name text)',
]

const statements = [
  // atomicassets-api stores null both for a schema without media types and for an empty list of media types. If an
  // action has set the media types of the schema, null means an empty list.
  `UPDATE assets.schemas s SET types = '[]' FROM import.typed_schemas t
   WHERE t.collection_name = s.collection_name AND t.schema_name = s.schema_name AND s.types IS NULL`,
  // A template that one transaction created and deleted has no row in the source database, but the contract assigned an
  // id to the template. The template counter has to be above this id.
  `UPDATE assets.config SET template_counter = n.next
   FROM (SELECT max(template_id) + 1 AS next FROM import.templates) n WHERE n.next > template_counter`,
]

/**
 * Completes rows with data that only the log of the source database contains: media types of schemas and the template
 * counter.
 * @returns number of changed rows.
 */
export async function completeFromLog({ target }: ImportWorker): Promise<number> {
  let changed = 0
  for (const statement of statements) changed += (await target.query(statement)).rowCount ?? 0
  return changed
}

/**
 * SELECT of the ids of templates that one transaction created and deleted and that have no row in `assets.templates`.
 */
export const BRIEF_TEMPLATES = `
  SELECT template_id FROM import.templates l
  WHERE is_brief AND NOT EXISTS (SELECT FROM assets.templates t WHERE t.template_id = l.template_id)`

/** Ids of the templates that one transaction created and deleted and that have no row, ascending. */
export async function findBriefTemplates(within: Statements): Promise<string[]> {
  const rows = await within.select<{ id: bigint }>(
    `SELECT template_id AS id FROM (${BRIEF_TEMPLATES}) b ORDER BY 1`,
    [],
  )
  return rows.map(({ id }) => id.toString())
}
