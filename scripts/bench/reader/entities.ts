/** Randomly picked rows of a generated database, as contract rows of a chain that continues the database. */
import type pg from 'pg'
import { formatAsset } from '../../../services/core/antelope/index.ts'
import { encodeAttributes } from '../../../services/core/antelope/attributes/index.ts'
import type { ContinuedChain, ContinuedPosition } from '../../lab/index.ts'
import type { Random } from '../generated/choice.ts'

export const ASSETS = 'atomicassets'
export const MARKET = 'atomicmarket'

/** Schema format: names and types of attributes. */
type Format = readonly { readonly name: string; readonly type: string }[]
type Attributes = Readonly<Record<string, unknown>>

/** A live asset. Blocks of the chain concern an asset at most once, so the row is as in the database. */
export interface PickedAsset {
  readonly asset_id: bigint
  readonly owner: string
  readonly ram_payer: string
  readonly collection_name: string
  readonly schema_name: string
  readonly template_id: number | null
  readonly immutable_data: Attributes | null
  readonly mutable_data: Attributes | null
}

/** A listed sale of one asset, with the asset. */
export interface PickedSale extends PickedAsset {
  readonly sale_id: bigint
  readonly offer_id: bigint
  readonly price: bigint
  readonly collection_fee: number
  readonly maker_marketplace: string
}

/** A running auction of one asset. */
export interface PickedAuction {
  readonly auction_id: bigint
  readonly asset_id: bigint
  readonly seller: string
  readonly buyer: string | null
  readonly end_time: bigint
  readonly price: bigint
  readonly collection_name: string
  readonly collection_fee: number
  readonly maker_marketplace: string
}

interface Template {
  readonly template_id: number
  readonly collection_name: string
  readonly schema_name: string
  readonly transferable: boolean
  readonly burnable: boolean
  readonly max_supply: bigint
  readonly issued_supply: bigint
  readonly immutable_data: Attributes
}

interface Collection {
  readonly collection_name: string
  readonly author: string
  readonly allow_notify: boolean
  readonly authorized_accounts: readonly string[]
  readonly notify_accounts: readonly string[]
  readonly market_fee: number
}

/** Numbers of rows to pick. */
export interface WantedEntities {
  readonly assets: number
  readonly sales: number
  readonly auctions: number
}

/** Name of the reader to whose position the generator writes. */
export const GENERATED_READER = 'generated'
/** Number of blocks between the head and the last irreversible block of a chain with 21 producers. */
const LIB_LAG_BLOCKS = 330
/** Number of assets that one statement picks. */
const PICKED_AT_ONCE = 20_000
/** Pooled assets that are examined to find one with wanted properties. */
const MOST_TRIES = 200
/** Upper bound of the sequences that a block uses after its first sequence. */
const SEQUENCES_OF_BLOCK = 1_000_000n

const PICKED = `a.asset_id, a.owner, coalesce(a.ram_payer, a.owner) AS ram_payer, a.collection_name, a.schema_name,
  a.template_id, a.immutable_data, a.mutable_data`
const KNOW_POSITION = `
  INSERT INTO chain.reversible_blocks (reader, block_num, block_time, block_id)
    SELECT name, block_num, block_time, block_id FROM chain.readers WHERE name = $1 ON CONFLICT DO NOTHING`
const POSITION = `
  SELECT (SELECT chain_id FROM chain.identity) AS chain_id, block_time AS time,
    greatest((SELECT max(first_seq) FROM assets.blocks), (SELECT max(first_seq) FROM market.blocks),
      (SELECT max(seq) FROM market.bids), 0) AS sequence FROM chain.readers WHERE name = $1`
const COUNTERS = `
  SELECT (SELECT max(asset_id) FROM assets.assets) + 1 AS asset, (SELECT max(sale_id) FROM market.sales) + 1 AS sale,
    greatest((SELECT max(offer_id) FROM assets.offers), (SELECT max(offer_id) FROM market.sales)) + 1 AS offer,
    (SELECT max(auction_id) FROM market.auctions) + 1 AS auction,
    (SELECT max(buyoffer_id) FROM market.buyoffers) + 1 AS buyoffer`
const SALES = `
  SELECT s.sale_id, s.offer_id, s.price, s.collection_fee, s.maker_marketplace, ${PICKED} FROM market.sales s
    JOIN assets.offers o USING (offer_id) JOIN assets.assets a ON a.asset_id = s.asset_ids[1] AND a.owner = s.seller
  WHERE s.state = 1 AND s.asset_count = 1 AND s.listing_symbol = 'WAX' AND s.settlement_symbol = 'WAX'
    AND a.owner <> '${MARKET}' ORDER BY random() LIMIT $1`
const AUCTIONS = `
  SELECT auction_id, asset_ids[1] AS asset_id, seller, buyer, end_time, price, collection_name, collection_fee,
    maker_marketplace FROM market.auctions
  WHERE state = 1 AND asset_count = 1 AND token_symbol = 'WAX' AND end_time > $2 AND NOT claimed_by_seller
    AND NOT claimed_by_buyer ORDER BY random() LIMIT $1`

