import type { Session } from '../../../database/index.ts'
import { jsonData, jsonMembers, quoted } from './json-sql.ts'
import { packRows, queryPacked } from './packed-rows.ts'
import type { Part } from './part-cache.ts'
import type { Parts } from './parts.ts'
import { COLLECTION_VERSION, dataMembers, SCHEMA_VERSION, TEMPLATE_VERSION } from './parts.ts'

/** Largest integer that JSON readers hold exactly as a number. */
const MAX_EXACT = '9007199254740991'

/** Ids of one statement. */
const BATCH = 2_000

const BACKED_TOKENS = `coalesce((SELECT json_agg(json_build_object('token_contract', y.token_contract,
      'token_symbol', y.token_symbol, 'token_precision', y.token_precision,
      'amount', CASE WHEN k.amount <= ${MAX_EXACT} THEN to_json(k.amount) ELSE to_json(k.amount::text) END)
      ORDER BY k.token_symbol)
    FROM assets.backed_tokens k JOIN assets.tokens y USING (token_symbol) WHERE k.asset_id = a.asset_id), '[]')`

const OWN_MEMBERS = jsonMembers({
  asset_id: quoted('a.asset_id'),
  owner: quoted('a.owner'),
  mutable_data: jsonData('a.mutable_data'),
  immutable_data: jsonData('a.immutable_data'),
  template_mint: `'"' || coalesce(a.template_mint, 0) || '"'`,
  backed_tokens: BACKED_TOKENS,
  burned_by_account: quoted('a.burned_by_account'),
  burned_at_block: quoted('a.burned_at_block'),
  burned_at_time: quoted('a.burned_at_time'),
  updated_at_block: quoted('a.updated_at_block'),
  updated_at_time: quoted('a.updated_at_time'),
  transferred_at_block: quoted('a.transferred_at_block'),
  transferred_at_time: quoted('a.transferred_at_time'),
  minted_at_block: quoted('a.minted_at_block'),
  minted_at_time: quoted('a.minted_at_time'),
  original_mint: `'null'`,
})

/** Most assets have no attributes of their own: their merged data is that of the template, which is kept. */
const HAS_OWN_DATA = '(a.immutable_data IS NOT NULL OR a.mutable_data IS NOT NULL)'

const MERGED = `(SELECT coalesce(t.mutable_data, '{}'::jsonb) || coalesce(a.mutable_data, '{}')
    || coalesce(a.immutable_data, '{}') || coalesce(t.immutable_data, '{}'))`

const STATEMENT = {
  name: 'asset-records',
  text: `SELECT ${packRows([
    'a.asset_id',
    OWN_MEMBERS,
    'a.collection_name',
    COLLECTION_VERSION,
    'a.schema_name',
    SCHEMA_VERSION,
    't.template_id',
    TEMPLATE_VERSION,
    `CASE WHEN ${HAS_OWN_DATA} THEN ${MERGED} END`,
    `CASE WHEN ${HAS_OWN_DATA} THEN ${MERGED} -> 'name' END`,
  ])}
    FROM assets.assets a
      JOIN assets.collections c ON c.collection_name = a.collection_name
      JOIN assets.schemas s ON s.collection_name = a.collection_name AND s.schema_name = a.schema_name
      LEFT JOIN assets.templates t ON t.template_id = a.template_id
    WHERE a.asset_id = ANY($1::bigint[])`,
}

/** Texts; empty where there is no template, or no data of the asset's own. */
type AssetRow = [
  id: string,
  own: string,
  collection: string,
  collectionVersion: string,
  schema: string,
  schemaVersion: string,
  template: string,
  templateVersion: string,
  data: string,
  name: string,
]

/** Makes the records of some keys as JSON text, by key. A key without a row is missing. */
export type RecordRenderer = (
  session: Session,
  contract: string,
  parts: Parts,
  keys: readonly string[],
) => Promise<Map<string, string>>

/** An asset and its template (empty without one). */
export type AssetKey = readonly [id: string, templateId: string]

/** Looks up what else is said of assets; the result makes further JSON members of one of them. */
export type MoreMembers = (
  session: Session,
  assets: readonly AssetKey[],
) => Promise<(asset: AssetKey) => string>

const noMore: MoreMembers = () => Promise.resolve(() => '')

/**
 * The records of assets as JSON text, by id. An asset that is not known, or whose collection or schema is not, is
 * missing.
 */
export const renderAssets: RecordRenderer = assetRenderer(noMore)

/** Makes a renderer of assets whose records have further members. */
export function assetRenderer(more: MoreMembers): RecordRenderer {
  return async (session, contract, parts, ids) => {
    const records = new Map<string, string>()
    for (let at = 0; at < ids.length; at += BATCH) {
      const values = [ids.slice(at, at + BATCH)]
      const rows = await queryPacked<AssetRow>(session, { ...STATEMENT, values })
      const loaded = await loadParts(session, parts, rows)
      const keys = rows.map((row): AssetKey => [row[0], row[6]])
      const membersOf = await more(session, keys)
      rows.forEach((row, index) => {
        const text = assetText(contract, row, loaded)
        if (text === undefined) return
        const members = membersOf(keys[index]!)
        records.set(row[0], members === '' ? `${text}}` : `${text},${members}}`)
      })
    }
    return records
  }
}

interface LoadedParts {
  readonly collections: ReadonlyMap<string, Part>
  readonly schemas: ReadonlyMap<string, Part>
  readonly templates: ReadonlyMap<string, Part>
}

async function loadParts(session: Session, parts: Parts, rows: readonly AssetRow[]): Promise<LoadedParts> {
  const collections = new Map<string, string>()
  const schemas = new Map<string, string>()
  const templates = new Map<string, string>()
  for (const [, , collection, collectionVersion, schema, schemaVersion, template, templateVersion] of rows) {
    collections.set(collection, collectionVersion)
    schemas.set(`${collection}/${schema}`, schemaVersion)
    if (template !== '') templates.set(template, templateVersion)
  }
  return {
    collections: await parts.lightCollections.load(session, collections),
    schemas: await parts.schemas.load(session, schemas),
    templates: await parts.templates.load(session, templates),
  }
}

/** The record without its closing brace. */
function assetText(contract: string, row: AssetRow, loaded: LoadedParts): string | undefined {
  const [, own, collectionName, , schemaName, , templateId, , ownData, ownName] = row
  const collection = loaded.collections.get(collectionName)
  const schema = loaded.schemas.get(`${collectionName}/${schemaName}`)
  // Gone between two statements: a fork has just undone it.
  if (!collection || !schema) return undefined
  const template = templateId === '' ? undefined : loaded.templates.get(templateId)
  const [members, data, name, flags] = template ?? []
  const shown = template
    ? `${flags!},"template":{${members!},"data":${data!}}`
    : '"is_transferable":true,"is_burnable":true,"template":null'
  const merged = ownData === '' ? dataMembers(data ?? '{}', name ?? '') : dataMembers(ownData, ownName)
  return `{"contract":"${contract}",${own},"collection":${collection[0]!},"schema":{${schema[0]!}},${shown},${merged}`
}
