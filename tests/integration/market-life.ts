import { formatEpochMs } from '../../services/core/antelope/values/time.ts'
import { marketConfig, waxPrice } from './market-rows.ts'
import type { SeededRandom } from './seeded-random.ts'

/** An action or row in the form in which handlers receive it. */
export type LifeEvent =
  | { readonly family: Family; readonly action: string; readonly data: object }
  | {
      readonly family: Family
      readonly table: string
      readonly scope: string
      readonly key: bigint
      readonly present: boolean
      readonly value: object
    }

type Family = 'assets' | 'oracle' | 'market'

/** A block of generated market activity. Hours or days may lie between two blocks. */
export interface LifeBlock {
  readonly num: number
  readonly timeMs: number
  readonly events: readonly LifeEvent[]
  /** Accounts on which contract code was deployed in the block. */
  readonly contracts: readonly string[]
}

interface Listing {
  id: bigint
  owner: string
  ids: bigint[]
  offer: bigint | null
  symbol: string
  endMs: number
  bidder: string | null
  claimed: string[]
}

/** State of the simulated chain. Plain data, so that a fork can restore a copy. */
export interface LifeWorld {
  num: number
  timeMs: number
  isV2: boolean
  nextAsset: bigint
  nextOffer: bigint
  nextListing: bigint
  nextPoint: number
  median: bigint
  supplies: number[]
  owners: Map<bigint, { owner: string; template: number }>
  sales: Listing[]
  auctions: Listing[]
  buyoffers: Listing[]
  templateBuyoffers: { id: bigint; buyer: string; template: number }[]
}

const people = ['alice', 'bob', 'carol', 'dan', 'erin']
const marketplaces = ['', 'shop', 'mall']
const templates = [1, 2, 3, 4]
const COLLECTION = 'cards'
const HOUR = 3_600_000
/**
 * After this block the only actions are announcements of sales. The announced sales stay open while the clock jumps by
 * days.
 */
const QUIET_FROM = 220

/** State of the simulated market before the first block. */
export function newWorld(): LifeWorld {
  return {
    num: 0,
    timeMs: Date.UTC(2024, 0, 1),
    isV2: false,
    nextAsset: 1n << 40n,
    nextOffer: 1n,
    nextListing: 1n,
    nextPoint: 0,
    median: 0n,
    supplies: templates.map(() => 0),
    owners: new Map(),
    sales: [],
    auctions: [],
    buyoffers: [],
    templateBuyoffers: [],
  }
}

/** Generates the next block and updates the state of the simulated market. */
export function liveBlock(world: LifeWorld, random: SeededRandom): LifeBlock {
  const step = random.fraction()
  world.num++
  world.timeMs += step < 0.7 ? 500 : step < 0.9 ? random.between(1, 20) * HOUR : random.between(20, 60) * HOUR
  if (world.num === QUIET_FROM + 10) world.timeMs += 80 * HOUR
  const life = new Life(world, random)
  if (world.num === 1) life.begin()
  if (world.num === 150) life.upgrade()
  for (let i = random.between(1, 8); i > 0; i--) life.act()
  const contracts = random.fraction() < 0.01 ? [pick(random, people.slice(-2))] : []
  return { num: world.num, timeMs: world.timeMs, events: life.events, contracts }
}

function pick<T>(random: SeededRandom, list: readonly T[]): T {
  return list[random.between(0, list.length - 1)]!
}

class Life {
  readonly events: LifeEvent[] = []
  readonly #world: LifeWorld
  readonly #random: SeededRandom

  constructor(world: LifeWorld, random: SeededRandom) {
    this.#world = world
    this.#random = random
  }

