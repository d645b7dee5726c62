import type { Endpoint } from '../../../endpoint/index.ts'
import { endpoint, shape } from '../../../endpoint/index.ts'
import { countEndpointOf } from '../../nft/endpoints/index.ts'
import type { ListingKind } from '../lists/listing-table.ts'
import { listingKinds, listingTables } from '../lists/listing-table.ts'
import { listingParameters } from '../parameters.ts'
import type { MarketSetup } from '../setup.ts'
import { oneListing, runListings, statesOf } from './list.ts'

/** The lists of every kind of listing but sales, their counts, and one of each. */
export function listingEndpoints(setup: MarketSetup): Endpoint[] {
  return listingKinds.filter((kind) => kind !== 'sale').flatMap((kind) => endpointsOf(setup, kind))
}

function endpointsOf(setup: MarketSetup, kind: ListingKind): Endpoint[] {
  const records = setup.records[kind]
  const { key, group, summary, limit, isSingle } = listingTables[kind]
  const runs = runListings(setup, { kind }, records)
  const list = endpoint({
    path: `/v1/${group}`,
    tag: group,
    summary,
    parameters: listingParameters(setup.limits[limit], key, { states: statesOf(records) }, isSingle),
    attributes: ['data', 'template_data', 'immutable_data', 'mutable_data'],
    record: shape.list(records.schema),
    run: runs.page,
  })
  return [list, countEndpointOf(list, runs.count), oneListing(kind, records)]
}
