import { without } from '../../../../core/endpoint/index.ts'
import { allOf, bind, raw, sql } from '../../../sql/index.ts'
import type { Sql } from '../../../sql/index.ts'
import type { EndpointContext } from '../../../endpoint/index.ts'
import type { Filter } from '../../../planner/filters/index.ts'
import type { List, Statistics } from '../../../planner/index.ts'
import type { Order, Source } from '../../../planner/sources/index.ts'
import { boundaryFilters, keyAtTime } from '../../nft/filters/index.ts'
import { directionOf } from '../../nft/paging/index.ts'
import type { MarketSetup } from '../setup.ts'
import { categories, listingTypes } from '../records/royalty-records.ts'
import { columnFilter, withoutCommon, termsOf } from './listing-request.ts'
import type { FilteredColumn, TermKind } from './listing-request.ts'
import type { PayoutValues } from '../parameters.ts'

const TABLE = 'market.royalty_payouts'
/**
 * SQL expression of the indexed terms of a payout; see market.payout_terms. PostgreSQL uses the GIN index only if the
 * expression equals the indexed expression.
 */
const TERMS = raw('market.payout_terms(l.kind, l.category, l.token_symbol, l.listing_id, l.asset_id)')

/**
 * Table of the list of royalty payouts, with its indexes. The key of a payout is `seq/payout_index`; payouts are
 * ordered by both numbers.
 */
const source: Source = {
  // Leaves out payouts in tokens that the market does not list, because the precision of such tokens is unknown.
  from: raw(`(SELECT p.*, p.seq || '/' || p.payout_index AS key FROM ${TABLE} p
    WHERE p.token_symbol = ANY(ARRAY(SELECT y.token_symbol FROM market.tokens y))) l`),
  alias: 'l',
  key: 'key',
  indexes: [
    { name: 'royalty_payouts_pkey', columns: ['seq', 'key'] },
    { name: 'royalty_payouts_amount_idx', columns: ['amount', 'key'] },
    { name: 'royalty_payouts_recipient_idx', columns: ['recipient', 'seq', 'key'] },
    { name: 'royalty_payouts_collection_idx', columns: ['collection_name', 'seq', 'key'] },
  ],
}

/** Maps block times to sequence numbers: payouts are ordered by sequence number and have no time column. */
const blocks = { table: 'market.blocks', key: 'first_seq', time: 'block_time' }

type ListSetup = Pick<MarketSetup, 'lists'>

/** The list of the royalty payouts that match the request. */
export async function payoutList(
  { session, values }: EndpointContext<PayoutValues>,
  { lists: { statistics } }: ListSetup,
): Promise<List> {
  await statistics.refresh(session)
  const filters = [...valueFilters(values, statistics), ...rangeFilters(values, statistics)]
  const found = withoutCommon(filters, statistics.rows(TABLE))
  return { source, table: TABLE, filters: found, order: payoutOrder(values) }
}

/** Payouts with equal amounts are ordered by `seq`, then by `payout_index`, in the same direction as the amounts. */
function payoutOrder(values: PayoutValues): Order {
  const isByAmount = values.sort === 'amount'
  const value = raw(`ARRAY[${isByAmount ? 'l.amount, ' : ''}l.seq, l.payout_index::bigint]`)
  const segment = { rank: 0, column: isByAmount ? 'amount' : 'seq', value }
  return { direction: directionOf(values), segments: [segment] }
}

function valueFilters(values: PayoutValues, statistics: Statistics): Filter[] {
  const filters: Filter[] = []
  const table = { table: TABLE, terms: TERMS }
  const add = (
    column: Omit<FilteredColumn, 'terms'>,
    given: readonly (string | number | bigint)[] | undefined,
    term?: TermKind,
  ): void => {
    if (!given) return
    const terms = term ? { terms: termsOf(term, given) } : {}
    filters.push(columnFilter({ table, statistics }, { ...column, ...terms }, given))
  }
  const { listing_type: type, listing_id: listing, symbol: symbols, asset_id: assets } = values
  const codes = values.category?.map((name) => categories.indexOf(name) + 1)
  const kind = type === undefined ? undefined : [listingTypes.indexOf(type)]
  const listings = listing === undefined ? undefined : [listing]
  add({ column: 'recipient' }, values.recipient)
  add({ column: 'collection_name' }, values.collection_name)
  add({ name: 'symbol', column: 'token_symbol' }, symbols, 'symbol')
  add({ column: 'asset_id', type: 'bigint' }, assets, 'asset')
  add({ name: 'listing_type', column: 'kind', type: 'smallint' }, kind, 'kind')
  add({ column: 'listing_id', type: 'bigint' }, listings, 'listing')
  add({ column: 'category', type: 'smallint' }, codes, 'category')
  return filters
}

const payoutKey = {
  table: TABLE,
  alias: 'l',
  key: 'seq',
  type: 'bigint',
} as const

/** Filters of the parameters `ids`, `log_global_sequence`, `lower_bound`, `upper_bound`, `before` and `after`. */
function rangeFilters(values: PayoutValues, statistics: Statistics): Filter[] {
  const untimed = without(values, ['before', 'after'])
  const filters = boundaryFilters(untimed, statistics, payoutKey, values.log_global_sequence)
  const { before, after } = values
  const times: Sql[] = []
  if (before !== undefined) {
    times.push(sql`l.paid_at_time < ${bind(before, 'bigint')} AND l.seq < ${keyAtTime(blocks, before)}`)
  }
  if (after !== undefined) {
    times.push(sql`l.paid_at_time > ${bind(after, 'bigint')} AND l.seq >= ${keyAtTime(blocks, after + 1)}`)
  }
  if (times.length > 0) {
    const since = after === undefined ? undefined : BigInt(after) + 1n
    const until = before === undefined ? undefined : BigInt(before) - 1n
    const rows = statistics.between(TABLE, 'paid_at_time', since, until)
    filters.push({
      name: 'before, after',
      condition: allOf(times),
      rows,
      range: { column: 'seq' },
      columns: ['seq', 'paid_at_time'],
      isIndexed: true,
    })
  }
  return filters
}
