import type { Endpoint, Parameter } from '../../../endpoint/index.ts'
import { shape } from '../../../endpoint/index.ts'
import { boundaries, counting, paging, sorting } from '../../parameter-groups/index.ts'
import { assetNumbers, listingFilter, stateParameter, templateLists } from '../parameters.ts'
import { auctionRecord } from '../records/index.ts'
import type { MarketSetup } from '../setup.ts'
import { countTwin, runListings, runOne } from './list.ts'

const SORTS = [
  'created',
  'updated',
  'ending',
  'auction_id',
  'price',
  'template_mint',
  'name',
  'effective_mint',
]
const NOT_FOUND = { status: 416, message: 'Auction not found' } as const

const ownParameters: readonly Parameter[] = [
  { name: 'bidder', type: 'name', list: 'named', description: 'With a bid of one of these.' },
  {
    name: 'participant',
    type: 'name',
    description:
      'In which this account has something to do: running with its asset or bid, or ended and not claimed.',
  },
  { name: 'hide_empty_auctions', type: 'bool', description: 'true: only with a bid.' },
]

/** `/v1/auctions`, its count, and one auction. */
export function auctionEndpoints(setup: MarketSetup): Endpoint[] {
  const runs = runListings(setup, { kind: 'auction' }, setup.records.auction)
  const list: Endpoint = {
    path: '/v1/auctions',
    tag: 'auctions',
    summary: 'Auctions',
    parameters: [
      ...paging(setup.limits.auctions),
      ...sorting(SORTS),
      counting,
      stateParameter('0 waiting for the assets, 1 running, 2 cancelled, 3 sold, 4 ended without a bid'),
      ...ownParameters,
      ...listingFilter,
      ...assetNumbers,
      ...templateLists,
      ...boundaries({ name: 'auction_id', type: 'id' }),
    ],
    attributes: ['data', 'template_data', 'immutable_data', 'mutable_data'],
    record: shape.list(auctionRecord),
    run: runs.page,
  }
  const one: Endpoint = {
    path: '/v1/auctions/:auction_id',
    tag: 'auctions',
    summary: 'One auction',
    parameters: [{ name: 'auction_id', in: 'path', type: 'id', description: 'Auction.' }],
    record: auctionRecord,
    failures: [NOT_FOUND],
    cache: 'path',
    run: runOne('auction_id', setup.records.auction, NOT_FOUND),
  }
  return [list, countTwin(list, runs.count), one]
}
