import type { Aggregate, Completion, Derivation, RowSink } from '../../rows/operations.ts'
import type { BlockInfo } from '../handler.ts'
import type { LogNewOffer, OfferState } from './contract.ts'
import { tables } from './tables.ts'
import type { OfferRow } from './tables.ts'

/** Offer states as the API returns them. */
export const offerStates = { pending: 0, invalid: 1, accepted: 3, declined: 4, cancelled: 5 } as const

/**
 * Derives offer validity. An open offer is invalid while the sender or the recipient does not own one of the assets
 * that the offer takes from that account. The offer becomes valid again when the asset returns. Assets that the
 * database does not know are ignored.
 */
export const offerValidity: Derivation<{ offer_id: bigint; state: number }> = {
  kind: 'derivation',
  name: 'offer validity',
  keys: 'bigint',
  sources: [],
  statement: `
    SELECT o.offer_id, v.state
    FROM (SELECT DISTINCT offer_id FROM assets.open_offer_assets WHERE asset_id = ANY($1::bigint[])) touched
    JOIN assets.offers o ON o.offer_id = touched.offer_id AND o.state IN (${offerStates.pending}, ${offerStates.invalid})
    CROSS JOIN LATERAL (
      SELECT CASE WHEN EXISTS (
        SELECT 1 FROM unnest(o.sender_asset_ids) g(id) JOIN assets.assets a ON a.asset_id = g.id WHERE a.owner IS DISTINCT FROM o.sender
        UNION ALL
        SELECT 1 FROM unnest(o.recipient_asset_ids) g(id) JOIN assets.assets a ON a.asset_id = g.id WHERE a.owner IS DISTINCT FROM o.recipient
      ) THEN ${offerStates.invalid} ELSE ${offerStates.pending} END AS state
    ) v
    WHERE o.state <> v.state ORDER BY o.offer_id`,
  apply: (rows, sink) => {
    for (const { offer_id, state } of rows) sink.patch(tables.offers, { offer_id }, { state })
  },
}

/**
 * Fills in the collections of an offer's assets when the offer is created. An asset never changes its collection.
 * Assets that the database does not know are ignored.
 */
export const offerContents: Completion<OfferRow, { key: bigint; collection_name: string }> = {
  kind: 'completion',
  name: 'collections of offers',
  table: tables.offers,
  keysOf: (offer) => [...offer.sender_asset_ids, ...offer.recipient_asset_ids],
  statement: 'SELECT asset_id AS key, collection_name FROM assets.assets WHERE asset_id = ANY($1::bigint[])',
  complete(offer, assets) {
    const found = [...offer.sender_asset_ids, ...offer.recipient_asset_ids].flatMap(
      (id) => assets.get(id)?.collection_name ?? [],
    )
    offer.collection_names = [...new Set(found)].sort()
  },
}

/** Counts offers by state. */
export const offerCounts: Aggregate<OfferRow> = {
  kind: 'aggregate',
  name: 'offers by state',
  table: tables.offers,
  columns: ['state'],
  apply(before, after, sink) {
    if (before?.state === after?.state) return
    if (before) sink.add(tables.offerCounts, { state: before.state, offers: -1n })
    if (after) sink.add(tables.offerCounts, { state: after.state, offers: 1n })
  },
}

/** Collects the effects of a block's actions and rows on offers. */
export class OfferChanges {
  /** Asset ids of the offers that this block created. */
  readonly #created = new Map<bigint, readonly bigint[]>()
  /** Offers that this block closed and whose asset ids are not known yet. */
  readonly #closed = new Set<bigint>()
  readonly #block: BlockInfo
  readonly #sink: RowSink

  constructor(block: BlockInfo, sink: RowSink) {
    this.#block = block
    this.#sink = sink
  }

  create(log: LogNewOffer): void {
    const { num, timeMs } = this.#block
    this.#sink.insert(tables.offers, {
      offer_id: log.offer_id,
      created_at_time: timeMs,
      updated_at_time: timeMs,
      created_at_block: num,
      updated_at_block: num,
      state: offerStates.pending,
      sender: log.sender,
      recipient: log.recipient,
      ram_payer: null,
      memo: log.memo,
      sender_asset_ids: log.sender_asset_ids,
      recipient_asset_ids: log.recipient_asset_ids,
      collection_names: [],
    })
    const assets = [...log.sender_asset_ids, ...log.recipient_asset_ids]
    this.#created.set(log.offer_id, assets)
    for (const assetId of assets)
      this.#sink.upsert(tables.openOfferAssets, { asset_id: assetId, offer_id: log.offer_id })
  }

  close(offerId: bigint, state: number): void {
    this.#sink.patch(
      tables.offers,
      { offer_id: offerId },
      { state, updated_at_time: this.#block.timeMs, updated_at_block: this.#block.num },
    )
    const assets = this.#created.get(offerId)
    if (assets) this.#release(offerId, assets)
    else this.#closed.add(offerId)
  }

  /** Takes a contract row of an offer. The removed row of a closed offer contains the offer's asset ids. */
  row(offer: OfferState, present: boolean): void {
    if (present) {
      this.#sink.patch(tables.offers, { offer_id: offer.offer_id }, { ram_payer: offer.ram_payer })
    } else if (this.#closed.has(offer.offer_id)) {
      this.#release(offer.offer_id, [...offer.sender_asset_ids, ...offer.recipient_asset_ids])
    }
  }

  #release(offerId: bigint, assets: readonly bigint[]): void {
    for (const assetId of assets)
      this.#sink.remove(tables.openOfferAssets, { asset_id: assetId, offer_id: offerId })
  }
}
