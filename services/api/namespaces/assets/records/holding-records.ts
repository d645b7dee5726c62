import type { Session } from '../../../database/index.ts'
import type { Json } from '../../../json/index.ts'
import { jsonArray } from '../../../json/index.ts'
import { assemblerOf, readTogether, wantedTogether } from '../../../records/index.ts'
import { collections, schemasOfAccount, templates } from '../../nft/records/index.ts'
import type { AssetsSetup } from '../setup.ts'

/** Numbers of assets of an account, by collection, schema and template. */
export interface Holdings {
  readonly total: bigint
  /** Number of assets per collection: most assets first, equal numbers by collection name. */
  readonly collections: readonly Holding[]
  /** Number of assets per schema, key `collection/schema`: most assets first, equal numbers by key. */
  readonly schemas: readonly Holding[]
  /**
   * Number of assets per template: most assets first, equal numbers by collection and template id, with the assets
   * without a template last in their collection.
   */
  readonly templates: readonly TemplateHolding[]
}

/** Number of assets of one collection or schema. */
export interface Holding {
  readonly key: string
  readonly assets: bigint
}

/** A number of assets: of one template, or of all assets of a collection that have no template (`template` is null). */
export interface TemplateHolding {
  readonly collection: string
  readonly template: number | null
  readonly assets: bigint
}

/**
 * Numbers of the assets that an account owns, as JSON: by collection, schema and template, each with its record, and
 * the total.
 */
export async function accountDetailJson(
  session: Session,
  source: AssetsSetup,
  holdings: Holdings,
): Promise<Json> {
  const held = holdings.templates.filter(({ template }) => template !== null)
  const [heldCollections, heldSchemas, heldTemplates] = await readHeld(session, source, [
    holdings.collections.map(({ key }) => key),
    holdings.schemas.map(({ key }) => key),
    held.map(({ template }) => String(template)),
  ])
  const templateRows = held.flatMap(({ template, collection, assets }) => {
    const record = heldTemplates!.get(String(template))
    if (record === undefined) return []
    const own = `"template_id":"${template!}","collection_name":"${collection}","assets":"${assets}"`
    return [['{"template":', record, `,${own}}`]]
  })
  return [
    '{"collections":',
    heldRows('collection', holdings.collections, heldCollections!),
    ',"schemas":',
    heldRows('schema', holdings.schemas, heldSchemas!),
    ',"templates":',
    jsonArray(templateRows),
    `,"assets":"${holdings.total}"}`,
  ]
}

/**
 * The assets that an account burned, as JSON: numbers by collection with the records of the collections, numbers by
 * template id, and the total.
 */
export async function burnDetailJson(
  session: Session,
  source: AssetsSetup,
  holdings: Holdings,
): Promise<Json> {
  const names = holdings.collections.map(({ key }) => key)
  const [held] = await readHeld(session, source, [names])
  const rows = heldRows('collection', holdings.collections, held!)
  const burned = holdings.templates.map(({ template, collection, assets }) => {
    const id = template === null ? 'null' : `"${template}"`
    return `{"collection_name":"${collection}","template_id":${id},"assets":"${assets}"}`
  })
  return ['{"collections":', rows, `,"templates":[${burned.join(',')}],"assets":${holdings.total}}`]
}

/**
 * Reads the records of collections, schemas and templates by key, with one statement, and one more for fragments that
 * are not cached.
 */
async function readHeld(
  session: Session,
  source: AssetsSetup,
  keys: readonly (readonly string[])[],
): Promise<ReadonlyMap<string, Json>[]> {
  const assemblers = [collections, schemasOfAccount, templates]
    .slice(0, keys.length)
    .map((kind) => assemblerOf(kind, source.settings))
  const parts = assemblers.map(({ keyType, select }, index) => {
    const relation = `held${index}`
    return { relation, keys: keys[index]!, type: keyType, selection: select(relation) }
  })
  const texts = await readTogether(session, parts)
  const pending = assemblers.map(({ read }, index) => read(texts[index]!))
  const found = await source.shared.loadAll(
    session,
    wantedTogether(...pending.map(({ versions }) => versions)),
  )
  return pending.map(({ assemble }) => assemble(found))
}

/**
 * Leaves out collections, schemas and templates without a record: the record is not stored yet, or a fork has just
 * rolled it back.
 */
function heldRows(name: string, holdings: readonly Holding[], records: ReadonlyMap<string, Json>): Json {
  const known = holdings.flatMap(({ key, assets }) => {
    const record = records.get(key)
    return record === undefined ? [] : [[`{"${name}":`, record, `,"assets":"${assets}"}`]]
  })
  return jsonArray(known)
}
