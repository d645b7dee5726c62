import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { CompiledAbi } from '../../services/core/antelope/decoder/index.ts'
import { compileAbi } from '../../services/core/antelope/decoder/index.ts'
import { normalizeAbiJson } from '../../services/core/antelope/abi/index.ts'
import { parseAsset, parseSymbol } from '../../services/core/antelope/index.ts'
import { packageRoot } from '../../services/core/paths/index.ts'
import type { ChainBlock } from '../../services/devchain/index.ts'
import { signedBlockOf, transactionsOf } from '../devchain/chain-blocks.ts'

/** Decoded data of a contract action. */
type Said = Readonly<Record<string, unknown>>

/** An action in the form that the model uses. */
interface ModelAction {
  readonly account: string
  readonly name: string
  readonly actors: readonly string[]
  readonly said: Said
}

/** Actions of a block, in order of execution. */
export interface ModelBlock {
  readonly num: number
  /** Time of the block, ms since 1970. */
  readonly time: number
  readonly actions: readonly ModelAction[]
}

/** A listing of any type; members that its type does not have are absent. */
export interface ModelListing {
  readonly id: bigint
  readonly seller: string | null
  readonly buyer: string | null
  readonly assets: readonly bigint[]
  readonly collection: string
  readonly amount: bigint
  readonly symbol: string
  /** Symbol of the token in which a buyer pays; the symbol of `amount`, unless a sale names another token. */
  readonly settlement: string
  readonly state: number
  readonly maker: string
  readonly taker: string | null
  readonly created: number
  readonly updated: number
  readonly offer?: bigint
  readonly template?: number
  /** End time of an auction, seconds since 1970. */
  readonly end?: number
  readonly claims?: readonly string[]
  /** Price that the buyer of a sale has paid, in the settlement token; undefined for other listings. */
  readonly paid?: bigint
}

/** Listing types. */
export type ModelKind = 'sales' | 'auctions' | 'buyoffers' | 'template_buyoffers'

interface ModelAsset {
  readonly owner: string | null
  readonly collection: string
  readonly schema: string
  readonly template: number
}

interface ModelOffer {
  readonly sender: string
  readonly given: readonly bigint[]
  readonly recipient: string
  readonly wanted: readonly bigint[]
  readonly isOpen: boolean
}

/** State of the oracle at the end of the recording: three reports and their median. */
const recordedValues = [490n, 490n, 510n]
const RECORDED_MEDIAN = 500n
/** Index of the median in the oracle's sorted price reports, if there are enough reports. */
const MEDIAN_PLACE = 9
/** Transaction status "executed". */
const EXECUTED = 0
/** Minimum time in seconds from a bid to the end of the auction: `auction_reset_duration` of the recorded market. */
const RESET_SECONDS = 120

const abis: Readonly<Record<string, CompiledAbi>> = {
  atomicassets: readAbi('assets.v1'),
  atomicmarket: readAbi('market.v1.3.3'),
  delphioracle: readAbi('oracle'),
}

function readAbi(name: string): CompiledAbi {
  const file = join(packageRoot, 'tests/fixtures/contracts', `${name}.abi.json`)
  return compileAbi(normalizeAbiJson(JSON.parse(readFileSync(file, 'utf8'))))
}

/** Decodes the actions of the three contracts in a block. */
export function readBlock(block: ChainBlock): ModelBlock {
  // Block 1 of a chain has neither a payload nor traces.
  if (!block.block || !block.traces) return { num: block.num, time: 0, actions: [] }
  const time = Date.parse(`${String(signedBlockOf(block)['timestamp'])}Z`)
  const traces = transactionsOf(block)
    .filter(({ status }) => status === EXECUTED)
    .flatMap(({ actions }) => actions)
    .filter(({ receiver, act }) => receiver === act.account && abis[act.account] !== undefined)
    .sort((a, b) => (a.receipt[1].global_sequence < b.receipt[1].global_sequence ? -1 : 1))
  const actions = traces.flatMap(({ act }): ModelAction[] => {
    const abi = abis[act.account]!
    const type = abi.actionType(act.name)
    if (type === undefined) return []
    const said = abi.decoder<Said>(type)(act.data, 0, act.data.length)
    return [
      { account: act.account, name: act.name, actors: act.authorization.map(({ actor }) => actor), said },
    ]
  })
  return { num: block.num, time, actions }
}