/** Entities that the blocks of the chain concern, read before the chain begins: later reads would fill the caches. */
export class Entities {
  readonly position: ContinuedPosition
  readonly sales: PickedSale[]
  readonly auctions: readonly PickedAuction[]
  readonly #assets: PickedAsset[]
  readonly #owners: readonly string[]
  readonly #catalogue: Awaited<ReturnType<typeof readCatalogue>>
  readonly #counters: Readonly<Record<'asset' | 'sale' | 'offer' | 'auction' | 'buyoffer', bigint>>
  readonly #used = new Set<bigint>()
  readonly #random: Random

  constructor(read: Awaited<ReturnType<typeof readAll>>, random: Random) {
    this.position = read.position
    this.sales = read.sales
    this.auctions = read.auctions
    this.#assets = read.assets
    this.#owners = read.assets.map(({ owner }) => owner)
    this.#catalogue = read.catalogue
    this.#counters = read.counters
    this.#random = random
  }

  static async read(database: pg.Client, wanted: WantedEntities, random: Random): Promise<Entities> {
    return new Entities(await readAll(database, wanted, random), random)
  }

  /** Adds the rows that many actions read: collections, schemas, templates, marketplaces; and raises the counters. */
  addTo(chain: ContinuedChain): void {
    const { collections, schemas, templates, marketplaces } = this.#catalogue
    for (const row of collections.values()) {
      const place = { account: ASSETS, table: 'collections', scope: ASSETS, key: row.collection_name }
      chain.put(place, row.author, { ...row, serialized_data: new Uint8Array() })
    }
    for (const [collection, formats] of schemas) {
      for (const [schema, format] of formats) {
        const place = { account: ASSETS, table: 'schemas', scope: collection, key: schema }
        chain.put(place, this.authorOf(collection), { schema_name: schema, format })
      }
    }
    for (const row of templates.values()) {
      const { collection_name: scope, template_id: id } = row
      chain.put({ account: ASSETS, table: 'templates', scope, key: BigInt(id) }, this.authorOf(scope), {
        ...row,
        max_supply: Number(row.max_supply),
        issued_supply: Number(row.issued_supply),
        immutable_serialized_data: encodeAttributes(this.formatOf(row), row.immutable_data),
      })
    }
    for (const { marketplace_name: name, creator } of marketplaces) {
      const place = { account: MARKET, table: 'marketplaces', scope: MARKET, key: name }
      chain.put(place, creator, { marketplace_name: name, creator })
    }
    const { asset, offer, ...listings } = this.#counters
    const config = { account: ASSETS, table: 'config', scope: ASSETS, key: 'config' }
    chain.patch(config, { asset_counter: asset, offer_counter: offer })
    for (const [name, value] of Object.entries(listings)) {
      const place = { account: MARKET, table: 'counters', scope: MARKET, key: name }
      chain.put(place, MARKET, { counter_name: name, counter_value: value })
      chain.patch(place, { counter_value: value })
    }
  }

  /** Adds the row of an asset to the chain. */
  put(chain: ContinuedChain, asset: PickedAsset): void {
    const format = this.formatOf(asset)
    const { asset_id: key, owner, ram_payer: payer } = asset
    chain.put({ account: ASSETS, table: 'assets', scope: owner, key }, payer, {
      ...asset,
      template_id: asset.template_id ?? -1,
      backed_tokens: [],
      immutable_serialized_data: encodeAttributes(format, asset.immutable_data ?? {}),
      mutable_serialized_data: encodeAttributes(format, asset.mutable_data ?? {}),
    })
  }

  /** Gives an account money on the market, unless it has some. */
  fund(chain: ContinuedChain, owner: string): void {
    const place = { account: MARKET, table: 'balances', scope: MARKET, key: owner }
    chain.put(place, MARKET, { owner, quantities: [wax(10n ** 18n)] })
  }

