import { Bindings } from '../../../database/index.ts'
import type { EndpointContext, Values } from '../../../endpoint/index.ts'
import type { PageQuery } from '../../paging/index.ts'
import { pageWindow } from '../../paging/index.ts'
import { NEVER, oneOf } from '../../assets/index.ts'
import type { MarketSetup } from '../setup.ts'
import type { ResolvedAssets, Way } from './asset-filter.ts'
import { assetFilter, isFoundByAssets, mayBeMany, resolveListedAssets } from './asset-filter.ts'
import type { Branch, ListOrder, Purpose } from './branches.ts'
import {
  countBranches,
  cutBranches,
  mergeBranches,
  nullableOrder,
  plainOrder,
  stretchBranches,
} from './branches.ts'
import { assetNumberConditions, listingConditions, wantedStates } from './listing-conditions.ts'
import type { ListingTable } from './listing-table.ts'
import { listingTables } from './listing-table.ts'
import { plainPriceConditions, readPriceBounds } from './price-filter.ts'
import { readSalePricing, salePriceBranches, salePriceCondition } from './sale-prices.ts'

/** Characters of a name up to which an index holds it whole: an entry of an index cannot be as long as a name can. */
const INDEXED_NAME = 100

/** Listings that are looked at in their order before all that match are sorted; fewer where a look takes long. */
const STRETCH = 20_000
const SLOW_STRETCH = 8_000

/** What one kind of listing adds to the common conditions. */
interface Own {
  readonly conditions: readonly string[]
  /** The order of `sort=price` when the price is not simply a column. */
  readonly priceOrder?: ListOrder
}

/** Makes what a kind of listing adds, for each statement anew: it binds values. */
type MakeOwn = (bindings: Bindings) => Own

/** Makes the query of sales; keys are sale ids. @param standard states of a request that names none; undefined = all. */
export function saleQuery(standard?: readonly number[]) {
  return async (context: EndpointContext, setup: MarketSetup, purpose: Purpose): Promise<PageQuery> => {
    const { session, values } = context
    const states = wantedStates(values) ?? standard
    const isByPrice = values.text('sort') === 'price' && purpose === 'page'
    const pricing = await readSalePricing(session, values, isByPrice)
    return listingQuery(context, setup, purpose, listingTables.sale, (bindings) => {
      const conditions = [
        // A sale without an offer has nothing to show yet, or never had.
        'l.offer_id IS NOT NULL',
        ...(states ? [`l.state = ANY(${bindings.bind(states, 'smallint[]')})`] : []),
        ...assetNumberConditions(values, bindings),
      ]
      return isByPrice
        ? { conditions, priceOrder: { branches: salePriceBranches(pricing, bindings) } }
        : { conditions: [...conditions, ...salePriceCondition(pricing, bindings)] }
    })
  }
}

/** The page of auctions that a request asks for; keys are auction ids. */
export async function auctionQuery(
  context: EndpointContext,
  setup: MarketSetup,
  purpose: Purpose,
): Promise<PageQuery> {
  const { session, values } = context
  const bounds = await readPriceBounds(session, values)
  return listingQuery(context, setup, purpose, listingTables.auction, (bindings) => ({
    conditions: [
      ...auctionStateCondition(values, setup, bindings),
      ...bidConditions(values, setup, bindings),
      ...assetNumberConditions(values, bindings),
      ...plainPriceConditions(bounds, bindings),
    ],
  }))
}

/** The page of buy offers that a request asks for; keys are buy offer ids. */
export async function buyofferQuery(
  context: EndpointContext,
  setup: MarketSetup,
  purpose: Purpose,
): Promise<PageQuery> {
  const { session, values } = context
  const bounds = await readPriceBounds(session, values)
  return listingQuery(context, setup, purpose, listingTables.buyoffer, (bindings) => ({
    conditions: [
      ...stateCondition(values, bindings),
      ...assetNumberConditions(values, bindings),
      ...plainPriceConditions(bounds, bindings),
    ],
  }))
}

/** The page of template buy offers that a request asks for; keys are their ids. */
export async function templateBuyofferQuery(
  context: EndpointContext,
  setup: MarketSetup,
  purpose: Purpose,
): Promise<PageQuery> {
  const { session, values } = context
  const bounds = await readPriceBounds(session, values)
  return listingQuery(context, setup, purpose, listingTables.template_buyoffer, (bindings) => ({
    conditions: [...stateCondition(values, bindings), ...plainPriceConditions(bounds, bindings)],
  }))
}

