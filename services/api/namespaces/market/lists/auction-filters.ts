import { bind, raw, sql } from '../../../sql/index.ts'
import type { Sql } from '../../../sql/index.ts'
import { nothing } from '../../../planner/filters/index.ts'
import type { Filter } from '../../../planner/filters/index.ts'
import type { ListingRequest } from './listing-request.ts'
import { distinct, hasTerm, termsOf } from './listing-request.ts'

/**
 * SQL condition for an ended auction without a winner: the market contract returns the assets to the seller and the bid
 * to the bidder. Since version 2, the contract does so if the auction has several assets and neither the buyer nor the
 * seller has claimed.
 */
const DISSOLVED = `(l.asset_count > 1 AND NOT (l.claimed_by_buyer OR l.claimed_by_seller)
  AND (SELECT g.v2_since_block IS NOT NULL FROM market.config g))`

/**
 * The filters that only auctions have.
 * @param nowMs ms since 1970. The state of an auction that has begun depends on the clock.
 */
export function auctionFilters(request: ListingRequest, nowMs: number): Filter[] {
  const now = Math.floor(nowMs / 1000)
  return [...auctionStateFilters(request, now), ...bidFilters(request, now)]
}

function auctionStateFilters(request: ListingRequest, nowSeconds: number): Filter[] {
  const { table, states, statistics } = request
  if (!states) return []
  const now = bind(nowSeconds, 'bigint')
  const meanings: Readonly<Record<number, Sql>> = {
    1: sql`l.end_time > ${now}`,
    3: sql`(l.end_time <= ${now} AND l.buyer IS NOT NULL AND NOT ${raw(DISSOLVED)})`,
    4: sql`(l.end_time <= ${now} AND (l.buyer IS NULL OR ${raw(DISSOLVED)}))`,
  }
  const wanted = distinct(states).filter((state) => state >= 0 && state <= 4)
  const conditions = wanted.map((state) =>
    meanings[state] ? sql`(l.state = 1 AND ${meanings[state]})` : sql`l.state = ${bind(state, 'smallint')}`,
  )
  const [first, ...others] = conditions
  if (!first) return [nothing('state')]
  const all = statistics.rows(table.table)
  const running = statistics.between(table.table, 'end_time', BigInt(nowSeconds), undefined)
  const ended = statistics.equal(table.table, 'state', [1]) - running
  const rowsOf = (state: number): number =>
    state === 1 ? running : meanings[state] ? ended / 2 : statistics.equal(table.table, 'state', [state])
  const condition = sql`(${others.reduce((any, each) => sql`${any} OR ${each}`, first)})`
  const terms = termsOf('state', distinct(wanted.map((state) => (meanings[state] ? 1 : state))))
  const isRunning = wanted.every((state) => state === 1)
  return [
    {
      name: 'state',
      condition,
      // Running auctions end in the future. The index on `end_time` also finds cancelled auctions that would end in the
      // future, but cancelled auctions are few.
      ...(isRunning
        ? { range: { column: 'end_time' } }
        : { found: sql`${hasTerm(table.terms, terms)} AND ${condition}` }),
      rows: Math.min(
        all,
        Math.max(
          1,
          wanted.reduce((sum, state) => sum + rowsOf(state), 0),
        ),
      ),
      columns: ['state', 'end_time', 'buyer'],
      isIndexed: true,
    },
  ]
}

function bidFilters({ table, values, statistics }: ListingRequest, nowSeconds: number): Filter[] {
  const filters: Filter[] = []
  const bidsOf = (accounts: Sql): Sql =>
    sql`SELECT b.auction_id FROM market.bids b WHERE b.account = ${accounts}`
  // SQL for "one of the accounts has bid on the auction", in two forms. `isBidOn` checks many rows faster, because
  // PostgreSQL hashes the subquery. `foundByBids` can be an index condition, because it compares with an array.
  const isBidOn = (accounts: Sql): Sql => sql`l.auction_id IN (${bidsOf(accounts)})`
  const foundByBids = (accounts: Sql): Sql => sql`l.auction_id = ANY(ARRAY(${bidsOf(accounts)}))`
  const bidders = values.bidder
  if (bidders) {
    const accounts = sql`ANY(${bind(bidders, 'text[]')})`
    filters.push({
      name: 'bidder',
      condition: isBidOn(accounts),
      found: foundByBids(accounts),
      rows: statistics.equal('market.bids', 'account', bidders),
      isIndexed: true,
    })
  }
  if (values.hide_empty_auctions === true) {
    filters.push({
      name: 'hide_empty_auctions',
      condition: raw('l.buyer IS NOT NULL'),
      rows: statistics.rows(table.table) - statistics.equal(table.table, 'buyer', [null]),
      columns: ['buyer'],
      isIndexed: false,
    })
  }
  const participant = values.participant
  if (participant !== undefined) {
    const account = bind(participant, 'text')
    const now = bind(nowSeconds, 'bigint')
    const condition = sql`(l.state = 1 AND ((l.end_time > ${now} AND (l.seller = ${account} OR ${isBidOn(account)}))
        OR (l.end_time <= ${now} AND ((l.seller = ${account} AND NOT l.claimed_by_seller)
          OR (l.buyer = ${account} AND NOT l.claimed_by_buyer)))))`
    const terms = [...termsOf('seller', [participant]), ...termsOf('buyer', [participant])]
    filters.push({
      name: 'participant',
      condition,
      found: sql`(${hasTerm(table.terms, terms)} OR ${foundByBids(account)}) AND ${condition}`,
      rows:
        statistics.equal(table.table, 'seller', [participant]) +
        statistics.equal('market.bids', 'account', [participant]),
      isIndexed: true,
    })
  }
  return filters
}