  /** Takes an asset that no block has concerned. @param isWanted condition on the asset and its template. */
  take(isWanted: (asset: PickedAsset, template: Template | undefined) => boolean): PickedAsset | undefined {
    for (let tries = 0; tries < MOST_TRIES && this.#assets.length > 0; tries++) {
      const at = this.#random.below(this.#assets.length)
      const asset = this.#assets[at]!
      if (!this.#used.has(asset.asset_id) && !isWanted(asset, this.templateOf(asset))) continue
      this.#assets[at] = this.#assets.at(-1)!
      this.#assets.pop()
      if (this.#use(asset)) return asset
    }
    return undefined
  }

  /** Takes a listed sale whose asset no block has concerned. */
  takeSale(): PickedSale | undefined {
    for (let sale = this.sales.pop(); sale !== undefined; sale = this.sales.pop()) {
      if (this.#use(sale)) return sale
    }
    return undefined
  }

  /** An account that owns assets; an account with more assets is drawn more often. */
  someone(but: string): string {
    for (;;) {
      const account = this.#random.pick(this.#owners)
      if (account !== but) return account
    }
  }

  templateOf({ template_id: id }: PickedAsset): Template | undefined {
    return id === null ? undefined : this.#catalogue.templates.get(id)
  }

  formatOf(of: { readonly collection_name: string; readonly schema_name: string }): Format {
    return this.#catalogue.schemas.get(of.collection_name)!.get(of.schema_name)!
  }

  authorOf(collection: string): string {
    return this.#catalogue.collections.get(collection)!.author
  }

  #use({ asset_id: id }: PickedAsset): boolean {
    if (this.#used.has(id)) return false
    this.#used.add(id)
    return true
  }
}

/** A quantity of the chain's token, from the smallest unit. */
export function wax(amount: bigint): string {
  return formatAsset({ amount, precision: 8, symbol: 'WAX' })
}

async function readAll(database: pg.Client, wanted: WantedEntities, random: Random) {
  const position = await readPosition(database)
  const { rows: counters } =
    await database.query<Record<'asset' | 'sale' | 'offer' | 'auction' | 'buyoffer', bigint>>(COUNTERS)
  const second = Math.floor(position.timeMs / 1_000)
  return {
    position,
    counters: counters[0]!,
    catalogue: await readCatalogue(database),
    assets: await pickAssets(database, wanted.assets, random),
    sales: (await database.query<PickedSale>(SALES, [wanted.sales])).rows,
    // Auctions that end in the next month may end while the chain runs.
    auctions: (await database.query<PickedAuction>(AUCTIONS, [wanted.auctions, second + 31 * 86_400])).rows,
  }
}

async function readPosition(database: pg.Client): Promise<ContinuedPosition> {
  // The generator writes a position, but not its block, whose id the reader sends to the node. An earlier run of this
  // benchmark has left reversible blocks.
  await database.query(KNOW_POSITION, [GENERATED_READER])
  const { rows: blocks } = await database.query<{ num: number; id: Buffer }>(
    'SELECT block_num AS num, block_id AS id FROM chain.reversible_blocks WHERE reader = $1 ORDER BY 1',
    [GENERATED_READER],
  )
  const { rows } = await database.query<{ chain_id: string; time: bigint; sequence: bigint }>(POSITION, [
    GENERATED_READER,
  ])
  const { chain_id: chainId, time, sequence } = rows[0]!
  return {
    ...{ chainId, blocks, timeMs: Number(time) },
    ...{ sequence: sequence + SEQUENCES_OF_BLOCK, libLagBlocks: LIB_LAG_BLOCKS },
  }
}

async function readCatalogue(database: pg.Client) {
  const { rows: collections } = await database.query<Collection>(
    'SELECT collection_name, author, allow_notify, authorized_accounts, notify_accounts, market_fee FROM assets.collections',
  )
  const { rows: templates } = await database.query<Template>(
    'SELECT * FROM assets.templates WHERE deleted_at_block IS NULL',
  )
  const { rows: marketplaces } = await database.query<{ marketplace_name: string; creator: string }>(
    'SELECT marketplace_name, creator FROM market.marketplaces',
  )
  const schemas = new Map<string, Map<string, Format>>()
  const { rows: formats } = await database.query<{
    collection_name: string
    schema_name: string
    format: Format
  }>('SELECT collection_name, schema_name, format FROM assets.schemas')
  for (const { collection_name: collection, schema_name: schema, format } of formats) {
    schemas.set(collection, (schemas.get(collection) ?? new Map<string, Format>()).set(schema, format))
  }
  return {
    collections: new Map(collections.map((row) => [row.collection_name, row])),
    templates: new Map(templates.map((row) => [row.template_id, row])),
    ...{ schemas, marketplaces },
  }
}

/** Picks live assets at random by their ids, which are consecutive. */
async function pickAssets(database: pg.Client, count: number, random: Random): Promise<PickedAsset[]> {
  const { rows: bounds } = await database.query<{ first: bigint; last: bigint }>(
    'SELECT min(asset_id) AS first, max(asset_id) AS last FROM assets.assets',
  )
  const { first, last } = bounds[0]!
  const size = Number(last - first) + 1
  const ids = new Set<number>()
  while (ids.size < Math.min(count, size * 0.9)) ids.add(random.below(size))
  const wanted = [...ids].map((at) => first + BigInt(at))
  const picked: PickedAsset[] = []
  for (let from = 0; from < wanted.length; from += PICKED_AT_ONCE) {
    const { rows } = await database.query<PickedAsset>(
      `SELECT ${PICKED} FROM assets.assets a WHERE a.asset_id = ANY ($1) AND a.owner IS NOT NULL AND a.owner <> '${MARKET}'`,
      [wanted.slice(from, from + PICKED_AT_ONCE)],
    )
    for (const row of rows) picked.push(row)
  }
  return picked
}
