import { raw } from '../../../sql/index.ts'
import type { Selection } from '../../../records/index.ts'
import { cte } from '../../../records/index.ts'
import { textsBytes } from '../../../records/sizes/index.ts'
import { packRows } from '../../../database/index.ts'
import { collectionFragment, collectionRecordFragment, schemaFragment } from '../fragments/index.ts'

/** Bytes of the members of a record that have no own texts; prices of an asset's template are among them. */
const ASSET_BYTES = 1_500
const ENTITY_BYTES = 500

/** SQL of the bytes of the attributes of an asset or a template. */
const attributeBytes = (alias: string): string =>
  `(coalesce(octet_length(${alias}.immutable_data::text), 0) + coalesce(octet_length(${alias}.mutable_data::text), 0))`

/** SQL of the bytes of an asset's or a template's name, which the record repeats. */
const nameBytes = (alias: string): string =>
  `(coalesce(octet_length((${alias}.immutable_data -> 'name')::text), 0)
    + coalesce(octet_length((${alias}.mutable_data -> 'name')::text), 0))`

/** SQL of the bytes of a row's collection in its record. @param relation alias of the row. */
export const collectionBytes = (relation: string): string =>
  `coalesce((SELECT ${textsBytes(collectionFragment.texts)} FROM assets.collections c
      WHERE c.collection_name = ${relation}.collection_name), 0)`

/** SQL of the bytes of a row's template in its record. */
export const templateBytes = (relation: string): string =>
  `coalesce((SELECT 2 * ${attributeBytes('t')} FROM assets.templates t WHERE t.template_id = ${relation}.template_id), 0)`

/** SQL of the bytes of a row's collection and schema in its record. */
const nestedBytes = (relation: string): string =>
  `${collectionBytes(relation)}
    + coalesce((SELECT ${textsBytes(schemaFragment.texts)} FROM assets.schemas s
      WHERE s.collection_name = ${relation}.collection_name AND s.schema_name = ${relation}.schema_name), 0)`

/**
 * WITH items that end in `measured`: of each asset its id, `bytes` of its record, about, and `own`, the bytes that only it
 * has. What many assets share is measured once.
 */
function measuredAssets(keys: string): Selection['ctes'] {
  return [
    cte(
      'm',
      `SELECT p.n, a.* FROM ${keys} p CROSS JOIN LATERAL (
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
      `SELECT m.n, m.asset_id, m.own + ${ASSET_BYTES} AS own, ${ASSET_BYTES} + 2 * m.own + m.name + h.bytes AS bytes
        FROM m JOIN shared h ON h.collection_name = m.collection_name AND h.schema_name = m.schema_name
          AND h.template_id IS NOT DISTINCT FROM m.template_id`,
    ),
  ]
}

/** Selects the sizes of assets. */
export function measureAssets(keys: string): Selection {
  return {
    ctes: measuredAssets(keys),
    columns: [raw(`(SELECT ${packRows(['x.asset_id', 'x.bytes', 'x.own'], 'x.n')} FROM measured x)`)],
  }
}

/** Records that contain assets. */
export interface ContainingRows {
  /** WITH items, with `r`: the rows with their places, `n`; and the relation of the assets in them. */
  readonly ctes: Selection['ctes']
  readonly contained: string
  /** SQL of the key, of the texts, and of an array of the assets of a row, `r`. */
  readonly key: string
  readonly texts: readonly string[]
  readonly assetIds: string
  /** SQL of the bytes of what else the record shows. */
  readonly further?: string
}

/** Selects the sizes of records that contain assets. An asset that is in several of them counts in each. */
export function measureContaining({
  ctes,
  contained,
  key,
  texts,
  assetIds,
  further = '0',
}: ContainingRows): Selection {
  const rows = `SELECT r.n, ${key} AS key, ${ENTITY_BYTES} + ${textsBytes(texts)} + ${further} + coalesce(x.bytes, 0) AS bytes,
      coalesce(x.own, 0) AS own
    FROM r LEFT JOIN LATERAL (SELECT sum(y.bytes) AS bytes, sum(y.own) AS own
      FROM unnest(${assetIds}) u(id) JOIN measured y ON y.asset_id = u.id) x ON true`
  return {
    ctes: [...ctes, ...measuredAssets(contained)],
    columns: [raw(`(SELECT ${packRows(['z.key', 'z.bytes', 'z.own'], 'z.n')} FROM (${rows}) z)`)],
  }
}

/** Selects the sizes of collections, schemas and templates. @param row columns `key` and `bytes`, FROM and WHERE of a key, `p.k`. */
function measureRows(keys: string, row: string): Selection {
  const rows = `SELECT p.n, x.key, ${ENTITY_BYTES} + x.bytes AS bytes FROM ${keys} p CROSS JOIN LATERAL (${row} OFFSET 0) x`
  return {
    ctes: [],
    columns: [raw(`(SELECT ${packRows(['z.key', 'z.bytes', 'z.bytes'], 'z.n')} FROM (${rows}) z)`)],
  }
}

export const measureCollections = (keys: string): Selection =>
  measureRows(
    keys,
    `SELECT c.collection_name AS key, ${textsBytes(collectionRecordFragment.texts)} AS bytes
      FROM assets.collections c LEFT JOIN assets.author_swaps w USING (collection_name) WHERE c.collection_name = p.k`,
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
