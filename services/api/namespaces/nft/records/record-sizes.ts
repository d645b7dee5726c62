import { raw } from '../../../sql/index.ts'
import type { ContainingRows, Selection } from '../../../records/index.ts'
import { cte } from '../../../records/index.ts'
import { fragmentBytes } from '../../../records/fragments/index.ts'
import { textsBytes } from '../../../records/sizes/index.ts'
import { packRows } from '../../../database/index.ts'
import { COLLECTIONS, collectionRecordFragment, collectionRow, schemaRow } from './shared-rows.ts'

/**
 * Estimated size of the members with a bounded length in a record of an asset, including the prices of its template.
 */
const ASSET_BYTES = 1_500
const ENTITY_BYTES = 500

/** SQL of the size in bytes of the attributes of an asset or a template. */
const attributeBytes = (alias: string): string =>
  `(coalesce(octet_length(${alias}.immutable_data::text), 0) + coalesce(octet_length(${alias}.mutable_data::text), 0))`

/** SQL of the size in bytes of the name of an asset or a template; the record shows the name a second time. */
const nameBytes = (alias: string): string =>
  `(coalesce(octet_length((${alias}.immutable_data -> 'name')::text), 0)
    + coalesce(octet_length((${alias}.mutable_data -> 'name')::text), 0))`

/**
 * SQL of the size of a row's collection as part of the record of the row, bytes.
 * @param relation alias of the row.
 */
const collectionBytes = (relation: string): string =>
  `coalesce((SELECT ${fragmentBytes(collectionRow.kind)} FROM assets.collections c
      WHERE c.collection_name = ${relation}.collection_name), 0)`

/** SQL of the size of a row's template as part of the record of the row, bytes. */
const templateBytes = (relation: string): string =>
  `coalesce((SELECT 2 * ${attributeBytes('t')} FROM assets.templates t WHERE t.template_id = ${relation}.template_id), 0)`

/** SQL of the size of a row's collection and schema as parts of the record of the row, bytes. */
const nestedBytes = (relation: string): string =>
  `${collectionBytes(relation)}
    + coalesce((SELECT ${fragmentBytes(schemaRow.kind)} FROM assets.schemas s
      WHERE s.collection_name = ${relation}.collection_name AND s.schema_name = ${relation}.schema_name), 0)`

/**
 * WITH items that measure assets. The last item is named `measured` and has one row for each asset: `asset_id`, `bytes`
 * (approximate size of the record) and `own` (size without the shared rows). A row that several assets share is
 * measured once.
 */
function measuredAssets(keys: string): Selection['ctes'] {
  return [
    cte(
      'm',
      `SELECT a.* FROM ${keys} p CROSS JOIN LATERAL (
        SELECT a.asset_id, a.collection_name, a.schema_name, a.template_id, ${attributeBytes('a')} AS own, ${nameBytes('a')} AS name
        FROM assets.assets a WHERE a.asset_id = p.k OFFSET 0) a`,
    ),
    cte(
      'shared',
      `SELECT d.*, ${nestedBytes('d')} + coalesce((SELECT 3 * ${attributeBytes('t')} + ${nameBytes('t')}
          FROM assets.templates t WHERE t.template_id = d.template_id), 0) AS bytes
        FROM (SELECT DISTINCT m.collection_name, m.schema_name, m.template_id FROM m) d`,
    ),
    cte(
      'measured',
      `SELECT m.asset_id, m.own + ${ASSET_BYTES} AS own, ${ASSET_BYTES} + 2 * m.own + m.name + h.bytes AS bytes
        FROM m JOIN shared h ON h.collection_name = m.collection_name AND h.schema_name = m.schema_name
          AND h.template_id IS NOT DISTINCT FROM m.template_id`,
    ),
  ]
}

/** Selects the sizes of assets. */
export function measureAssets(keys: string): Selection {
  return {
    ctes: measuredAssets(keys),
    columns: [raw(`(SELECT ${packRows(['x.asset_id', 'x.bytes', 'x.own'])} FROM measured x)`)],
  }
}

/**
 * Selects the sizes of records that contain assets. The size of an asset counts in each record that contains the asset.
 * @param shows which further objects each record contains: its collection, its template, both or none.
 */
export function measureContaining(
  { ctes, relation, contained, key, texts, keys }: ContainingRows,
  shows: readonly ('collection' | 'template')[] = [],
): Selection {
  const further = shows.map((shown) =>
    shown === 'collection' ? ` + ${collectionBytes(relation)}` : ` + ${templateBytes(relation)}`,
  )
  const rows = `SELECT ${key} AS key,
      ${ENTITY_BYTES} + ${textsBytes(texts)}${further.join('')} + coalesce(x.bytes, 0) AS bytes, coalesce(x.own, 0) AS own
    FROM ${relation} LEFT JOIN LATERAL (SELECT sum(y.bytes) AS bytes, sum(y.own) AS own
      FROM unnest(${keys}) u(id) JOIN measured y ON y.asset_id = u.id) x ON true`
  return {
    ctes: [...ctes, ...measuredAssets(contained)],
    columns: [raw(`(SELECT ${packRows(['z.key', 'z.bytes', 'z.own'])} FROM (${rows}) z)`)],
  }
}

/**
 * Selects the sizes of collections, schemas or templates.
 * @param row SELECT of `key` and `bytes`, with FROM and WHERE, which finds the row with the key `p.k`.
 */
function measureRows(keys: string, row: string): Selection {
  const rows = `SELECT x.key, ${ENTITY_BYTES} + x.bytes AS bytes FROM ${keys} p CROSS JOIN LATERAL (${row} OFFSET 0) x`
  return {
    ctes: [],
    columns: [raw(`(SELECT ${packRows(['z.key', 'z.bytes', 'z.bytes'])} FROM (${rows}) z)`)],
  }
}

export const measureCollections = (keys: string): Selection =>
  measureRows(
    keys,
    `SELECT c.collection_name AS key, ${fragmentBytes(collectionRecordFragment)} AS bytes
      FROM ${COLLECTIONS} WHERE c.collection_name = p.k`,
  )

export const measureSchemas = (keys: string): Selection =>
  measureRows(
    keys,
    `SELECT p.k AS key, ${nestedBytes('q')} AS bytes FROM (SELECT split_part(p.k, '/', 1) AS collection_name,
      split_part(p.k, '/', 2) AS schema_name) q`,
  )

export const measureTemplates = (keys: string): Selection =>
  measureRows(
    keys,
    `SELECT t.template_id AS key, 2 * ${attributeBytes('t')} + ${nameBytes('t')} + ${nestedBytes('t')} AS bytes
      FROM assets.templates t WHERE t.template_id = p.k`,
  )
