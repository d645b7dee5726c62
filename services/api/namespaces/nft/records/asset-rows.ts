import { raw } from '../../../sql/index.ts'
import type {
  FoundFragments,
  Fragment,
  FragmentKind,
  PageTexts,
  Selection,
  WantedFragments,
} from '../../../records/index.ts'
import { cte } from '../../../records/index.ts'
import { MAX_BYTES_AT_ONCE, MAX_ROWS_AT_ONCE, storedBytes } from '../../../records/sizes/index.ts'
import { packFields, packRows, unpackRows } from '../../../database/index.ts'
import {
  COLLECTION_VERSION,
  collectionFragment,
  SCHEMA_VERSION,
  schemaFragment,
  TEMPLATE_VERSION,
  templateFragment,
  collectionVersionsOf,
  schemaVersionsOf,
  templateVersionsOf,
  readPairs,
} from '../fragments/index.ts'

/** A row of assets.assets as its texts; null is empty. */
export type AssetRow = readonly [
  id: string,
  collection: string,
  schema: string,
  template: string,
  owner: string,
  mutableData: string,
  immutableData: string,
  templateMint: string,
  burnedByAccount: string,
  burnedAtBlock: string,
  burnedAtTime: string,
  updatedAtBlock: string,
  updatedAtTime: string,
  transferredAtBlock: string,
  transferredAtTime: string,
  mintedAtBlock: string,
  mintedAtTime: string,
]

const assetColumns = [
  'asset_id',
  'collection_name',
  'schema_name',
  'template_id',
  'owner',
  'mutable_data',
  'immutable_data',
  'template_mint',
  'burned_by_account',
  'burned_at_block',
  'burned_at_time',
  'updated_at_block',
  'updated_at_time',
  'transferred_at_block',
  'transferred_at_time',
  'minted_at_block',
  'minted_at_time',
]

const FIELDS = assetColumns.map((column) => `a.${column}`)

const BACKED_TOKENS = `json_agg(json_build_object('token_contract', y.token_contract,
        'token_symbol', y.token_symbol, 'token_precision', y.token_precision,
        'amount', k.amount)
        ORDER BY k.token_symbol)::text`

/**
 * Selects everything that assets are assembled from: their rows, in the order of the page, and once for each the
 * versions of the rows that they share. The WITH item `a` has the rows.
 * @param keys relation with the ids, `k`, and their places, `n`.
 */
export function selectAssets(keys: string): Selection {
  const rows = `SELECT p.n, ${FIELDS.join(', ')} FROM ${keys} p CROSS JOIN LATERAL (
      SELECT ${FIELDS.join(', ')} FROM assets.assets a WHERE a.asset_id = p.k OFFSET 0) a`
  return { ctes: [cte('a', rows)], columns: assetReads.map(raw), tooMuch: TOO_MUCH }
}

const TOO_MUCH = `(SELECT count(*) > ${MAX_ROWS_AT_ONCE}
    OR sum(${storedBytes('a.immutable_data')} + ${storedBytes('a.mutable_data')}) > ${MAX_BYTES_AT_ONCE} FROM a)`

/** Without `OFFSET 0` PostgreSQL may read a whole table for what it takes to be many keys. */
const assetReads = [
  `(SELECT ${packRows(FIELDS, 'a.n')} FROM a)`,
  collectionVersionsOf('a'),
  schemaVersionsOf('a'),
  templateVersionsOf('a'),
  `(SELECT ${packRows(['b.asset_id', 'b.tokens'])} FROM (
    SELECT k.asset_id, ${BACKED_TOKENS} AS tokens
    FROM a CROSS JOIN LATERAL (SELECT k.* FROM assets.backed_tokens k WHERE k.asset_id = a.asset_id OFFSET 0) k
      JOIN assets.tokens y USING (token_symbol) GROUP BY k.asset_id) b)`,
]

/** Number of columns of `selectAssets`. */
export const ASSET_COLUMN_COUNT = assetReads.length
/** One asset at `$1`, with the versions of what it shares and its tokens behind its row. */
export const oneAsset = {
  name: 'one-asset',
  text: `SELECT ${packFields([
    ...FIELDS,
    `(SELECT ${COLLECTION_VERSION} FROM assets.collections c WHERE c.collection_name = a.collection_name)`,
    `(SELECT ${SCHEMA_VERSION} FROM assets.schemas s
      WHERE s.collection_name = a.collection_name AND s.schema_name = a.schema_name)`,
    `(SELECT ${TEMPLATE_VERSION} FROM assets.templates t WHERE t.template_id = a.template_id)`,
    `(SELECT ${BACKED_TOKENS} FROM assets.backed_tokens k JOIN assets.tokens y USING (token_symbol)
      WHERE k.asset_id = a.asset_id)`,
  ])} FROM assets.assets a WHERE a.asset_id = $1::bigint`,
}

/** What assets are assembled from. */
export interface ReadAssets {
  readonly rows: readonly AssetRow[]
  readonly versions: WantedFragments
  /** JSON array of tokens by asset; one without any is missing. */
  readonly backedTokens: ReadonlyMap<string, string>
}

/** Reads the columns of `selectAssets`. */
export function readAssets(texts: PageTexts): ReadAssets {
  const [rows, collections, schemas, templates, backed] = texts
  const versions = new Map([
    [collectionFragment, readPairs(collections)],
    [schemaFragment, readPairs(schemas)],
    [templateFragment, readPairs(templates)],
  ])
  return { rows: unpackRows<AssetRow>(rows), versions, backedTokens: readPairs(backed) }
}

/** Reads the row of `oneAsset`. */
export function readOneAsset(text: string | undefined): ReadAssets {
  const [fields] = unpackRows<string[]>(text)
  if (!fields) return { rows: [], versions: new Map(), backedTokens: new Map() }
  const row = fields.slice(0, FIELDS.length) as unknown as AssetRow
  const [collection, schema, template, backed] = fields.slice(FIELDS.length) as [
    string,
    string,
    string,
    string,
  ]
  const [id, collectionName, schemaName, templateId] = row
  const versions = new Map<FragmentKind, ReadonlyMap<string, string>>()
  if (collection !== '') versions.set(collectionFragment, new Map([[collectionName, collection]]))
  if (schema !== '') versions.set(schemaFragment, new Map([[`${collectionName}/${schemaName}`, schema]]))
  if (template !== '') versions.set(templateFragment, new Map([[templateId, template]]))
  return { rows: [row], versions, backedTokens: new Map(backed === '' ? [] : [[id, backed]]) }
}

/** What an asset is shown with. */
export interface AssetFragments {
  readonly collection: Fragment
  readonly schema: Fragment
  readonly template: Fragment | undefined
}

/** The fragments of an asset; undefined when its collection or schema is not known. */
export function fragmentsOf(
  [, collectionName, schemaName, templateId]: AssetRow,
  found: FoundFragments,
): AssetFragments | undefined {
  const collection = found.get(collectionFragment, collectionName)
  const schema = found.get(schemaFragment, `${collectionName}/${schemaName}`)
  if (!collection || !schema) return undefined
  return { collection, schema, template: found.get(templateFragment, templateId) }
}
