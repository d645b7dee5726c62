import { Bindings, whereClause } from '../../../database/index.ts'
import type { EndpointContext, Values } from '../../../endpoint/index.ts'
import { collectionLists, oneOf } from '../../assets/index.ts'
import { bindIntegers, directionOf, pageWindow } from '../../paging/index.ts'
import type { PageWindow } from '../../paging/index.ts'
import type { MarketSetup } from '../setup.ts'
import type { AssetFilter, Way } from './asset-filter.ts'
import { assetFilter, resolveListedAssets } from './asset-filter.ts'
import { placeConditions, valueOf } from './branches.ts'
import type { ResolvedAssets } from './listed-assets.ts'
import { assetNumberConditions, collectionConditions, listingConditions } from './listing-conditions.ts'
import { matching } from './listing-share.ts'
import { listingTables } from './listing-table.ts'
import type { SalePricing } from './sale-prices.ts'
import { listedPriceBranches, readSalePricing, salePriceBranches } from './sale-prices.ts'
import { traitConditions } from './traits.ts'

const table = listingTables.sale

/**
 * Sales up to which all that match are read, if otherwise a page of templates is, or every template; and where assets are
 * looked at.
 */
const FEW = 3_000
const FEW_OF_ALL = 5_000
const FEW_LOOKED_AT = 12_000

/** Only sales of one asset have a template. */
const LISTED = ['l.state = 1', 'l.template_id IS NOT NULL']

interface Query {
  readonly text: string
  readonly bindings: Bindings
}

/** What a query of the cheapest sales is made from. */
interface Wanted {
  readonly context: EndpointContext
  /** The one who sells is the one who owns. */
  readonly owners: readonly string[] | undefined
  /** Flags that the template must have. */
  readonly flags: readonly ('transferable' | 'burnable')[]
  readonly resolved: ResolvedAssets
  readonly pricing: SalePricing
  readonly trigrams: boolean
  readonly window: PageWindow
}

/**
 * The ids of the cheapest listed sale of each template that a request asks for: sales of one asset each; of several at
 * the same price the latest.
 */
export async function selectCheapest(context: EndpointContext, setup: MarketSetup): Promise<string[]> {
  const { trigrams } = setup
  const { session, values: given } = context
  const window = pageWindow(given)
  // What is burned is not for sale.
  if (!window || given.has('burner') || given.bool('burned') === true) return []
  const values = told(given)
  const asked = { ...context, values }
  const wanted: Wanted = {
    context: asked,
    owners: given.texts('owner'),
    flags: (['transferable', 'burnable'] as const).filter((flag) => given.bool(`is_${flag}`) === true),
    // The sales are all of one asset with a template: it is not worth while to look for names in three ways.
    resolved: { ...(await resolveListedAssets(asked, table, setup)), named: undefined },
    pricing: await readSalePricing(session, values, true),
    trigrams,
    window,
  }
  const all = allMatching(wanted, false)
  const { number } = await matching(asked, table, { ...all, conditions: [], order: '' }, wanted.resolved)
  const ofTemplates = values.text('sort') === 'price' ? FEW_OF_ALL : FEW
  const most = wanted.resolved.isDetailed ? FEW_LOOKED_AT : ofTemplates
  const areFew = number === undefined ? wanted.resolved.ids !== undefined : number <= most
  const queries = areFew ? fromAll(all, wanted) : [byTemplate(wanted)]
  for (const { text, bindings } of queries) {
    const found = await session.query<[string]>({ text, values: bindings.values })
    if (found.length > 0) return found.map(([id]) => id)
  }
  return []
}

/** Without what need not be asked of an asset, as its sale or template tells it. */
function told(given: Values): Values {
  const flags = ['is_transferable', 'is_burnable'].filter((name) => given.bool(name) === true)
  return given.without(['owner', 'burned', ...flags])
}

/** A query of sales, each with its template and price; and what tells whether those that it finds match. */
interface Matching {
  readonly key: string
  readonly from: string
  /** What nearly all meet. */
  readonly late: readonly string[]
  readonly bindings: Bindings
}

/** The sales that match. @param isEarly and the few others that only `late` leaves out */
function allMatching(wanted: Wanted, isEarly: boolean): Matching {
  const bindings = new Bindings()
  const { conditions, late, alternatives } = saleConditions(wanted, bindings, 'find')
  const flags = wanted.flags.map(
    (flag) =>
      `NOT EXISTS (SELECT FROM assets.templates f WHERE f.template_id = l.template_id AND NOT f.${flag})`,
  )
  const order = { branches: salePriceBranches(wanted.pricing, bindings) }
  const early = isEarly ? conditions.filter((each) => !late.includes(each)) : conditions
  // Every sale here is of one asset, which the first alternative is made for.
  const all = [...early, ...(alternatives[0]?.conditions ?? []), ...flags, ...placeConditions(order)]
  // Traits find few of the listed sales: OFFSET 0 keeps the indexes of what most have, as a token, out of that.
  const quick = wanted.resolved.isForetold
    ? all.filter((each) => each.startsWith('l.traits') || LISTED.includes(each))
    : []
  const from =
    quick.length === 0 ? table.from : `(SELECT l.* FROM ${table.from} ${whereClause(quick)} OFFSET 0) l`
  const where = whereClause(all.filter((each) => !quick.includes(each)))
  const rows = `SELECT l.template_id, l.sale_id, l.asset_ids, ${valueOf(order)} AS price FROM ${from} ${where}`
  return { key: 'r.sale_id', from: `(${rows}) r`, late: isEarly ? late : [], bindings }
}

