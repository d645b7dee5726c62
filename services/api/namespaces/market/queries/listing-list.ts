import { Bindings } from '../../../database/index.ts'
import type { EndpointContext, Values } from '../../../endpoint/index.ts'
import type { PageQuery } from '../../paging/index.ts'
import { NEVER } from '../../assets/index.ts'
import type { MarketSetup } from '../setup.ts'
import { assetFilter } from './asset-filter.ts'
import type { Branch, Purpose } from './branches.ts'
import { countBranches, cutBranches, mergeBranches, nullableBranches, plainBranch } from './branches.ts'
import { assetNumberConditions, listingConditions, wantedStates } from './listing-conditions.ts'
import type { ListingTable } from './listing-table.ts'
import { listingTables } from './listing-table.ts'
import { plainPriceConditions } from './price-filter.ts'
import { salePriceBranches, salePriceCondition } from './sale-prices.ts'

/** Characters of a name that its index holds: an entry of an index cannot be as long as a name can. */
const INDEXED_NAME = 'left(l.name, 100)'

/** What one kind of listing adds to the common conditions. */
interface Own {
  readonly conditions: readonly string[]
  /** Branches of `sort=price` when the price is not simply a column. */
  readonly priceBranches?: readonly Branch[]
}

/** Makes the query of sales; keys are sale ids. @param standard states of a request that names none; undefined = all. */
export function saleQuery(standard?: readonly number[]) {
  return async (context: EndpointContext, setup: MarketSetup, purpose: Purpose): Promise<PageQuery> => {
    const bindings = new Bindings()
    const { session, values } = context
    const states = wantedStates(values) ?? standard
    const conditions = [
      // A sale without an offer has nothing to show yet, or never had.
      'l.offer_id IS NOT NULL',
      ...(states ? [`l.state = ANY(${bindings.bind(states, 'smallint[]')})`] : []),
      ...assetNumberConditions(values, bindings),
    ]
    const table = listingTables.sale
    if (values.text('sort') === 'price' && purpose === 'page') {
      const priceBranches = await salePriceBranches(session, values, bindings)
      return listingQuery(context, setup, purpose, table, { conditions, priceBranches }, bindings)
    }
    conditions.push(...(await salePriceCondition(session, values, bindings)))
    return listingQuery(context, setup, purpose, table, { conditions }, bindings)
  }
}

/** The page of auctions that a request asks for; keys are auction ids. */
export async function auctionQuery(
  context: EndpointContext,
  setup: MarketSetup,
  purpose: Purpose,
): Promise<PageQuery> {
  const bindings = new Bindings()
  const { session, values } = context
  const conditions = [
    ...auctionStateCondition(values, setup, bindings),
    ...bidConditions(values, setup, bindings),
    ...assetNumberConditions(values, bindings),
    ...(await plainPriceConditions(session, values, bindings)),
  ]
  return listingQuery(context, setup, purpose, listingTables.auction, { conditions }, bindings)
}

/** The page of buy offers that a request asks for; keys are buy offer ids. */
export async function buyofferQuery(
  context: EndpointContext,
  setup: MarketSetup,
  purpose: Purpose,
): Promise<PageQuery> {
  const bindings = new Bindings()
  const { session, values } = context
  const conditions = [
    ...stateCondition(values, bindings),
    ...assetNumberConditions(values, bindings),
    ...(await plainPriceConditions(session, values, bindings)),
  ]
  return listingQuery(context, setup, purpose, listingTables.buyoffer, { conditions }, bindings)
}

/** The page of template buy offers that a request asks for; keys are their ids. */
export async function templateBuyofferQuery(
  context: EndpointContext,
  setup: MarketSetup,
  purpose: Purpose,
): Promise<PageQuery> {
  const bindings = new Bindings()
  const { session, values } = context
  const conditions = [
    ...stateCondition(values, bindings),
    ...(await plainPriceConditions(session, values, bindings)),
  ]
  return listingQuery(context, setup, purpose, listingTables.template_buyoffer, { conditions }, bindings)
}

