import type { Endpoint } from '../../../endpoint/index.ts'
import { endpoint, shape } from '../../../endpoint/index.ts'
import type { RecordKind } from '../../../records/index.ts'
import type { ListingKey, ListingKind } from '../lists/listing-table.ts'
import { listingParameters } from '../parameters.ts'
import type { MarketSetup } from '../setup.ts'
import { countEndpointOf } from '../../nft/endpoints/index.ts'
import { oneListing, runListings } from './list.ts'

/** One kind of listing. */
interface Listings {
  readonly kind: ListingKind
  readonly key: ListingKey
  /** Group of the endpoints: the last part of the path of the list. */
  readonly tag: string
  readonly summary: string
  /** One of them, for example `buy offer`. */
  readonly one: string
  readonly missing: string
  readonly states: string
  readonly note?: string
  readonly limit: number
  /** Whether it is of one asset at most. */
  readonly isSingle?: boolean
  readonly records: RecordKind
}

/** The lists of auctions, buy offers and template buy offers, their counts, and one of each. */
export function listingEndpoints({ limits, records, ...setup }: MarketSetup): Endpoint[] {
  const kinds: readonly Listings[] = [
    {
      kind: 'auction',
      key: 'auction_id',
      tag: 'auctions',
      summary: 'Auctions',
      one: 'auction',
      missing: 'Auction not found',
      states: '0 waiting for the assets, 1 running, 2 cancelled, 3 sold, 4 ended without a bid',
      limit: limits.auctions,
      records: records.auction,
    },
    {
      kind: 'buyoffer',
      key: 'buyoffer_id',
      tag: 'buyoffers',
      summary: 'Offers to buy assets from their owner',
      one: 'buy offer',
      missing: 'Buyoffer not found',
      states: '0 pending, 1 declined, 2 cancelled, 3 accepted, 4 invalid',
      note: 'Of an invalid one, the recipient does not own an asset',
      limit: limits.buyoffers,
      records: records.buyoffer,
    },
    {
      kind: 'template_buyoffer',
      key: 'buyoffer_id',
      tag: 'template_buyoffers',
      summary: 'Offers to buy any asset of a template',
      one: 'template buy offer',
      missing: 'Buyoffer not found',
      states: '0 listed, 1 cancelled, 2 sold',
      limit: limits.buyoffers,
      isSingle: true,
      records: records.templateBuyoffer,
    },
  ]
  return kinds.flatMap(({ kind, key, tag, summary, ...of }) => {
    const runs = runListings({ limits, records, ...setup }, { kind }, of.records)
    const list = endpoint({
      path: `/v1/${tag}`,
      tag,
      summary,
      parameters: listingParameters(of.limit, key, of, of.isSingle),
      attributes: ['data', 'template_data', 'immutable_data', 'mutable_data'],
      record: shape.list(of.records.schema),
      run: runs.page,
    })
    const missing = { status: 416, message: of.missing }
    const one = oneListing({ key, tag, one: of.one, record: of.records.schema, kind: of.records, missing })
    return [list, countEndpointOf(list, runs.count), one]
  })
}
