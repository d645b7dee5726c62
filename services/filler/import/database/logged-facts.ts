import type { Statements } from '../../store/index.ts'
import type { ImportWorker } from './workers.ts'

/** Temporary tables of facts from the log that complete rows of the assets family. */
export const loggedTables = [
  'CREATE TABLE import.templates (template_id bigint NOT NULL, is_brief boolean NOT NULL)',
  'CREATE TABLE import.typed_schemas (collection_name text NOT NULL, schema_name text NOT NULL)',
  'CREATE TABLE import.creations (collection_name text NOT NULL, schema_name text)',
]

const statements = [
  // atomicassets-api stores null both for "no media types set" and for "empty list of media types".
  `UPDATE assets.schemas s SET types = '[]' FROM import.typed_schemas t
   WHERE t.collection_name = s.collection_name AND t.schema_name = s.schema_name AND s.types IS NULL`,
  // A template that one transaction created and deleted has no row in the source database, but the contract assigned an
  // id to the template.
  `UPDATE assets.config SET template_counter = n.next
   FROM (SELECT max(template_id) + 1 AS next FROM import.templates) n WHERE n.next > template_counter`,
]

/**
 * Completes rows with facts that only the log of the source database contains.
 * @returns number of changed rows.
 */
export async function completeFromLog({ target }: ImportWorker): Promise<number> {
  let changed = 0
  for (const statement of statements) changed += (await target.query(statement)).rowCount ?? 0
  return changed
}

/** SELECT of the templates that one transaction created and deleted and that have no row in the source database. */
export const BRIEF_TEMPLATES = `
  SELECT template_id FROM import.templates l
  WHERE is_brief AND NOT EXISTS (SELECT FROM assets.templates t WHERE t.template_id = l.template_id)`

/** Ids of the templates that only the log of the source database names, ascending. */
export async function findBriefTemplates(within: Statements): Promise<string[]> {
  const rows = await within.select<{ id: bigint }>(
    `SELECT template_id AS id FROM (${BRIEF_TEMPLATES}) b ORDER BY 1`,
    [],
  )
  return rows.map(({ id }) => id.toString())
}