/**
 * Reference model of the market by its documentation: plain maps that actions change. Derived values are not stored
 * but computed on request.
 */
export class MarketModel {
  readonly listings: Readonly<Record<ModelKind, Map<bigint, ModelListing>>> = {
    sales: new Map(),
    auctions: new Map(),
    buyoffers: new Map(),
    template_buyoffers: new Map(),
  }
  readonly assets = new Map<bigint, ModelAsset>()
  readonly #offers = new Map<bigint, ModelOffer>()
  readonly #ring = recordedValues.map((value) => ({ value, time: 0 }))
  /** Latest median of the only pair that sales are priced by. */
  median = RECORDED_MEDIAN
  time = 0
  operations = 0

  apply({ time, actions }: ModelBlock): void {
    this.time = time
    for (const { account, name, actors, said } of actions) {
      if (name.startsWith('log') && actors.some((actor) => actor !== account)) continue
      if (account === 'atomicassets') this.#onAssets(name, said)
      else if (account === 'delphioracle') this.#onOracle(name, said)
      else this.#onMarket(name, said)
    }
  }

  #onAssets(name: string, said: Said): void {
    const id = said['asset_id'] as bigint
    if (name === 'logmint') {
      this.assets.set(id, {
        owner: said['new_asset_owner'] as string,
        collection: said['collection_name'] as string,
        schema: said['schema_name'] as string,
        template: said['template_id'] as number,
      })
    } else if (name === 'logburnasset') this.#move([id], null)
    else if (name === 'logtransfer') this.#move(said['asset_ids'] as bigint[], said['to'] as string)
    else if (name === 'lognewoffer') {
      this.#offers.set(said['offer_id'] as bigint, {
        sender: said['sender'] as string,
        given: said['sender_asset_ids'] as bigint[],
        recipient: said['recipient'] as string,
        wanted: said['recipient_asset_ids'] as bigint[],
        isOpen: true,
      })
    } else if (['acceptoffer', 'declineoffer', 'canceloffer'].includes(name)) {
      const offer = this.#offers.get(said['offer_id'] as bigint)
      if (offer) this.#offers.set(said['offer_id'] as bigint, { ...offer, isOpen: false })
    }
  }

  #move(ids: readonly bigint[], owner: string | null): void {
    for (const id of ids) {
      const asset = this.assets.get(id)
      if (asset) this.assets.set(id, { ...asset, owner })
    }
  }

  /** A price report replaces the oldest report of the oracle. The median is then recomputed from all reports. */
  #onOracle(name: string, said: Said): void {
    if (name !== 'write') return
    for (const { value, pair } of said['quotes'] as { value: bigint; pair: string }[]) {
      if (pair !== 'waxpusd') continue
      const oldest = this.#ring.reduce((found, each) => (each.time < found.time ? each : found))
      Object.assign(oldest, { value, time: this.time })
      const values = this.#ring.map((each) => each.value).sort((a, b) => (a < b ? -1 : 1))
      this.median = values[Math.min(MEDIAN_PLACE, values.length >> 1)]!
      this.operations++
    }
  }

  #onMarket(name: string, said: Said): void {
    const [kind, verb] = verbs[name] ?? []
    if (kind === undefined || verb === undefined) return
    this.operations++
    const table = this.listings[kind]
    const id = (said['sale_id'] ?? said['auction_id'] ?? said['buyoffer_id']) as bigint
    if (verb === 'new') {
      table.set(id, this.#created(kind, id, said))
      return
    }
    const listing = table.get(id)
    if (listing) table.set(id, { ...listing, updated: this.time, ...this.#changed(verb, listing, said) })
  }

  #created(kind: ModelKind, id: bigint, said: Said): ModelListing {
    const asked = parseAsset((said['listing_price'] ?? said['starting_bid'] ?? said['price']) as string)
    const settlement = said['settlement_symbol'] as string | undefined
    return {
      id,
      seller: (said['seller'] ?? said['recipient'] ?? null) as string | null,
      buyer: kind === 'sales' || kind === 'auctions' ? null : (said['buyer'] as string),
      assets: (said['asset_ids'] ?? []) as bigint[],
      collection: said['collection_name'] as string,
      amount: asked.amount,
      symbol: asked.symbol,
      settlement: settlement === undefined ? asked.symbol : parseSymbol(settlement).symbol,
      state: 0,
      maker: said['maker_marketplace'] as string,
      taker: null,
      created: this.time,
      updated: this.time,
      ...(kind === 'template_buyoffers' ? { template: Number(said['template_id']) } : {}),
      ...(kind === 'auctions' ? { end: said['end_time'] as number, claims: [] } : {}),
    }
  }

  #changed(verb: string, listing: ModelListing, said: Said): Partial<ModelListing> {
    const taker = said['taker_marketplace'] as string
    switch (verb) {
      case 'start':
        return { state: 1, ...(said['offer_id'] === undefined ? {} : { offer: said['offer_id'] as bigint }) }
      case 'buy':
        return { state: 3, buyer: said['buyer'] as string, taker, paid: this.#paid(listing, said) }
      case 'bid': {
        const end = Math.max(listing.end!, Math.floor(this.time / 1000) + RESET_SECONDS)
        return {
          buyer: said['bidder'] as string,
          amount: parseAsset(said['bid'] as string).amount,
          taker,
          end,
        }
      }
      case 'claim by buyer':
        return { claims: [...listing.claims!, 'buyer'] }
      case 'claim by seller':
        return { claims: [...listing.claims!, 'seller'] }
      case 'accept':
        return { state: 3, taker }
      case 'fulfil':
        return { state: 2, taker, seller: said['seller'] as string, assets: [said['asset_id'] as bigint] }
      default:
        // Every other verb is the resulting state as text: '1' for `decline` and for the end of a template buy offer,
        // else '2'.
        return { state: Number(verb) }
    }
  }

  #paid(listing: ModelListing, said: Said): bigint {
    const median = said['intended_delphi_median'] as bigint
    return median === 0n ? listing.amount : dollarsInWax(listing.amount, median)
  }

  /** State of a listing at the time of the last block, with the API's state numbers. */
  stateOf(kind: ModelKind, listing: ModelListing): number {
    if (kind === 'sales') {
      if (listing.state !== 1) return listing.state
      const offer = this.#offers.get(listing.offer!)!
      return offer.isOpen &&
        this.#isHeld(offer.given, offer.sender) &&
        this.#isHeld(offer.wanted, offer.recipient)
        ? 1
        : 4
    }
    if (kind === 'auctions') {
      if (listing.state !== 1 || listing.end! * 1000 > this.time) return listing.state
      return listing.buyer === null ? 4 : 3
    }
    if (kind === 'buyoffers' && listing.state === 0)
      return this.#isHeld(listing.assets, listing.seller) ? 0 : 4
    return listing.state
  }

  /** Price of a listing in its settlement token; null if the oracle has no median yet. */
  priceOf(listing: ModelListing): bigint | null {
    if (listing.paid !== undefined) return listing.paid
    if (listing.symbol === listing.settlement) return listing.amount
    return this.median === 0n ? null : dollarsInWax(listing.amount, this.median)
  }

  #isHeld(ids: readonly bigint[], owner: string | null): boolean {
    return ids.every((id) => this.assets.get(id)?.owner === owner)
  }
}

