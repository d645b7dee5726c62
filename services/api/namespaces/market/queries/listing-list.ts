import { Bindings, whereClause } from '../../../database/index.ts'
import type { EndpointContext, Values } from '../../../endpoint/index.ts'
import type { PageQuery } from '../../paging/index.ts'
import { directionOf, pageWindow } from '../../paging/index.ts'
import { NEVER, oneOf } from '../../assets/index.ts'
import type { MarketSetup } from '../setup.ts'
import type { Way } from './asset-filter.ts'
import { assetFilter, resolveListedAssets } from './asset-filter.ts'
import type { Branch, ListOrder, Purpose } from './branches.ts'
import {
  countBranches,
  cutBranches,
  mergeBranches,
  placeConditions,
  sortMatching,
  stretchBranches,
  valueOf,
} from './branches.ts'
import { expectedRows } from './expectation.ts'
import {
  assetNumberConditions,
  collectionConditions,
  listingConditions,
  wantedStates,
} from './listing-conditions.ts'
import type { ListingTable } from './listing-table.ts'
import { isByMint, sortOrder } from './listing-order.ts'
import { highestMint, isBare, isNarrowed, matching, visibleTemplates } from './listing-share.ts'
import { HAS_ASSET, listingTables } from './listing-table.ts'
import { plainPriceConditions, readPriceBounds } from './price-filter.ts'
import type { ResolvedAssets } from './listed-assets.ts'
import { NAMES } from './listed-assets.ts'
import { readSalePricing, salePriceBranches, salePriceCondition } from './sale-prices.ts'

/** Listings that are looked at in their order before all that match are sorted; fewer where a look takes long. */
const STRETCH = 20_000
const SLOW_STRETCH = 8_000
/** The same where all that match are sorted soon; more where the page is expected to be full in so many. */
const GLANCE = 1_000
const LONG_GLANCE = 8_000
/** The same in an order that nothing but states and collections have a place in. */
const BARE_GLANCE = 6_000

/** What one kind of listing adds to the common conditions. */
interface Own {
  readonly conditions: readonly string[]
  /** The order of `sort=price` when the price is not simply a column. */
  readonly priceOrder?: () => ListOrder
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
        ? { conditions, priceOrder: () => ({ branches: salePriceBranches(pricing, bindings) }) }
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
  const resolved = await resolveListedAssets(context, table, setup)
  const visible = isByMint(values) ? await visibleTemplates(context, resolved) : undefined
  const highest = visible ? undefined : await highestMint(context, resolved)
  const make = (way: Way, shown: ResolvedAssets = resolved) => {
    const bindings = new Bindings()
    const own = makeOwn(bindings)
    const assets = assetFilter(context, table, setup.trigrams, shown, bindings, way)
    const order = own.priceOrder?.() ?? sortOrder(table, values, highest)
    const conditions = [...assets.conditions, ...listingConditions(table, values, bindings)]
    // Bound where they are needed: a statement uses all that it binds.
    const ofCollections = () => collectionConditions(values, bindings)
    return { from: table.from, key: table.key, own, assets, conditions, ofCollections, order, bindings }
  }
  const find = () => {
    const { own, assets, conditions, ofCollections, ...query } = make('find')
    return { ...query, ...assets, conditions: [...own.conditions, ...conditions, ...ofCollections()] }
  }
  if (purpose === 'count') {
    const { alternatives, ...query } = find()
    return countBranches(query, alternatives)
  }
  if (!isNarrowed(context, resolved)) return inOrder()
  if (visible) return { ...sortAll(visible), ...rest() }
  const sorted = sortAll()
  const { share, number } = await matching(context, table, sorted, resolved)
  // Few template buy offers have an asset to look at; where traits tell which, fewer still.
  const isLooked = table.kind === 4 && resolved.isDetailed && share !== 'few'
  if (isLooked && (await fulfilled()) <= STRETCH) return resolved.isForetold ? sorted : looked()
  const isSlow = resolved.isDetailed && !resolved.isIndexOnly
  switch (share) {
    case 'few':
      return sorted
    case 'moderate':
      return { ...sorted, attempts: stretches(await glance(number)) }
    case 'some':
      return { ...sorted, attempts: stretches(isSlow ? SLOW_STRETCH : STRETCH) }
    case 'unknown':
      return inOrder()
    case 'many':
      return { ...inOrder(), attempts: stretches(isSlow ? SLOW_STRETCH : STRETCH) }
  }