  begin(): void {
    for (const template_id of templates) {
      const named = template_id < 3 ? [{ key: 'name', value: ['string', `Card ${template_id}`] }] : []
      this.#action('assets', 'lognewtempl', {
        template_id,
        authorized_creator: 'alice',
        collection_name: COLLECTION,
        schema_name: template_id % 2 === 0 ? 'even' : 'odd',
        transferable: true,
        burnable: true,
        max_supply: 0,
        immutable_data: named,
      })
    }
    this.#config('1.3.3')
    this.#row('oracle', 'pairs', 'oracle', 1n, true, waxPrice)
  }

  upgrade(): void {
    this.#world.isV2 = true
    this.#config('2.0.0')
  }

  act(): void {
    if (this.#world.num > QUIET_FROM) return this.#announceSale()
    const acts = [
      () => this.#mint(),
      () => this.#mint(),
      () => this.#move(),
      () => this.#burn(),
      () => this.#edit(),
      () => this.#editTemplate(),
      () => this.#announceSale(),
      () => this.#announceSale(),
      () => this.#announceSale(),
      () => this.#purchase(),
      () => this.#purchase(),
      () => this.#purchase(),
      () => this.#cancelSale(),
      () => this.#withdrawOffer(),
      () => this.#announceAuction(),
      () => this.#bid(),
      () => this.#bid(),
      () => this.#claim(),
      () => this.#makeBuyoffer(),
      () => this.#endBuyoffer(),
      () => this.#makeTemplateBuyoffer(),
      () => this.#endTemplateBuyoffer(),
      () => this.#writePrice(),
    ]
    pick(this.#random, acts)()
  }

  #mint(): void {
    const world = this.#world
    const random = this.#random
    const template = random.fraction() < 0.8 ? pick(random, templates) : -1
    const asset_id = world.nextAsset++
    const owner = pick(random, people)
    world.owners.set(asset_id, { owner, template })
    this.#action('assets', 'logmint', {
      asset_id,
      authorized_minter: 'alice',
      collection_name: COLLECTION,
      schema_name: template === -1 ? 'loose' : template % 2 === 0 ? 'even' : 'odd',
      template_id: template,
      new_asset_owner: owner,
      immutable_data: template === -1 && random.fraction() < 0.5 ? this.#named('Minted') : [],
      mutable_data: random.fraction() < 0.5 ? this.#named('Young') : [],
    })
    if (template === -1) return
    const issued_supply = ++world.supplies[template - 1]!
    this.#row('assets', 'templates', COLLECTION, BigInt(template), true, {
      template_id: template,
      transferable: true,
      burnable: true,
      max_supply: 0,
      issued_supply,
    })
  }

  #move(): void {
    const id = this.#anyAsset()
    if (id !== null) this.#transfer(this.#ownerOf(id), pick(this.#random, people), [id])
  }

  #burn(): void {
    const id = this.#anyAsset()
    if (id === null || this.#random.fraction() < 0.5) return
    const { owner, template } = this.#world.owners.get(id)!
    this.#world.owners.delete(id)
    this.#action('assets', 'logburnasset', {
      asset_owner: owner,
      asset_id: id,
      collection_name: COLLECTION,
      schema_name: template === -1 ? 'loose' : template % 2 === 0 ? 'even' : 'odd',
      template_id: template,
      backed_tokens: [],
    })
  }

  #edit(): void {
    const id = this.#anyAsset()
    if (id !== null) this.#action('assets', 'logsetdata', { asset_id: id, new_data: this.#named('Edited') })
  }

  #editTemplate(): void {
    const template_id = pick(this.#random, templates)
    const new_data = this.#named('Template')
    this.#action('assets', 'logsetdatatl', {
      collection_name: COLLECTION,
      schema_name: 'odd',
      template_id,
      new_data,
    })
  }

  #announceSale(): void {
    const goods = this.#anyGoods()
    if (!goods) return
    const world = this.#world
    const random = this.#random
    const isOracle = random.fraction() < 0.4 && world.median > 0n
    const sale: Listing = { ...goods, ...this.#listing(), symbol: isOracle ? '2,USD' : '8,WAX' }
    world.sales.push(sale)
    this.#action('market', 'lognewsale', {
      sale_id: sale.id,
      seller: sale.owner,
      asset_ids: sale.ids,
      listing_price: isOracle ? `${random.between(1, 40)}.${random.between(10, 99)} USD` : this.#price(),
      settlement_symbol: '8,WAX',
      ...this.#terms(),
    })
    if (random.fraction() < 0.1) return
    sale.offer = world.nextOffer++
    this.#action('assets', 'lognewoffer', {
      offer_id: sale.offer,
      sender: sale.owner,
      recipient: 'market',
      sender_asset_ids: sale.ids,
      recipient_asset_ids: [],
      memo: 'sale',
    })
    this.#action('market', 'logsalestart', { sale_id: sale.id, offer_id: sale.offer })
  }

  #purchase(): void {
    const world = this.#world
    const random = this.#random
    if (random.fraction() < 0.5) return
    const sale = this.#take(world.sales, (one) => one.offer !== null && this.#holds(one))
    if (!sale) return
    const buyer = pick(random, people)
    this.#action('market', 'purchasesale', {
      buyer,
      sale_id: sale.id,
      intended_delphi_median: sale.symbol === '2,USD' ? world.median : 0n,
      taker_marketplace: pick(random, marketplaces),
    })
    this.#row('market', 'sales', 'market', sale.id, false, { asset_ids: sale.ids })
    if (world.isV2 && world.num > 150 && sale.ids.length > 1) {
      this.#action('assets', 'declineoffer', { offer_id: sale.offer })
      return
    }
    this.#action('assets', 'acceptoffer', { offer_id: sale.offer })
    this.#transfer(sale.owner, buyer, sale.ids)
    if (sale.symbol === '2,USD' || random.fraction() < 0.7) return
    this.#action('assets', 'logsetdata', { asset_id: sale.ids[0], new_data: this.#named('Bought') })
  }

  #cancelSale(): void {
    const sale = this.#take(this.#world.sales)
    if (!sale) return
    this.#action('market', 'cancelsale', { sale_id: sale.id })
    if (sale.offer !== null) this.#action('assets', 'declineoffer', { offer_id: sale.offer })
  }

  #withdrawOffer(): void {
    const sale = this.#world.sales.find((one) => one.offer !== null)
    if (!sale || this.#random.fraction() < 0.6) return
    this.#action('assets', 'canceloffer', { offer_id: sale.offer })
    // A sale without its offer can no longer be bought, but stays listed until it is cancelled.
    this.#world.sales = this.#world.sales.filter((one) => one !== sale)
  }

  #announceAuction(): void {
    const goods = this.#anyGoods()
    if (!goods) return
    const world = this.#world
    const random = this.#random
    const auction: Listing = {
      ...goods,
      ...this.#listing(),
      endMs: Math.ceil(world.timeMs / 1000) * 1000 + random.between(1, 100) * HOUR,
    }
    world.auctions.push(auction)
    this.#action('market', 'lognewauct', {
      auction_id: auction.id,
      seller: auction.owner,
      asset_ids: auction.ids,
      starting_bid: this.#price(),
      end_time: Math.ceil(auction.endMs / 1000),
      ...this.#terms(),
    })
    this.#transfer(auction.owner, 'market', auction.ids)
    this.#action('market', 'logauctstart', { auction_id: auction.id })
  }

  #bid(): void {
    const world = this.#world
    const random = this.#random
    const auction = world.auctions.find((one) => one.endMs > world.timeMs && random.fraction() < 0.5)
    if (!auction) return
    if (world.isV2 && world.num > 150 && auction.ids.length > 1) return this.#dissolve(auction, 'auctionbid')
    auction.bidder = pick(random, people)
    auction.endMs = Math.max(auction.endMs, Math.ceil(world.timeMs / 1000) * 1000 + HOUR)
    this.#action('market', 'auctionbid', this.#bidOf(auction))
    this.#row('market', 'auctions', 'market', auction.id, true, {
      asset_ids: auction.ids,
      end_time: Math.ceil(auction.endMs / 1000),
      claimed_by_seller: false,
      claimed_by_buyer: false,
    })
  }

  #claim(): void {
    const world = this.#world
    const random = this.#random
    if (this.#isBeforeUpgrade()) return
    const auction = world.auctions.find(
      (one) => one.endMs <= world.timeMs && one.bidder !== null && random.fraction() < 0.7,
    )
    if (!auction) return
    const action = pick(
      random,
      ['auctclaimbuy', 'auctclaimsel'].filter((name) => !auction.claimed.includes(name)),
    )
    if (world.isV2 && world.num > 150 && auction.ids.length > 1 && auction.claimed.length === 0)
      return this.#dissolve(auction, action)
    auction.claimed.push(action)
    this.#action('market', action, { auction_id: auction.id })
    if (action === 'auctclaimbuy') this.#transfer('market', auction.bidder!, auction.ids)
    if (auction.claimed.length === 2) world.auctions = world.auctions.filter((one) => one !== auction)
  }

  #dissolve(auction: Listing, action: string): void {
    const world = this.#world
    world.auctions = world.auctions.filter((one) => one !== auction)
    this.#action(
      'market',
      action,
      action === 'auctionbid' ? this.#bidOf(auction) : { auction_id: auction.id },
    )
    this.#transfer('market', auction.owner, auction.ids)
    this.#row('market', 'auctions', 'market', auction.id, false, {
      asset_ids: auction.ids,
      end_time: Math.ceil(auction.endMs / 1000),
      claimed_by_seller: false,
      claimed_by_buyer: false,
    })
  }

  #makeBuyoffer(): void {
    const goods = this.#anyGoods()
    if (!goods) return
    const buyoffer: Listing = { ...goods, ...this.#listing(), bidder: pick(this.#random, people) }
    this.#world.buyoffers.push(buyoffer)
    this.#action('market', 'lognewbuyo', {
      buyoffer_id: buyoffer.id,
      buyer: buyoffer.bidder,
      recipient: buyoffer.owner,
      price: this.#price(),
      asset_ids: buyoffer.ids,
      memo: 'please',
      ...this.#terms(),
    })
  }

  #endBuyoffer(): void {
    const world = this.#world
    const random = this.#random
    const offer = this.#take(world.buyoffers)
    if (!offer) return
    const buyoffer_id = offer.id
    const end = random.fraction()
    if (end < 0.2) return this.#action('market', 'cancelbuyo', { buyoffer_id })
    if (end < 0.4 || !this.#holds(offer))
      return this.#action('market', 'declinebuyo', { buyoffer_id, decline_memo: 'no' })
    this.#action('market', 'acceptbuyo', { buyoffer_id, taker_marketplace: pick(random, marketplaces) })
    this.#row('market', 'buyoffers', 'market', offer.id, false, { asset_ids: offer.ids })
    if (!(world.isV2 && world.num > 150 && offer.ids.length > 1))
      this.#transfer(offer.owner, offer.bidder!, offer.ids)
  }

  #makeTemplateBuyoffer(): void {
    const world = this.#world
    const random = this.#random
    const offer = { id: world.nextListing++, buyer: pick(random, people), template: pick(random, templates) }
    world.templateBuyoffers.push(offer)
    this.#action('market', 'lognewtbuyo', {
      buyoffer_id: offer.id,
      buyer: offer.buyer,
      price: this.#price(),
      template_id: BigInt(offer.template),
      ...this.#terms(),
    })
  }

  #endTemplateBuyoffer(): void {
    const world = this.#world
    const random = this.#random
    const offer = world.templateBuyoffers.shift()
    if (!offer) return
    const found = [...world.owners].find(
      ([, one]) => one.template === offer.template && one.owner !== 'market',
    )
    if (!found || random.fraction() < 0.3)
      return this.#action('market', 'canceltbuyo', { buyoffer_id: offer.id })
    const [asset_id, { owner: seller }] = found
    this.#action('market', 'fulfilltbuyo', {
      seller,
      buyoffer_id: offer.id,
      asset_id,
      taker_marketplace: pick(random, marketplaces),
    })
    this.#transfer(seller, offer.buyer, [asset_id])
  }

  #writePrice(): void {
    const world = this.#world
    const random = this.#random
    const writes = random.between(1, 3)
    for (let i = 0; i < writes; i++) {
      const id = BigInt(world.nextPoint++ % 21)
      const value = BigInt(random.between(150, 900))
      world.median = BigInt(random.between(150, 900))
      const owner = `oracle${i}`
      this.#action('oracle', 'write', { owner, quotes: [{ value, pair: 'waxpusd' }] })
      const timestamp = formatEpochMs(world.timeMs)
      const point = { id, owner, value, median: world.median, timestamp }
      this.#row('oracle', 'datapoints', 'waxpusd', id, true, point)
    }
  }

  #config(version: string): void {
    this.#row('market', 'config', 'market', 1n, true, marketConfig(version))
  }

  #transfer(from: string, to: string, ids: readonly bigint[]): void {
    for (const id of ids) this.#world.owners.get(id)!.owner = to
    if (from !== to)
      this.#action('assets', 'logtransfer', {
        collection_name: COLLECTION,
        from,
        to,
        asset_ids: ids,
        memo: '',
      })
  }

  #listing() {
    return {
      id: this.#world.nextListing++,
      offer: null,
      symbol: '8,WAX',
      endMs: 0,
      bidder: null,
      claimed: [],
    }
  }

  #bidOf(auction: Listing) {
    const bid = this.#price()
    return {
      bidder: auction.bidder ?? pick(this.#random, people),
      auction_id: auction.id,
      bid,
      taker_marketplace: pick(this.#random, marketplaces),
    }
  }

  /** Picks one asset, or several of one owner as long as the market allows bundles. */
  #anyGoods(): { owner: string; ids: bigint[] } | null {
    const first = this.#anyAsset()
    if (first === null) return null
    const owner = this.#ownerOf(first)
    const others = [...this.#world.owners]
      .filter(([id, one]) => one.owner === owner && id !== first)
      .slice(-2)
    const isBundle = !this.#world.isV2 && this.#random.fraction() < (this.#isBeforeUpgrade() ? 0.8 : 0.25)
    return { owner, ids: [first, ...(isBundle ? others.map(([id]) => id) : [])] }
  }

  #anyAsset(): bigint | null {
    const ids = [...this.#world.owners].filter(([, one]) => one.owner !== 'market').map(([id]) => id)
    return ids.length === 0 ? null : pick(this.#random, ids)
  }

  /**
   * Whether the number of the block is 136 to 150. No auction is claimed in these blocks, so the contract upgrade finds
   * unclaimed auctions of several assets.
   */
  #isBeforeUpgrade(): boolean {
    return this.#world.num > 135 && this.#world.num <= 150
  }

  #ownerOf(id: bigint): string {
    return this.#world.owners.get(id)!.owner
  }

  #holds(listing: Listing): boolean {
    return listing.ids.every((id) => this.#world.owners.get(id)?.owner === listing.owner)
  }

  /** Removes a random matching element from a list and returns it. */
  #take(list: Listing[], fits: (one: Listing) => boolean = () => true): Listing | undefined {
    const fitting = list.filter(fits)
    if (fitting.length === 0) return undefined
    const taken = pick(this.#random, fitting)
    list.splice(list.indexOf(taken), 1)
    return taken
  }

  #price(): string {
    return `${this.#random.between(1, 30)}.00000000 WAX`
  }

  #terms() {
    return {
      maker_marketplace: pick(this.#random, marketplaces),
      collection_name: COLLECTION,
      collection_fee: 0.05,
    }
  }

  #named(what: string) {
    return this.#random.fraction() < 0.3
      ? []
      : [{ key: 'name', value: ['string', `${what} ${this.#random.between(1, 9)}`] }]
  }

  #action(family: Family, action: string, data: object): void {
    this.events.push({ family, action, data })
  }

  #row(family: Family, table: string, scope: string, key: bigint, present: boolean, value: object): void {
    this.events.push({ family, table, scope, key, present, value })
  }
}