async function listingQuery(
  context: EndpointContext,
  setup: MarketSetup,
  purpose: Purpose,
  table: ListingTable,
  own: Own,
  bindings: Bindings,
): Promise<PageQuery> {
  const { values } = context
  const assets = await assetFilter(context, table, setup.trigrams, bindings)
  const branches = own.priceBranches ?? sortBranches(table, values)
  const query = {
    from: table.from,
    key: table.key,
    conditions: [...listingConditions(table, values, bindings), ...own.conditions, ...assets.conditions],
    bindings,
  }
  if (purpose === 'count') return countBranches(query, assets.alternatives)
  return mergeBranches({ ...query, branches: cutBranches(branches, assets.alternatives) }, values)
}

function sortBranches(table: ListingTable, values: Values): readonly Branch[] {
  switch (values.text('sort')) {
    case 'updated':
      return plainBranch('l.updated_at_time')
    case 'ending':
      return plainBranch('l.end_time')
    case table.parameter:
      return plainBranch(table.key)
    case 'price':
      return plainBranch('l.price')
    case 'template_mint':
    case 'effective_mint':
      return nullableBranches(table.mints[0])
    case 'name':
      return nameBranches()
    default:
      return plainBranch('l.created_at_time')
  }
}

function nameBranches(): readonly Branch[] {
  return nullableBranches('l.name').map((branch) => ({ ...branch, order: [INDEXED_NAME, 'l.name'] }))
}

function stateCondition(values: Values, bindings: Bindings): string[] {
  const states = wantedStates(values)
  return states ? [`l.state = ANY(${bindings.bind(states, 'smallint[]')})`] : []
}

/** A bundle that nobody has claimed: a contract of version 2 gives it back. */
const DISSOLVED = `(l.asset_count > 1 AND NOT (l.claimed_by_buyer OR l.claimed_by_seller)
  AND (SELECT g.v2_since_block IS NOT NULL FROM market.config g))`

/** The states of an auction that has begun depend on the clock. */
function auctionStateCondition(values: Values, setup: MarketSetup, bindings: Bindings): string[] {
  const states = wantedStates(values)
  if (!states) return []
  const stored = states.filter((state) => state === 0 || state === 2)
  const conditions = stored.length === 0 ? [] : [`l.state = ANY(${bindings.bind(stored, 'smallint[]')})`]
  const begun = states.filter((state) => state === 1 || state === 3 || state === 4)
  if (begun.length > 0) {
    const now = bindings.bind(Math.floor(setup.clock() / 1000), 'bigint')
    const meanings: Readonly<Record<number, string>> = {
      1: `l.end_time > ${now}`,
      3: `(l.end_time <= ${now} AND l.buyer IS NOT NULL AND NOT ${DISSOLVED})`,
      4: `(l.end_time <= ${now} AND (l.buyer IS NULL OR ${DISSOLVED}))`,
    }
    const ways = begun.map((state) => meanings[state]!).join(' OR ')
    conditions.push(`(l.state = 1 AND (${ways}))`)
  }
  return [conditions.length === 0 ? NEVER : `(${conditions.join(' OR ')})`]
}

function bidConditions(values: Values, setup: MarketSetup, bindings: Bindings): string[] {
  const conditions: string[] = []
  const bidders = values.texts('bidder')
  const hasBid = (accounts: string): string =>
    `l.auction_id IN (SELECT b.auction_id FROM market.bids b WHERE b.account = ${accounts})`
  if (bidders) conditions.push(hasBid(`ANY(${bindings.bind(bidders, 'text[]')})`))
  if (values.bool('hide_empty_auctions') === true) conditions.push('l.buyer IS NOT NULL')
  const participant = values.text('participant')
  if (participant !== undefined) {
    const account = bindings.bind(participant, 'text')
    const now = bindings.bind(Math.floor(setup.clock() / 1000), 'bigint')
    conditions.push(
      'l.state = 1',
      `((l.end_time > ${now} AND (l.seller = ${account} OR ${hasBid(account)}))
        OR (l.end_time <= ${now} AND ((l.seller = ${account} AND NOT l.claimed_by_seller)
          OR (l.buyer = ${account} AND NOT l.claimed_by_buyer))))`,
    )
  }
  return conditions
}