  /** All that match, sorted. @param visible of those with a mint number, all are of these templates, but for bundles */
  function sortAll(visible?: readonly number[]): PageQuery {
    const { own, assets, conditions, order, ...query } = make('find', { ...resolved, visible })
    const early = conditions.filter((each) => !assets.late.includes(each))
    const placed = visible ? { branches: order.branches } : order
    return sortMatching(
      {
        ...query,
        ...assets,
        conditions: [...own.conditions, ...early],
        order: placed,
        assets: table.kind === 4 ? 'l.asset_id' : 'l.asset_ids',
      },
      values,
    )
  }

  /** In their order until the page is full. */
  function inOrder(): PageQuery {
    return { ...ofBranches(({ branches }) => branches), ...rest() }
  }

  /** What has no value comes last. */
  function rest(): Pick<PageQuery, 'rest'> {
    const { last } = sortOrder(table, values)
    // A template buy offer without a mint number has no asset yet.
    const isEmpty = table.kind === 4 && resolved.isDetailed && isByMint(values)
    return last === undefined || isEmpty ? {} : { rest: () => ofBranches(() => [last]) }
  }

  function ofBranches(pick: (order: ListOrder) => readonly Branch[]): PageQuery {
    const { order, alternatives, ...query } = find()
    return mergeBranches({ ...query, branches: cutBranches(pick(order), alternatives) }, values)
  }

  /** As many as have twice a page of those that match among them, if that is not too many. */
  async function glance(number = 0): Promise<number> {
    const { offset, limit } = pageWindow(values) ?? { offset: 0, limit: 0 }
    const bindings = new Bindings()
    // By mint numbers an index has each collection in order.
    const among = isByMint(values) ? collectionConditions(values, bindings) : []
    const text = `SELECT * FROM ${table.from} ${whereClause([...makeOwn(bindings).conditions, ...among])}`
    const all = await expectedRows(context.session, { text, values: bindings.values })
    const needed = Math.ceil((2 * (offset + limit) * all) / Math.max(number, 1))
    if (!isBare(values)) return needed > GLANCE && needed <= LONG_GLANCE ? needed : GLANCE
    // Names and mint numbers are not spread evenly over what a search in names finds, or some templates.
    const isUneven = resolved.templates.kind === 'ids' || NAMES.some((name) => values.has(name))
    if (needed <= 2 * GLANCE || isUneven) return GLANCE
    // Nor over a schema, whose templates have names of their own; and of assets with attributes of their own few have a
    // mint number.
    const isOfSome =
      values.has('schema_name') ||
      (isByMint(values) && context.attributes.some(({ family }) => family === 'immutable_data'))
    return needed <= BARE_GLANCE && !isOfSome ? needed : 0
  }

  /** How many template buy offers have an asset. */
  function fulfilled(): Promise<number> {
    const bindings = new Bindings()
    const where = whereClause([...makeOwn(bindings).conditions, HAS_ASSET])
    const text = `SELECT * FROM ${table.from} ${where}`
    return expectedRows(context.session, { text, values: bindings.values })
  }

  /**
   * These in their order, each looked at until the page is full. OFFSET 0 has them sorted first, and before that read
   * without the index of an order, which has those without an asset too.
   */
  function looked(): PageQuery {
    const { own, order, conditions, ofCollections, bindings } = make('walk')
    const having = `SELECT l.*, ${valueOf(order)} AS v FROM ${table.from} ${whereClause([...own.conditions, HAS_ASSET])} OFFSET 0`
    const text = `l.v ${directionOf(values)} NULLS LAST, ${table.key}`
    return {
      key: table.key,
      from: `(SELECT l.* FROM (${having}) l ${whereClause(placeConditions(order))} ORDER BY ${text} OFFSET 0) l`,
      conditions: [...conditions, ...ofCollections()],
      order: text,
      bindings,
    }
  }

  /** In their order, as far as a stretch goes. */
  function stretches(length: number): PageQuery[] {
    const window = pageWindow(values)
    if (!window || 2 * (window.offset + window.limit) > length) return []
    const { own, order, conditions, ofCollections, ...query } = make('walk')
    // By mint numbers an index has each collection in order.
    const collection = isByMint(values)
      ? oneOf('l.collection_name', values.texts('collection_name'), query.bindings)
      : []
    const fixed = [...own.conditions, ...collection]
    const looked = [...conditions, ...ofCollections()]
    return [
      stretchBranches({ ...query, conditions: looked, fixed, branches: order.branches, length }, values),
    ]
  }
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
