import { Bindings, whereClause } from '../../../database/index.ts'
import type { EndpointContext, Values } from '../../../endpoint/index.ts'
import { collectionLists, oneOf } from '../../assets/index.ts'
import { wantedStates } from './listing-conditions.ts'
import type { ListingKind } from './listing-table.ts'
import { listingTables } from './listing-table.ts'

/** Parameters that do not change how many rows match. */
const WITHOUT_EFFECT = new Set([
  'page',
  'limit',
  'order',
  'sort',
  'count',
  'show_seller_contracts',
  'contract_whitelist',
])
/** Parameters that the counters answer. */
const COUNTED = new Set(['state', 'collection_name', 'collection_whitelist', 'collection_blacklist'])
/** The state of an auction that has begun depends on the clock; the counters know nothing of it. */
const BEGUN = [1, 3, 4]

/**
 * Makes the function that answers counts of a kind of listing from the counters that the filler keeps; it gives
 * undefined when the filters of a request are not theirs.
 *
 * @param standard states of a request that names none; undefined = all.
 */
export function countListings(
  kind: ListingKind,
  standard?: readonly number[],
): (context: EndpointContext) => Promise<string | undefined> {
  return async ({ session, values, attributes }) => {
    if (attributes.length > 0 || !areCounted(kind, values)) return undefined
    const bindings = new Bindings()
    const states = wantedStates(values) ?? standard
    const conditions = [
      ...(states ? [`k.state = ANY(${bindings.bind(states, 'smallint[]')})`] : []),
      ...oneOf('k.collection_name', values.texts('collection_name'), bindings),
      ...collectionLists('k.collection_name', values, bindings),
    ]
    const counters = `SELECT sum(k.listings) FROM market.listing_counts k
      ${whereClause([`k.kind = ${listingTables[kind].kind}`, ...conditions])}`
    // Sales without an offer are not shown; they are few, and have an index.
    const hidden =
      kind === 'sale'
        ? `(SELECT count(*) FROM market.sales k ${whereClause(['k.offer_id IS NULL', ...conditions])})`
        : '0'
    const rows = await session.query<[string]>({
      text: `SELECT (coalesce((${counters}), 0) - ${hidden})::text`,
      values: bindings.values,
    })
    return rows[0]![0]
  }
}

function areCounted(kind: ListingKind, values: Values): boolean {
  if (values.bool('show_seller_contracts') === false || values.text('sort') === 'effective_mint') return false
  const names = values.names().filter((name) => !WITHOUT_EFFECT.has(name))
  if (!names.every((name) => COUNTED.has(name))) return false
  return kind !== 'auction' || wantedStates(values)?.some((state) => BEGUN.includes(state)) !== true
}