/**
 * Converts US cents to the smallest unit of a token with eight decimals. `median` is the token's price in dollars, with
 * four decimals.
 */
function dollarsInWax(cents: bigint, median: bigint): bigint {
  return (cents * 10n ** 10n) / median
}

/** Listing type and change of each action. A number is the resulting state of the listing. */
const verbs: Readonly<Record<string, readonly [ModelKind, string]>> = {
  lognewsale: ['sales', 'new'],
  logsalestart: ['sales', 'start'],
  cancelsale: ['sales', '2'],
  purchasesale: ['sales', 'buy'],
  lognewauct: ['auctions', 'new'],
  logauctstart: ['auctions', 'start'],
  cancelauct: ['auctions', '2'],
  auctionbid: ['auctions', 'bid'],
  auctclaimbuy: ['auctions', 'claim by buyer'],
  auctclaimsel: ['auctions', 'claim by seller'],
  lognewbuyo: ['buyoffers', 'new'],
  acceptbuyo: ['buyoffers', 'accept'],
  declinebuyo: ['buyoffers', '1'],
  cancelbuyo: ['buyoffers', '2'],
  lognewtbuyo: ['template_buyoffers', 'new'],
  fulfilltbuyo: ['template_buyoffers', 'fulfil'],
  canceltbuyo: ['template_buyoffers', '1'],
}