/** Of all that match. The first query finds none where one that it finds does not match. */
function fromAll(all: Matching, wanted: Wanted): Query[] {
  const queries = wanted.resolved.isForetold ? [allMatching(wanted, true), all] : [all]
  return queries.map(({ from, late, bindings }) => {
    const cheapest = `SELECT DISTINCT ON (r.template_id) r.* FROM ${from} ORDER BY r.template_id, r.price, r.sale_id DESC`
    const isRight =
      late.length === 0 ? '' : `WHERE (SELECT bool_and((${late.join(' AND ')}) IS TRUE) FROM c l)`
    return {
      text: `WITH c AS (${cheapest}) ${pageOf(`c ${isRight}`, 'c.template_id', wanted)}`,
      bindings,
    }
  })
}

/** Template by template, where most have one that matches: of each only the cheapest are looked at. */
function byTemplate(wanted: Wanted): Query {
  const bindings = new Bindings()
  const { context, resolved, pricing } = wanted
  const { conditions } = saleConditions(wanted, bindings, 'walk')
  const traits = resolved.isForetold ? traitConditions(context.values, context.attributes, bindings) : []
  const cheapest = listedPriceBranches(pricing, context.values.texts('symbol') ?? [], bindings).map(
    (branch) => {
      const ofTemplate = ['l.template_id = t.template_id', ...LISTED, ...branch.conditions]
      const found = `SELECT l.sale_id, ${branch.value} AS price FROM`
      const order = `ORDER BY ${[...branch.order, 'l.sale_id DESC'].join(', ')}`
      if (!resolved.isDetailed)
        return `(${found} ${table.from} ${whereClause([...ofTemplate, ...conditions])} ${order} LIMIT 1)`
      // Looked at in their order until one matches, however few the planner expects to: OFFSET 0 keeps it out of that.
      const inOrder = `(SELECT l.* FROM ${table.from} ${whereClause(ofTemplate)} ${order} OFFSET 0) l`
      return `(${found} ${inOrder} ${whereClause([...traits, ...conditions])} LIMIT 1)`
    },
  )
  const from = `assets.templates t CROSS JOIN LATERAL (
    SELECT x.sale_id, x.price FROM (${cheapest.join(' UNION ALL ')}) x ORDER BY x.price, x.sale_id DESC LIMIT 1) c`
  const where = whereClause(templateConditions(wanted, bindings))
  return { text: pageOf(`${from} ${where}`, 't.template_id', wanted), bindings }
}

function saleConditions(
  { context, owners, resolved, trigrams }: Wanted,
  bindings: Bindings,
  way: Way,
): AssetFilter {
  const { values } = context
  const filter = assetFilter(context, table, trigrams, resolved, bindings, way)
  const all = [
    ...LISTED,
    ...oneOf('l.seller', owners, bindings),
    ...listingConditions(table, values, bindings),
    ...collectionConditions(values, bindings),
    ...assetNumberConditions(values, bindings),
    ...filter.conditions,
  ]
  return { ...filter, conditions: all }
}

/** Most templates have no asset with such attributes. */
const HAS_MUTABLE = `EXISTS (SELECT FROM assets.assets m WHERE m.template_id = t.template_id AND m.mutable_digest IS NOT NULL)`

/** What the template tells. */
function templateConditions(
  { context: { values, attributes }, flags, resolved: { templates } }: Wanted,
  bindings: Bindings,
): string[] {
  const ids = values.ids('template_id')
  return [
    ...oneOf('t.collection_name', values.texts('collection_name'), bindings),
    ...collectionLists('t.collection_name', values, bindings),
    ...oneOf('t.schema_name', values.texts('schema_name'), bindings),
    ...(ids ? [`t.template_id = ANY(${bindIntegers(ids, bindings)})`] : []),
    ...(templates.kind === 'ids'
      ? [`t.template_id = ANY(${bindings.bind(templates.ids, 'integer[]')})`]
      : []),
    ...flags.map((flag) => `t.${flag}`),
    ...(attributes.some(({ family }) => family === 'mutable_data') ? [HAS_MUTABLE] : []),
  ]
}

function pageOf(from: string, template: string, { context: { values }, window }: Wanted): string {
  const direction = directionOf(values)
  const order =
    values.text('sort') === 'price'
      ? `c.price ${direction} NULLS LAST, ${template}`
      : `${template} ${direction}`
  return `SELECT c.sale_id::text FROM ${from} ORDER BY ${order} LIMIT ${window.limit} OFFSET ${window.offset}`
}
