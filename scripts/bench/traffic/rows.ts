import type pg from 'pg'
import type { Random } from '../generated/choice.ts'

/** Name of a condition that a randomly picked asset has to meet. */
export type AssetCondition = keyof typeof conditions

const conditions = {
  any: 'true',
  owned: 'a.owner IS NOT NULL',
  burned: 'a.owner IS NULL AND a.burned_by_account IS NOT NULL',
  templated: 'a.owner IS NOT NULL AND a.template_id IS NOT NULL',
  named: `a.owner IS NOT NULL AND t.immutable_data ? 'name'`,
  leveled: `a.owner IS NOT NULL AND a.mutable_data ?& ARRAY['level', 'xp']`,
  serial: `a.owner IS NOT NULL AND a.immutable_data ? 'serial'`,
} as const

/** Values of a random asset. 64-bit numbers and times (ms since 1970) are decimal text; absent values are empty text. */
export interface AssetRow {
  readonly asset: string
  readonly owner: string
  readonly receiver: string
  readonly minter: string
  readonly burner: string
  readonly collection: string
  readonly schema: string
  readonly template: string
  readonly mint: number
  readonly updated: string
  readonly transferred: string
  /** Attribute `level` of the mutable data. */
  readonly level: string
  readonly xp: string
  /** Attribute `serial` of the immutable data. */
  readonly serial: string
  /** Attribute `rarity` of the template's immutable data. */
  readonly rarity: string
  readonly power: string
  /** Second word of the template's name. */
  readonly word: string
}

/** Listing tables, each with its key, seller and price columns. */
export type ListingTable = 'sales' | 'auctions' | 'buyoffers' | 'template_buyoffers'

/** A listing and its first asset; for a template buy offer, any asset of the template. */
export interface ListingRow {
  readonly id: string
  readonly seller: string
  readonly buyer: string
  readonly collection: string
  readonly template: string
  readonly updated: string
  readonly asset: AssetRow
}

/** Values of a randomly picked transfer, as texts for the parameters of requests. */
export interface TransferRow {
  readonly sender: string
  readonly recipient: string
  readonly collection: string
  readonly asset: string
  readonly time: string
}

/** Values of a randomly picked offer, as texts for the parameters of requests. */
export interface OfferRow {
  readonly id: string
  readonly sender: string
  readonly recipient: string
  readonly collection: string
  readonly asset: string
}

const text = (expression: string, name: string): string => `coalesce(${expression}::text, '') AS ${name}`

const ASSET = [
  text('a.asset_id', 'asset'),
  text('a.owner', 'owner'),
  text('a.initial_receiver', 'receiver'),
  text('a.minter', 'minter'),
  text('a.burned_by_account', 'burner'),
  text('a.collection_name', 'collection'),
  text('a.schema_name', 'schema'),
  text('a.template_id', 'template'),
  'coalesce(a.template_mint, 0)::integer AS mint',
  text('a.updated_at_time', 'updated'),
  text('a.transferred_at_time', 'transferred'),
  text(`a.mutable_data ->> 'level'`, 'level'),
  text(`a.mutable_data ->> 'xp'`, 'xp'),
  text(`a.immutable_data ->> 'serial'`, 'serial'),
  text(`t.immutable_data ->> 'rarity'`, 'rarity'),
  text(`t.immutable_data ->> 'power'`, 'power'),
  text(`split_part(t.immutable_data ->> 'name', ' ', 2)`, 'word'),
].join(', ')
const ASSETS = 'assets.assets a LEFT JOIN assets.templates t USING (template_id)'

const listingKeys = {
  sales: 'sale_id',
  auctions: 'auction_id',
  buyoffers: 'buyoffer_id',
  template_buyoffers: 'buyoffer_id',
} as const
/** Number of accounts in the list of largest owners. */
const MANY_ACCOUNTS = 40

interface Range {
  readonly least: number
  readonly most: number
}

/**
 * Picks random rows: assets, listings, transfers and offers. Frequent values are therefore picked often. The same
 * database and seed give the same rows.
 */
export class TrafficRows {
  readonly #client: pg.ClientBase
  readonly #random: Random
  readonly #ranges = new Map<string, Range>()
  #collections: readonly string[] = []
  #accounts: readonly string[] = []

  private constructor(client: pg.ClientBase, random: Random) {
    this.#client = client
    this.#random = random
  }