async function listingQuery(
  context: EndpointContext,
  setup: MarketSetup,
  purpose: Purpose,
  table: ListingTable,
  makeOwn: MakeOwn,
): Promise<PageQuery> {
  const { values } = context
  const resolved = await resolveListedAssets(context, table, setup.trigrams)
  const make = (way: Way) => {
    const bindings = new Bindings()
    const own = makeOwn(bindings)
    const assets = assetFilter(context, table, setup.trigrams, resolved, bindings, way)
    const conditions = [...listingConditions(table, values, bindings), ...assets.conditions]
    const order = own.priceOrder ?? sortOrder(table, values)
    return { own, conditions, alternatives: assets.alternatives, order, bindings }
  }
  const ofBranches = (pick: (order: ListOrder) => readonly Branch[]): PageQuery => {
    const { own, conditions, alternatives, order, bindings } = make('find')
    return mergeBranches(
      {
        from: table.from,
        key: table.key,
        conditions: [...own.conditions, ...conditions],
        bindings,
        ...(isFoundByAssets(resolved)
          ? { branches: pick(order), foundBy: alternatives }
          : { branches: cutBranches(pick(order), alternatives) }),
      },
      values,
    )
  }
  if (purpose === 'count') {
    const { own, conditions, alternatives, bindings } = make('find')
    const all = [...own.conditions, ...conditions]
    return countBranches({ from: table.from, key: table.key, conditions: all, bindings }, alternatives)
  }
  const { last } = sortOrder(table, values)
  const attempts = isLookedFor(values, resolved) ? { attempts: [stretch()] } : {}
  // What was found is read once, for those without a value as well.
  if (isFoundByAssets(resolved))
    return { ...ofBranches((order) => [...order.branches, ...(last ? [last] : [])]), ...attempts }
  const page = ofBranches(({ branches }) => branches)
  const rest = last === undefined ? {} : { rest: () => ofBranches(() => [last]) }
  return { ...page, ...rest, ...attempts }

  /** In their order, as far as a stretch goes. */
  function stretch(): PageQuery {
    const { own, conditions, order, bindings } = make('walk')
    // By mint numbers an index has each collection in order.
    const isByMint = order.branches.some(({ value }) => value === table.mints[0])
    const collection = isByMint ? oneOf('l.collection_name', values.texts('collection_name'), bindings) : []
    const fixed = [...own.conditions, ...collection]
    const length = resolved.isDetailed && resolved.isIndexOnly !== true ? SLOW_STRETCH : STRETCH
    const query = { from: table.from, key: table.key, fixed, conditions, bindings }
    return stretchBranches({ ...query, branches: order.branches, length }, values)
  }
}

/** Filters that no index serves beside the order: among many listings there soon is a page that meets them. */
const LOOKED_FOR = [
  'min_assets',
  'min_template_mint',
  'max_template_mint',
  'min_effective_mint',
  'max_effective_mint',
]

/** Whether a stretch of the order is worth a look. */
function isLookedFor(values: Values, resolved: ResolvedAssets): boolean {
  const window = pageWindow(values)
  if (!window || 2 * (window.offset + window.limit) > STRETCH) return false
  return mayBeMany(resolved) || LOOKED_FOR.some((name) => values.has(name))
}

function sortOrder(table: ListingTable, values: Values): ListOrder {
  switch (values.text('sort')) {
    case 'updated':
      return plainOrder('l.updated_at_time')
    case 'ending':
      return plainOrder('l.end_time')
    case table.parameter:
      // Ids grow with time, whose index serves bounds of time as well.
      return plainOrder(values.has('before') || values.has('after') ? 'l.created_at_time' : table.key)
    case 'price':
      return plainOrder('l.price')
    case 'template_mint':
    case 'effective_mint':
      return mintOrder(table, values)
    case 'name':
      return nameOrder()
    default:
      return plainOrder('l.created_at_time')
  }
}

/** By name: what an index holds whole, and the few names that are longer. */
function nameOrder(): ListOrder {
  const { branches, last } = nullableOrder('l.name')
  const cuts = [`length(l.name) <= ${INDEXED_NAME}`, `length(l.name) > ${INDEXED_NAME}`]
  const cut = branches.flatMap((branch) => cuts.map((condition) => ({ ...branch, conditions: [condition] })))
  return { branches: cut, last }
}

/** By the lowest mint number, which is not above the highest. */
function mintOrder({ mints: [lowest] }: ListingTable, values: Values): ListOrder {
  const { branches, last } = nullableOrder(lowest)
  const most = values.int('max_template_mint') ?? values.int('max_effective_mint')
  const bounded =
    most === undefined
      ? branches
      : branches.map((branch) => ({
          ...branch,
          conditions: [...branch.conditions, `${lowest} <= ${most}::bigint`],
        }))
  const isNeverNull =
    values.text('sort') === 'effective_mint' ||
    ['min_template_mint', 'min_effective_mint', 'max_effective_mint'].some((name) => values.has(name))
  return isNeverNull ? { branches: bounded } : { branches: bounded, last }
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
