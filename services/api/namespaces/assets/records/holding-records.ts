import type { Session } from '../../../database/index.ts'
import type { Json } from '../../../json/index.ts'
import { jsonArray } from '../../../json/index.ts'
import { renderBareSchemas, renderCollections, renderTemplates } from './entity-records.ts'
import type { Parts } from './parts.ts'

/** How many assets an account has, by what they are. */
export interface Holdings {
  readonly total: bigint
  /** By collection name; most first, then by name. */
  readonly collections: readonly Holding[]
  /** By schema, key `collection/schema`; most first, then by key. */
  readonly schemas: readonly Holding[]
  /** By template; most first, then by collection and id, assets without a template last. */
  readonly templates: readonly TemplateHolding[]
}

/** A number of assets of one kind. */
export interface Holding {
  readonly key: string
  readonly assets: bigint
}

/** A number of assets of one template, or of a collection without any. */
export interface TemplateHolding {
  readonly collection: string
  readonly template: number | null
  readonly assets: bigint
}

/** What an account owns, as JSON: collections, schemas, templates with their records, and the total. */
export async function renderAccountDetail(
  session: Session,
  contract: string,
  parts: Parts,
  holdings: Holdings,
): Promise<Json> {
  const held = holdings.templates.filter(({ template }) => template !== null)
  const ids = held.map(({ template }) => String(template))
  const collections = await collectionRows(session, contract, parts, holdings)
  const schemaKeys = holdings.schemas.map(({ key }) => key)
  const schemas = rows(
    'schema',
    holdings.schemas,
    await renderBareSchemas(session, contract, parts, schemaKeys),
  )
  const records = await renderTemplates(session, contract, parts, ids)
  const templates = held.flatMap(({ template, collection, assets }) => {
    const record = records.get(String(template))
    if (record === undefined) return []
    const own = `"template_id":"${template!}","collection_name":"${collection}","assets":"${assets}"`
    return [['{"template":', record, `,${own}}`]]
  })
  const lists = ['"collections":', collections, ',"schemas":', schemas, ',"templates":', jsonArray(templates)]
  return ['{', ...lists, `,"assets":"${holdings.total}"}`]
}

/** What an account burned, as JSON: collections with their records, templates by id, and the total. */
export async function renderBurnDetail(
  session: Session,
  contract: string,
  parts: Parts,
  holdings: Holdings,
): Promise<Json> {
  const collections = await collectionRows(session, contract, parts, holdings)
  const templates = holdings.templates.map(({ template, collection, assets }) => {
    const id = template === null ? 'null' : `"${template}"`
    return `{"collection_name":"${collection}","template_id":${id},"assets":"${assets}"}`
  })
  return ['{"collections":', collections, `,"templates":[${templates.join(',')}],"assets":${holdings.total}}`]
}

async function collectionRows(
  session: Session,
  contract: string,
  parts: Parts,
  { collections }: Holdings,
): Promise<Json> {
  const names = collections.map(({ key }) => key)
  return rows('collection', collections, await renderCollections(session, contract, parts, names))
}

/** A record that is not known, or that a fork has just undone, is left out. */
function rows(name: string, holdings: readonly Holding[], records: ReadonlyMap<string, Json>): Json {
  const known = holdings.flatMap(({ key, assets }) => {
    const record = records.get(key)
    return record === undefined ? [] : [[`{"${name}":`, record, `,"assets":"${assets}"}`]]
  })
  return jsonArray(known)
}
