import { id, inPath } from '../../../../core/parameters/index.ts'
import type { Endpoint } from '../../../endpoint/index.ts'
import { endpoint, shape } from '../../../endpoint/index.ts'
import { offerParameters } from '../parameters.ts'
import type { OfferValues } from '../parameters.ts'
import { offerList } from '../lists/offer-list.ts'
import { countOffersFromCounters } from '../aggregates/trade-counters.ts'
import type { AssetsSetup } from '../setup.ts'
import type { ListOfRecords } from '../../nft/endpoints/index.ts'
import { countEndpointOf, oneJson, runCount, runList } from '../../nft/endpoints/index.ts'

const notFound = { status: 416, message: 'Offer not found' } as const

/** Endpoints of offers: list, count, and one offer. */
export function offerEndpoints(setup: AssetsSetup): Endpoint[] {
  const record = setup.records.offer.schema
  const records: ListOfRecords<OfferValues> = {
    lists: setup.lists,
    list: ({ session, values }) => offerList(setup.lists, session, values),
    kind: setup.records.offer,
    counted: countOffersFromCounters,
  }
  const list = endpoint({
    path: '/v1/offers',
    tag: 'offers',
    summary: 'Offers',
    parameters: offerParameters(setup.limits.offers),
    record: shape.list(record),
    run: runList(records),
  })
  const one = endpoint({
    path: '/v1/offers/:offer_id',
    tag: 'offers',
    summary: 'One offer',
    parameters: { offer_id: inPath(id('Id of the offer.')) },
    record,
    failures: [notFound],
    cache: 'path',
    run: ({ session, values }) => oneJson(session, String(values.offer_id), setup.records.offer, notFound),
  })
  return [list, countEndpointOf(list, runCount(records)), one]
}
