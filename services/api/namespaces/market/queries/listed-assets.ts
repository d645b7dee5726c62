import type { Session } from '../../../database/index.ts'
import { Bindings, whereClause } from '../../../database/index.ts'
import type { AttributeFilter, EndpointContext, Values } from '../../../endpoint/index.ts'
import {
  assetConditions,
  oneOf,
  ownDataConditions,
  resolvedTemplateCondition,
  resolveTemplates,
} from '../../assets/index.ts'
import type { KnownTexts, ResolvedTemplates } from '../../assets/index.ts'
import type { MarketSetup } from '../setup.ts'
import { expectedRows } from './expectation.ts'
import type { ListingTable } from './listing-table.ts'
import type { NamedTemplates } from './named-templates.ts'
import { resolveNamedTemplates } from './named-templates.ts'
import { foretells } from './traits.ts'

/** Assets up to which a filter on them is answered through their ids. */
const MAX_NAMED = 1_000
/** Parameters that ask about an asset itself, not only about what the row of a listing tells of its assets. */
const DETAILS = [
  'owner',
  'burned',
  'is_transferable',
  'is_burnable',
  'minter',
  'initial_receiver',
  'burner',
  'match_immutable_name',
  'match_mutable_name',
]

/**
 * Of these, the ones that an index of the assets finds. Counting what an unindexed one matches could take a look at
 * every asset.
 */
const INDEXED = ['owner', 'minter', 'initial_receiver', 'burner']

/** Searches in what the assets of a template buy offer are called by themselves. */
const OWN_NAMES = ['match_immutable_name', 'match_mutable_name']

/** Searches that the names kept with a listing answer: the text is in the name of one of its assets. */
export const MATCHES = ['match', 'match_immutable_name', 'match_mutable_name']
/** All searches in names. */
export const NAMES = [...MATCHES, 'search']

/** What the filters on assets mean for listings. */
export interface ResolvedAssets {
  readonly templates: ResolvedTemplates
  /** The assets that match, all of them; undefined when they are too many to name, or nothing asks about them. */
  readonly ids?: readonly string[]
  /** The assets must be looked at. */
  readonly isDetailed: boolean
  /** What the listings have on their own row tells nearly which these are. */
  readonly isForetold: boolean
  /** Templates that must not be among those of a listing, as some accounts own assets of them. */
  readonly hidden: readonly number[]
  /** Where only listings with a template are asked for: the few that are not hidden. */
  readonly visible?: readonly number[] | undefined
  /** How many assets match, roughly, where an index finds them. */
  readonly expected?: number
  /** What a search in names means for listings of one asset. */
  readonly named?: NamedTemplates | undefined
  /** Of how many: all assets, or those of the wanted collections. */
  readonly among?: number
  /** Whether they are found by their own data, of whatever collection these are. */
  readonly isByData?: boolean
  /** Whether the index alone tells which they are. */
  readonly isIndexOnly?: boolean
  /** The digests of mutable attributes that meet the filters on these, where many assets have few such. */
  readonly digests?: readonly string[] | undefined
}

/** Looks up which assets and templates the filters of a request select. */
export async function resolveListedAssets(
  { session, values: given, attributes }: EndpointContext,
  table: ListingTable,
  setup: MarketSetup,
): Promise<ResolvedAssets> {
  const { trigrams } = setup
  const resolved = await resolveAssets(session, table, withoutNames(table, given), attributes, setup)
  if (resolved.ids || resolved.templates.kind !== 'unfiltered') return resolved
  const named = await resolveNamedTemplates(session, table, given, trigrams)
  return named ? { ...resolved, named } : resolved
}

/** The filters, but for those on names that the row answers. A template buy offer has no assets to name before it is fulfilled: its template is asked. */
export function withoutNames(table: ListingTable, given: Values): Values {
  return table.kind === 4 ? given : given.without(NAMES)
}

async function resolveAssets(
  session: Session,
  table: ListingTable,
  values: Values,
  attributes: readonly AttributeFilter[],
  { trigrams, texts }: MarketSetup,
): Promise<ResolvedAssets> {
  const templates = await resolveTemplates(session, values, attributes, trigrams)
  const ids = values.ids('asset_id')
  const ofOwnData = attributes.some(({ family }) => family === 'immutable_data' || family === 'mutable_data')
  const isDetailed =
    ofOwnData || DETAILS.some((name) => asksOfAsset(table, values, name)) || namesSeveral(values, templates)
  const isForetold = ids === undefined && foretells(values, attributes)
  const hidden = await hiddenTemplates(session, values)
  const isByData = ofOwnData && values.has('collection_name') && (await isRare(session, values, attributes))
  const plain = { templates, isDetailed, isForetold, hidden, isByData }
  if (ids && !isDetailed) return { ...plain, ids: ids.map(String) }
  const isIndexed = ids !== undefined || INDEXED.some((name) => values.has(name))
  const isFound = isIndexed || ofOwnData || OWN_NAMES.some((name) => values.has(name))
  if (isForetold || !isFound) return plain
  const bindings = new Bindings()
  const conditions = detailConditions(table, values, attributes, plain, trigrams, bindings)
  const found = `SELECT a.asset_id::text FROM assets.assets a ${whereClause(conditions)}`
  const expected = await expectedRows(session, { text: found, values: bindings.values })
  const many = { ...plain, expected, isIndexOnly: isIndexed && !ofOwnData }
  if (expected > 2 * MAX_NAMED) {
    const among = await assetsOf(session, values)
    const isRead = isIndexed || expected > OFTEN * among
    const digests = isRead ? undefined : await resolveDigests(session, values, attributes, texts)
    return { ...many, among, digests, isIndexOnly: many.isIndexOnly || digests !== undefined }
  }
  const rows = await session.query<[string]>({
    // OFFSET 0 keeps the limit out of the plan: an index that finds them is wanted, not one whose walk might end early.
    text: `SELECT * FROM (${found} OFFSET 0) k LIMIT ${MAX_NAMED + 1}`,
    values: bindings.values,
  })
  if (rows.length > MAX_NAMED) return many
  return { ...plain, ids: rows.map(([id]) => id) }
}