  static async open(client: pg.ClientBase, random: Random): Promise<TrafficRows> {
    const rows = new TrafficRows(client, random)
    rows.#collections = await rows.#names(
      'SELECT collection_name AS name FROM assets.collection_counts ORDER BY 1',
    )
    rows.#accounts = await rows.#names(
      `SELECT account AS name FROM assets.accounts ORDER BY assets DESC, account LIMIT ${MANY_ACCOUNTS}`,
    )
    return rows
  }

  asset(condition: AssetCondition): Promise<AssetRow> {
    return this.#pick('assets.assets', 'asset_id', (from) => ({
      text: `SELECT ${ASSET} FROM ${ASSETS} WHERE a.asset_id >= $1 AND ${conditions[condition]} ORDER BY a.asset_id LIMIT 1`,
      values: [from],
    }))
  }

  /**
   * Ids of an asset and of the following assets.
   * @param count limit of ids.
   */
  async assetsFrom(asset: string, count: number): Promise<readonly string[]> {
    const { rows } = await this.#client.query<{ id: string }>(
      'SELECT asset_id::text AS id FROM assets.assets WHERE asset_id >= $1 ORDER BY asset_id LIMIT $2',
      [asset, count],
    )
    return rows.map(({ id }) => id)
  }

  async listing(table: ListingTable, states: readonly number[]): Promise<ListingRow> {
    const key = listingKeys[table]
    const isOfTemplate = table === 'template_buyoffers'
    const picked = await this.#pick<
      AssetRow & { id: string; buyer: string; seller: string; changed: string }
    >(`market.${table}`, key, (from) => ({
      text: `SELECT ${ASSET}, l.${key}::text AS id, ${text('l.seller', 'seller')}, ${text('l.buyer', 'buyer')},
            l.updated_at_time::text AS changed
          FROM market.${table} l CROSS JOIN LATERAL (SELECT a.* FROM assets.assets a
              WHERE ${isOfTemplate ? 'a.template_id = l.template_id LIMIT 1' : 'a.asset_id = l.asset_ids[1]'}) a
            JOIN assets.templates t ON t.template_id = a.template_id
          WHERE l.${key} >= $1 AND l.state = ANY($2) ${table === 'sales' ? 'AND l.offer_id IS NOT NULL' : ''}
          ORDER BY l.${key} LIMIT 1`,
      values: [from, states],
    }))
    const { id, seller, buyer, changed, ...asset } = picked
    const { collection, template } = asset
    return { id, seller, buyer, collection, template, updated: changed, asset }
  }

  transfer(): Promise<TransferRow> {
    return this.#pick('assets.transfers', 'transfer_id', (from) => ({
      text: `SELECT t.sender, t.recipient, t.collection_name AS collection, t.asset_ids[1]::text AS asset,
          coalesce((SELECT b.block_time FROM assets.blocks b WHERE b.first_seq <= t.transfer_id ORDER BY b.first_seq DESC LIMIT 1), 0)::text AS time
        FROM (SELECT * FROM assets.transfers WHERE transfer_id >= $1 ORDER BY transfer_id LIMIT 1) t`,
      values: [from],
    }))
  }

  /**
   * Picks an offer.
   * @param states allowed states of the offer.
   */
  offer(states: readonly number[]): Promise<OfferRow> {
    return this.#pick('assets.offers', 'offer_id', (from) => ({
      text: `SELECT offer_id::text AS id, sender, recipient, collection_names[1] AS collection, sender_asset_ids[1]::text AS asset
        FROM assets.offers WHERE offer_id >= $1 AND state = ANY($2) ORDER BY offer_id LIMIT 1`,
      values: [from, states],
    }))
  }

  /** Picks collections for a list filter, independent of their size. */
  someCollections(count: number): readonly string[] {
    return Array.from({ length: count }, () => this.#random.pick(this.#collections))
  }

  /** Account number `index` of the largest owners of assets; after the last account the list begins again. */
  bigOwner(index: number): string {
    return this.#accounts[index % this.#accounts.length] ?? ''
  }

  /** Picks the next matching row from a random key on; tries another random key if no row follows. */
  async #pick<Row>(
    table: string,
    key: string,
    statement: (from: string) => { text: string; values: unknown[] },
  ): Promise<Row> {
    const { least, most } = await this.#range(table, key)
    for (let tries = 0; tries < 20; tries++) {
      const from = least + Math.floor(this.#random.fraction() * (most - least + 1))
      const { rows } = await this.#client.query(statement(String(from)))
      if (rows[0] !== undefined) return rows[0] as Row
    }
    throw new Error(`${table} has no row that matches the condition`)
  }

  async #range(table: string, key: string): Promise<Range> {
    const known = this.#ranges.get(table)
    if (known) return known
    const { rows } = await this.#client.query<{ least: string | null; most: string | null }>(
      `SELECT min(${key})::text AS least, max(${key})::text AS most FROM ${table}`,
    )
    const range = { least: Number(rows[0]?.least ?? 0), most: Number(rows[0]?.most ?? 0) }
    this.#ranges.set(table, range)
    return range
  }

  async #names(statement: string): Promise<string[]> {
    const { rows } = await this.#client.query<{ name: string }>(statement)
    return rows.map(({ name }) => name)
  }
}
