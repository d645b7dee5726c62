/** Rows of the listings of a generated database. */
import type { DatabaseAddress } from '../../../services/core/database/index.ts'
import { assetId } from './assets.ts'
import type { GeneratedAssets } from './assets.ts'
import type { Catalogue } from './catalogue.ts'
import { blockTime } from './chain-clock.ts'
import type { Random } from './choice.ts'
import { CopySink } from './copy-sink.ts'
import type { Field } from './copy-sink.ts'
import { ListedAssets } from './listed-assets.ts'
import { accountName } from './names.ts'
import type { GeneratedSizes } from './sizes.ts'

/** Inputs of the generator of sales, auctions and buy offers. */
export interface ListingSource {
  readonly sizes: GeneratedSizes
  readonly lastBlock: number
  readonly catalogue: Catalogue
  readonly assets: GeneratedAssets
  readonly random: Random
}

const SOMEBODY = 'somebody.wam'
/**
 * Oracle median at which sales in another currency settle, and the power of ten that multiplies a price before the
 * division by the median.
 */
const MEDIAN = 480
const MEDIAN_FACTOR = 10_000_000_000n
/** End of running auctions, seconds since 1970: after all generated blocks. */
const FAR_SECOND = 4_102_444_800
const BUNDLE_SHARE = 0.02

const columns = {
  sales: [
    'sale_id, created_at_time, updated_at_time, listing_price, price, offer_id, intended_median, collection_fee, created_at_block, updated_at_block',
    'template_id, min_mint, max_mint, listing_precision, settlement_precision, state, asset_count, seller, buyer, listing_symbol, settlement_symbol',
    'collection_name, schema_name, maker_marketplace, taker_marketplace, name, asset_names, asset_ids, template_ids, schema_names, traits',
  ],
  auctions: [
    'auction_id, created_at_time, updated_at_time, end_time, starting_price, price, collection_fee, created_at_block, updated_at_block',
    'template_id, min_mint, max_mint, state, asset_count, claimed_by_seller, claimed_by_buyer, seller, buyer, token_symbol',
    'collection_name, schema_name, maker_marketplace, taker_marketplace, name, asset_names, asset_ids, template_ids, schema_names, traits',
  ],
  buyoffers: [
    'buyoffer_id, created_at_time, updated_at_time, price, collection_fee, created_at_block, updated_at_block, template_id, min_mint, max_mint',
    'state, asset_count, seller, buyer, token_symbol, collection_name, schema_name, maker_marketplace, taker_marketplace, memo, decline_memo',
    'name, asset_names, asset_ids, template_ids, schema_names, traits',
  ],
  template_buyoffers: [
    'buyoffer_id, created_at_time, updated_at_time, price, asset_id, collection_fee, created_at_block, updated_at_block, template_id, mint',
    'state, seller, buyer, token_symbol, collection_name, schema_name, maker_marketplace, taker_marketplace, name, traits',
  ],
} as const

type ListingTable = keyof typeof columns

/** Writes listings of random assets. */
export class ListingWriter {
  readonly #address: DatabaseAddress
  readonly #source: ListingSource
  readonly #random: Random
  readonly #listed: ListedAssets

  constructor(address: DatabaseAddress, source: ListingSource) {
    this.#address = address
    this.#source = source
    this.#random = source.random
    this.#listed = new ListedAssets(source.catalogue, source.assets)
  }

  sales(): Promise<void> {
    return this.#write('sales', this.#source.sizes.sales, (id) => this.#sale(id))
  }

  auctions(): Promise<void> {
    return this.#write('auctions', this.#source.sizes.auctions, (id) => this.#auction(id))
  }

  buyoffers(): Promise<void> {
    return this.#write('buyoffers', this.#source.sizes.buyoffers, (id) => this.#buyoffer(id))
  }

  templateBuyoffers(): Promise<void> {
    const { templateBuyoffers } = this.#source.sizes
    return this.#write('template_buyoffers', templateBuyoffers, (id) => this.#templateBuyoffer(id))
  }

