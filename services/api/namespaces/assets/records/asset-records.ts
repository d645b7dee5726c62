import type { Session, Statement } from '../../../database/index.ts'
import type { Json, KeptJson } from '../../../json/index.ts'
import { packRows, unpackRows } from './packed-rows.ts'
import type { Ingredient } from './composed-json.ts'
import type { Part } from './part-cache.ts'
import type { Parts } from './parts.ts'
import { ASSET_VERSION, COLLECTION_VERSION, dataMembers, SCHEMA_VERSION, TEMPLATE_VERSION } from './parts.ts'

/** Largest integer that JSON readers hold exactly as a number. */
const MAX_EXACT = '9007199254740991'

/** Ids of one statement. */
const BATCH = 2_000

/** Few assets are backed: what backs them is read with their versions. */
const backedTokens = (ids: string): string => `(SELECT json_object_agg(b.asset_id, b.tokens) FROM (
      SELECT k.asset_id, json_agg(json_build_object('token_contract', y.token_contract,
        'token_symbol', y.token_symbol, 'token_precision', y.token_precision,
        'amount', CASE WHEN k.amount <= ${MAX_EXACT} THEN to_json(k.amount) ELSE to_json(k.amount::text) END)
        ORDER BY k.token_symbol)::text AS tokens
      FROM assets.backed_tokens k JOIN assets.tokens y USING (token_symbol) WHERE k.asset_id ${ids}
      GROUP BY k.asset_id) b)`

const versions = (name: string, ids: string): Omit<Statement, 'values'> => ({
  name,
  text: `SELECT ${packRows(['a.asset_id', ASSET_VERSION, COLLECTION_VERSION, SCHEMA_VERSION, TEMPLATE_VERSION])},
      ${backedTokens(ids)}
    FROM assets.assets a
      JOIN assets.collections c ON c.collection_name = a.collection_name
      JOIN assets.schemas s ON s.collection_name = a.collection_name AND s.schema_name = a.schema_name
      LEFT JOIN assets.templates t ON t.template_id = a.template_id
    WHERE a.asset_id ${ids}`,
})

const VERSIONS = versions('asset-versions', '= ANY($1::bigint[])')
/** A list of one would be planned anew each time: PostgreSQL expects ten ids where it does not know. */
const VERSIONS_OF_ONE = versions('asset-version', '= $1::bigint')

/** Versions of an asset and of what it is shown with; that of the template is empty without one. */
type VersionRow = readonly [id: string, asset: string, collection: string, schema: string, template: string]

/** Makes the records of some keys as JSON, by key. A key without a row is missing. */
export type RecordRenderer = (
  session: Session,
  contract: string,
  parts: Parts,
  keys: readonly string[],
) => Promise<Map<string, KeptJson>>

/** An asset and its template (empty without one). */
export type AssetKey = readonly [id: string, templateId: string]

/** Further JSON members of an asset, and everything that they are made of. */
export interface More {
  readonly of: readonly Ingredient[]
  readonly members: () => string
}

/** Looks up what else is said of assets. */
export type MoreMembers = (
  session: Session,
  assets: readonly AssetKey[],
) => Promise<(asset: AssetKey) => More>

const nothing: More = { of: [], members: () => '' }

/** The records of assets, by id. An asset that is not known, or whose collection or schema is not, is missing. */
export const renderAssets: RecordRenderer = assetRenderer('asset', () => Promise.resolve(() => nothing))

/** Makes a renderer of assets whose records have further members. @param kind tells its records from those of others. */
export function assetRenderer(kind: string, more: MoreMembers): RecordRenderer {
  return async (session, contract, parts, ids) => {
    const records = new Map<string, KeptJson>()
    for (let at = 0; at < ids.length; at += BATCH) {
      const assets = await loadAssets(session, parts, ids.slice(at, at + BATCH))
      const keys = assets.map(({ id, own }): AssetKey => [id, own[4]!])
      const membersOf = await more(session, keys)
      assets.forEach((asset, index) => {
        const { id, own, collection, schema, template, backedTokens } = asset
        const { of, members } = membersOf(keys[index]!)
        const all = [contract, own, collection, schema, template, backedTokens, ...of]
        const record = parts.composed.get(`${kind} ${id}`, all, () => {
          const further = members()
          return [...assetMembers(contract, parts, asset), further === '' ? '}' : `,${further}}`]
        })
        records.set(id, record)
      })
    }
    return records
  }
}