/** Assets up to which they are found by their own data sooner than among those of a large collection. */
const RARE = 60_000

/** Whether few assets of all collections have such data. */
async function isRare(
  session: Session,
  values: Values,
  attributes: readonly AttributeFilter[],
): Promise<boolean> {
  const bindings = new Bindings()
  const where = whereClause(ownDataConditions(values, attributes, bindings))
  const text = `SELECT a.asset_id FROM assets.assets a ${where}`
  return (await expectedRows(session, { text, values: bindings.values })) <= RARE
}

/** The share of assets from which on they are met soon in any order. */
const OFTEN = 0.05
/** Different texts of mutable attributes that may be looked at. */
const MOST_TEXTS = 2_500

/** The digests that meet filters on mutable attributes, where those are all that is asked of an asset's own data. */
async function resolveDigests(
  session: Session,
  values: Values,
  attributes: readonly AttributeFilter[],
  known: KnownTexts,
): Promise<readonly string[] | undefined> {
  if (OWN_NAMES.some((name) => values.has(name))) return undefined
  if (attributes.some(({ family }) => family === 'immutable_data')) return undefined
  const own = attributes.filter(({ family }) => family === 'mutable_data')
  if (own.length === 0) return undefined
  const texts = 'SELECT DISTINCT a.mutable_digest FROM assets.assets a WHERE a.mutable_digest IS NOT NULL'
  if ((await expectedRows(session, { text: texts, values: [] })) > MOST_TEXTS) return undefined
  return known.met(session, own)
}

/** A flag that is not set is asked of templates, which were looked up; what a template buy offer has got is looked at. */
function asksOfAsset({ kind }: ListingTable, values: Values, name: string): boolean {
  return values.has(name) && (kind === 4 || !name.startsWith('is_') || values.bool(name) === true)
}

/** How many assets there are, or of the collections that a request names. */
function assetsOf(session: Session, values: Values): Promise<number> {
  const bindings = new Bindings()
  const conditions = oneOf('a.collection_name', values.texts('collection_name'), bindings)
  const text = `SELECT a.asset_id FROM assets.assets a ${whereClause(conditions)}`
  return expectedRows(session, { text, values: bindings.values })
}

/** Several conditions that a bundle could meet with different assets. */
function namesSeveral(values: Values, templates: ResolvedTemplates): boolean {
  const hasTemplate = templates.kind !== 'unfiltered' || values.ids('template_id') !== undefined
  // Filters on template data look at the schema themselves.
  const both = templates.kind === 'unfiltered' && hasTemplate && values.has('schema_name')
  return both || (values.has('asset_id') && (hasTemplate || values.has('schema_name')))
}

/** The templates that the accounts of `hide_templates_by_accounts` own assets of. */
async function hiddenTemplates(session: Session, values: Values): Promise<readonly number[]> {
  const accounts = values.texts('hide_templates_by_accounts')
  if (!accounts || accounts.length === 0) return []
  const rows = await session.query<[readonly number[] | null]>({
    name: 'hidden-templates',
    text: `SELECT array_agg(DISTINCT h.template_id) FROM assets.assets h
      WHERE h.owner = ANY($1::text[]) AND h.template_id IS NOT NULL`,
    values: [accounts],
  })
  return rows[0]![0] ?? []
}

/** The conditions on one asset, `a`, of all filters. */
export function detailConditions(
  table: ListingTable,
  values: Values,
  attributes: readonly AttributeFilter[],
  { templates, isByData, digests }: Pick<ResolvedAssets, 'templates' | 'isByData' | 'digests'>,
  trigrams: boolean,
  bindings: Bindings,
): string[] {
  const ofRow = assetConditions(ofAsset(table, values), bindings)
  return [
    // Reading the index of a large collection beside theirs takes longer than all else.
    ...(isByData
      ? ofRow.map((each) => (each.startsWith('a.collection_name ') ? `(${each}) IS TRUE` : each))
      : ofRow),
    ...(digests
      ? [`a.mutable_digest = ANY(${bindings.bind(digests, 'uuid[]')})`]
      : ownDataConditions(values, attributes, bindings)),
    ...resolvedTemplateCondition(templates, values, attributes, trigrams, bindings),
  ]
}

/** Collection, schema and template of a template buy offer are its own, whether it is fulfilled or not. */
function ofAsset(table: ListingTable, values: Values): Values {
  return table.kind === 4 ? values.without(['template_id', 'collection_name', 'schema_name']) : values
}
