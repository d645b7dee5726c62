import type { Sql } from '../../../sql/index.ts'
import { bind, raw, sql, where } from '../../../sql/index.ts'
import type { EndpointContext } from '../../../endpoint/index.ts'
import type { Session } from '../../../database/index.ts'
import { inCollections, isNoneOf, isOneOf, wantedCollections } from '../../nft/conditions/index.ts'
import { schemaConditions } from '../../nft/filters/index.ts'
import type { ListingQuery } from './listing-request.ts'
import { wantedStates } from './listing-request.ts'
import type { ListingKind } from './listing-table.ts'
import { LISTED, listingTables } from './listing-table.ts'
import type { ListingValues } from '../parameters.ts'

/** Parameters that do not change how many rows match. */
const withoutEffect = new Set([
  'page',
  'limit',
  'order',
  'sort',
  'count',
  'show_seller_contracts',
  'contract_whitelist',
])

/**
 * Filter parameters that the counters in market.listing_counts can answer: the table has a counter of listings for each
 * kind, state and collection. With any other filter, the matching rows have to be counted.
 */
const counted = new Set(['state', 'collection_name', 'collection_whitelist', 'collection_blacklist'])
/** Filter parameters that `countOpenOfSchemas` applies. With any other filter, this function cannot count the sales. */
const countedOfSchemas = new Set([...counted, 'schema_name'])
/** The states of a started auction depend on the clock, so the counters have no states of auctions. */
const begun = [1, 3, 4]
/** Sale states listed, sold and invalid. Every sale in one of these states has an offer. */
const offered = [1, 3, 4]

/**
 * The number of listings from the counters that the filler maintains, as text; undefined if the counters do not cover
 * every filter.
 */
export async function countFromCounters(
  { session, values, attributes }: EndpointContext<ListingValues>,
  { kind, standard }: ListingQuery,
): Promise<string | undefined> {
  const table = listingTables[kind]
  const states = wantedStates(values) ?? standard
  if (attributes.length > 0) return undefined
  if (kind === 'sale' && states?.join() === String(LISTED) && areOfSchemas(values))
    return countOpenOfSchemas(session, values)
  if (!isCounted(kind, values)) return undefined
  const { collection_name: collections, collection_whitelist: white } = values
  const conditions = [
    ...(states ? [sql`k.state = ANY(${bind(states, 'smallint[]')})`] : []),
    ...(collections ? [isOneOf(raw('k.collection_name'), collections)] : []),
    ...(white ? [isOneOf(raw('k.collection_name'), white)] : []),
    isNoneOf(raw('k.collection_name'), values.collection_blacklist ?? []),
  ]
  const sum = (from: string, also: string): Sql =>
    sql`(SELECT ${raw(from)} ${where([raw(also), ...conditions])})`
  const counters = sum('coalesce(sum(k.listings), 0) FROM market.listing_counts k', `k.kind = ${table.kind}`)
  // Lists leave out sales without an offer, but the counters include them. Sales without an offer are few and have
  // their own index, so the query counts and subtracts them.
  const hidden =
    table.kind !== 1 || states?.every((state) => offered.includes(state)) === true
      ? raw('0')
      : sum('count(*) FROM market.sales k', 'k.offer_id IS NULL')
  const [row] = await session.query<[string]>(sql`SELECT (${counters} - ${hidden})::text`.render())
  return row![0]
}

/** Whether the request has no filters except the given parameters. */
function hasOnly(values: ListingValues, parameters: ReadonlySet<string>): boolean {
  if (values.show_seller_contracts === false || values.sort === 'effective_mint') return false
  return Object.keys(values).every((name) => withoutEffect.has(name) || parameters.has(name))
}

/** Whether the request filters by collection and schema, and by nothing else except the state. */
function areOfSchemas(values: ListingValues): boolean {
  const isNarrow = values.schema_name !== undefined && wantedCollections(values) !== undefined
  return isNarrow && hasOnly(values, countedOfSchemas)
}

/**
 * Counts the open sales of some schemas. An index-only scan of `sales_floor_idx` counts the sales that have a single
 * asset with a template. An index-only scan of `sales_open_plain_schemas_idx` counts the few other open sales (bundles,
 * and assets without a template).
 * Every open sale has an offer, so the count does not check the offer; this check would read every row. On 8,000,000
 * assets the count reads 31 pages (median, bench pages, 2026-11-30); without the second index it read 268.
 */
async function countOpenOfSchemas(session: Session, values: ListingValues): Promise<string> {
  const templates = sql`SELECT t.template_id FROM assets.templates t ${where(schemaConditions(values, 't'))}`
  const names = values.schema_name ?? []
  const open = (conditions: readonly Sql[]): Sql =>
    sql`(SELECT count(*) FROM market.sales l ${where([raw(`l.state = ${LISTED}`), ...conditions])})`
  const ofOne = open([raw('l.template_id IS NOT NULL'), sql`l.template_id = ANY(ARRAY(${templates}))`])
  const others = open([
    raw('l.template_id IS NULL'),
    ...inCollections('l.collection_name', values),
    sql`(${isOneOf(raw('l.schema_name'), names)} OR l.schema_names && ${bind(names, 'text[]')})`,
  ])
  const [row] = await session.query<[string]>(sql`SELECT (${ofOne} + ${others})::text`.render())
  return row![0]
}

function isCounted(kind: ListingKind, values: ListingValues): boolean {
  if (!hasOnly(values, counted)) return false
  return kind !== 'auction' || wantedStates(values)?.some((state) => begun.includes(state)) !== true
}