  /** @param row returns the row of the listing with an id, or undefined if no listing has this id. */
  async #write(
    table: ListingTable,
    count: number,
    row: (id: number) => readonly Field[] | undefined,
  ): Promise<void> {
    const sink = await CopySink.open(this.#address, `market.${table}`, columns[table])
    for (let id = 1; id <= count; id++) {
      const fields = row(id)
      if (fields && sink.add(fields)) await sink.flush()
    }
    await sink.close()
  }

  /** Most sales are sold, a sixth is listed, some are cancelled or invalid; a tenth is priced in another currency. */
  #sale(id: number): readonly Field[] {
    const { sizes, lastBlock } = this.#source
    const random = this.#random
    const at = this.#asset()
    const owner = this.#owner(at)
    const block = this.#blockOf(id, sizes.sales)
    const isForeign = random.chance(0.1)
    // 45 % of the newest fifth of the sales are still listed, and 8 % of the older sales.
    const isListed = random.chance(id > sizes.sales * 0.8 ? 0.45 : 0.08) && owner !== null
    const state = isListed ? 1 : this.#of([0.78, 3], [0.93, 2], [1, 4])
    const isSold = state === 3
    const symbol = this.#symbol()
    const amount = isForeign ? Math.floor(this.#price() / 10_000) + 1 : this.#price()
    const later = state === 2 || isSold ? Math.floor(10 ** (6 * random.fraction())) : 0
    const updated = Math.min(lastBlock, block + later)
    const settled = isSold ? ((BigInt(amount) * MEDIAN_FACTOR) / BigInt(MEDIAN)).toString() : null
    const listed = this.#listed.columns(at, random.chance(BUNDLE_SHARE))
    return [
      ...[id, blockTime(block), blockTime(updated), amount, isForeign ? settled : amount],
      state === 2 && id % 50 === 0 ? null : id,
      isSold ? (isForeign ? MEDIAN : 0) : null,
      ...[this.#fee(at), block, updated, listed.templateId, listed.minMint, listed.maxMint],
      ...[isForeign ? 2 : 8, 8, state, listed.count],
      state === 1 ? owner : this.#receiver(at),
      isSold ? this.#somebody() : null,
      ...[isForeign ? 'USD' : symbol, isForeign ? 'WAX' : symbol, this.#collection(at), listed.schemaName],
      ...[this.#marketplace(), isSold ? this.#marketplace() : null],
      ...[listed.name, listed.names, listed.ids, listed.templateIds, listed.schemaNames, listed.traits],
    ]
  }

  /** Most auctions have ended, some without a bid; one in twenty is cancelled; some run far into the future. */
  #auction(id: number): readonly Field[] {
    const { sizes, lastBlock } = this.#source
    const random = this.#random
    const at = this.#asset()
    const block = this.#blockOf(id, sizes.auctions)
    const updated = Math.min(lastBlock, block + 5_000)
    const state = this.#of([0.05, 2], [0.06, 0], [1, 1])
    const bids = random.below(6)
    const hasBuyer = bids > 0 && state === 1
    const amount = this.#price()
    const end = id > sizes.auctions * 0.96 ? FAR_SECOND + id : Math.floor(blockTime(block) / 1_000) + 86_400
    const listed = this.#listed.columns(at, random.chance(BUNDLE_SHARE))
    return [
      ...[id, blockTime(block), blockTime(updated), end, amount, amount + Math.floor((amount * bids) / 10)],
      ...[
        this.#fee(at),
        block,
        updated,
        listed.templateId,
        listed.minMint,
        listed.maxMint,
        state,
        listed.count,
      ],
      ...[hasBuyer && random.chance(0.8), hasBuyer && random.chance(0.9), this.#receiver(at)],
      ...[hasBuyer ? this.#somebody() : null, this.#symbol(), this.#collection(at), listed.schemaName],
      ...[this.#marketplace(), hasBuyer ? this.#marketplace() : null],
      ...[listed.name, listed.names, listed.ids, listed.templateIds, listed.schemaNames, listed.traits],
    ]
  }

  /** A third of the buy offers is pending, many are invalid because the asset has moved. */
  #buyoffer(id: number): readonly Field[] {
    const { sizes, lastBlock } = this.#source
    const random = this.#random
    const at = this.#asset()
    const owner = this.#owner(at)
    const block = this.#blockOf(id, sizes.buyoffers)
    const updated = Math.min(lastBlock, block + Math.floor(10 ** (5 * random.fraction())))
    const drawn = this.#of([0.3, 0], [0.4, 1], [0.6, 2], [0.8, 3], [1, 4])
    const state = drawn === 0 && owner === null ? 1 : drawn
    const listed = this.#listed.columns(at, random.chance(BUNDLE_SHARE))
    return [
      ...[id, blockTime(block), blockTime(updated), this.#price(), this.#fee(at), block, updated],
      ...[listed.templateId, listed.minMint, listed.maxMint, state, listed.count],
      ...[state === 0 ? owner : this.#receiver(at), this.#somebody(), this.#symbol(), this.#collection(at)],
      ...[listed.schemaName, this.#marketplace(), state === 3 ? this.#marketplace() : null],
      ...[`offer ${id % 100}`, state === 1 ? 'no' : null],
      ...[listed.name, listed.names, listed.ids, listed.templateIds, listed.schemaNames, listed.traits],
    ]
  }

  #templateBuyoffer(id: number): readonly Field[] | undefined {
    const { sizes, lastBlock, assets, catalogue } = this.#source
    const at = this.#asset()
    const template = catalogue.templates[assets.template[at]! - 1]
    if (!template) return undefined
    const block = this.#blockOf(id, sizes.templateBuyoffers)
    const updated = Math.min(lastBlock, block + 900)
    const state = this.#of([0.4, 0], [0.6, 1], [1, 2])
    const isSold = state === 2
    return [
      ...[id, blockTime(block), blockTime(updated), this.#price(), isSold ? assetId(at) : null],
      ...[this.#fee(at), block, updated, template.id, isSold ? assets.mint[at]! : null, state],
      ...[isSold ? this.#receiver(at) : null, this.#somebody(), this.#symbol(), this.#collection(at)],
      ...[template.schema.name, this.#marketplace(), isSold ? '' : null, template.name ?? null],
      isSold ? this.#listed.traits(at) : '{}',
    ]
  }

  /** Block of a listing: listings are spread evenly from the first block to the last. */
  #blockOf(id: number, count: number): number {
    return Math.max(2, Math.floor((id * (this.#source.lastBlock - 10)) / count))
  }

  /** Position of a random asset. */
  #asset(): number {
    return this.#random.below(this.#source.assets.count)
  }

  #owner(at: number): string | null {
    const { assets } = this.#source
    return assets.isBurned(at) ? null : accountName(assets.owner[at]!)
  }

  /** Owner of a random asset. */
  #somebody(): string {
    return this.#owner(this.#asset()) ?? SOMEBODY
  }

  #receiver(at: number): string {
    return accountName(this.#source.assets.receiver[at]!)
  }

  #collection(at: number): string {
    return this.#source.catalogue.collections[this.#source.assets.collection[at]!]!.name
  }

  #fee(at: number): number {
    return this.#source.catalogue.collections[this.#source.assets.collection[at]!]!.fee
  }

  #price(): number {
    return 100_000 + Math.floor(10 ** (5 + 6 * this.#random.fraction() * this.#random.fraction()))
  }

  #symbol(): string {
    return this.#of([0.97, 'WAX'], [0.9995, 'KARMA'], [1, 'RARE'])
  }

  #marketplace(): string {
    return this.#of(
      [0.55, ''],
      [0.85, 'market.big'],
      [0.99, 'market.two'],
      [0.999, 'market.three'],
      [1, 'market.tiny'],
    )
  }

  /** Draws one of the values. `limit` is the probability that this value or an earlier value of the list is drawn. */
  #of<T>(...values: readonly (readonly [limit: number, value: T])[]): T {
    const dice = this.#random.fraction()
    return values.find(([limit]) => dice < limit)![1]
  }
}