/** What an asset is shown with. */
interface LoadedAsset {
  readonly id: string
  readonly own: Part
  readonly collection: Part
  readonly schema: Part
  readonly template: Part | undefined
  /** JSON array. */
  readonly backedTokens: string
}

async function loadAssets(session: Session, parts: Parts, ids: readonly string[]): Promise<LoadedAsset[]> {
  const { rows, backed } = await readVersions(session, ids)
  const own = await parts.assets.load(session, new Map(rows.map(([id, version]) => [id, version])))
  const wanted = {
    collections: new Map<string, string>(),
    schemas: new Map<string, string>(),
    templates: new Map<string, string>(),
  }
  for (const [id, , collectionVersion, schemaVersion, templateVersion] of rows) {
    const [, , collection, schema, template] = own.get(id) ?? []
    // Gone between two statements: a fork has just undone it.
    if (collection === undefined) continue
    wanted.collections.set(collection, collectionVersion)
    wanted.schemas.set(schema!, schemaVersion)
    if (template !== '') wanted.templates.set(template!, templateVersion)
  }
  const collections = await parts.lightCollections.load(session, wanted.collections)
  const schemas = await parts.schemas.load(session, wanted.schemas)
  const templates = await parts.templates.load(session, wanted.templates)
  return rows.flatMap(([id]) => {
    const asset = own.get(id)
    const collection = asset && collections.get(asset[2]!)
    const schema = asset && schemas.get(asset[3]!)
    if (!collection || !schema) return []
    const backedTokens = backed[id] ?? '[]'
    return [{ id, own: asset, collection, schema, template: templates.get(asset[4]!), backedTokens }]
  })
}

async function readVersions(
  session: Session,
  ids: readonly string[],
): Promise<{ rows: VersionRow[]; backed: Readonly<Record<string, string>> }> {
  const [found] = await session.query<[string | null, Record<string, string> | null]>({
    ...(ids.length === 1 ? VERSIONS_OF_ONE : VERSIONS),
    values: ids.length === 1 ? ids : [ids],
  })
  return { rows: unpackRows<VersionRow>(found?.[0] ?? null), backed: found?.[1] ?? {} }
}

/** The record without its closing brace: what is its own, then what it has in common with others. */
function assetMembers(contract: string, parts: Parts, asset: LoadedAsset): Json[] {
  const [before, after, , schemaKey, templateId, data, name] = asset.own
  const own = `{"contract":"${contract}",${before!},"backed_tokens":${asset.backedTokens},${after!},`
  const { collection, schema, template } = asset
  const of = [collection, schema, template]
  const kind = templateId === '' ? `schema ${schemaKey!}` : `template ${templateId!}`
  const shown = (): string =>
    `"collection":${collection[0]!},"schema":{${schema[0]!}},${templateMembers(template)}`
  if (data !== '') {
    const common = parts.composed.get(`asset of ${kind}`, of, shown)
    return [own, common, `,${dataMembers(data!, name!)}`]
  }
  const merged = (): string => dataMembers(template?.[1] ?? '{}', template?.[2] ?? '')
  return [own, parts.composed.get(`asset like its ${kind}`, of, () => `${shown()},${merged()}`)]
}

function templateMembers(template: Part | undefined): string {
  if (!template) return '"is_transferable":true,"is_burnable":true,"template":null'
  const [members, data, , flags] = template
  return `${flags!},"template":{${members!},"data":${data!}}`
}
