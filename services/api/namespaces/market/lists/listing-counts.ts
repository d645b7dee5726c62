import type { Sql } from '../../../sql/index.ts'
import { bind, raw, sql, where } from '../../../sql/index.ts'
import type { EndpointContext } from '../../../endpoint/index.ts'
import { isNoneOf, isOneOf } from '../../nft/conditions/index.ts'
import type { ListingQuery } from './listing-request.ts'
import { wantedStates } from './listing-request.ts'
import type { ListingKind } from './listing-table.ts'
import { listingTables } from './listing-table.ts'
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

/** Parameters that the counters answer. */
const counted = new Set(['state', 'collection_name', 'collection_whitelist', 'collection_blacklist'])
/** The states of a started auction depend on the clock, so the counters have no states of auctions. */
const begun = [1, 3, 4]
/** States of sales that have an offer. */
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
  if (attributes.length > 0 || !isCounted(kind, values)) return undefined
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
  // The counters include sales without an offer, which lists do not show. These sales are few and have their own index,
  // so the query counts and subtracts them.
  const hidden =
    table.kind !== 1 || states?.every((state) => offered.includes(state)) === true
      ? raw('0')
      : sum('count(*) FROM market.sales k', 'k.offer_id IS NULL')
  const [row] = await session.query<[string]>(sql`SELECT (${counters} - ${hidden})::text`.render())
  return row![0]
}

function isCounted(kind: ListingKind, values: ListingValues): boolean {
  if (values.show_seller_contracts === false || values.sort === 'effective_mint') return false
  const names = Object.keys(values).filter((name) => !withoutEffect.has(name))
  if (!names.every((name) => counted.has(name))) return false
  return kind !== 'auction' || wantedStates(values)?.some((state) => begun.includes(state)) !== true
}
