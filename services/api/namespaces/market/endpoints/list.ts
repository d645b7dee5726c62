import { id, inPath, named } from '../../../../core/parameters/index.ts'
import { endpoint } from '../../../endpoint/index.ts'
import type { Endpoint, EndpointContext, Run } from '../../../endpoint/index.ts'
import type { List } from '../../../planner/index.ts'
import type { RecordKind } from '../../../records/index.ts'
import type { ListOfRecords } from '../../nft/endpoints/index.ts'
import { oneJson, runCount, runList } from '../../nft/endpoints/index.ts'
import type { ListingQuery } from '../lists/listing-request.ts'
import { countFromCounters } from '../lists/listing-counts.ts'
import { countedList, listingList } from '../lists/listing-list.ts'
import type { ListingKind } from '../lists/listing-table.ts'
import { listingTables } from '../lists/listing-table.ts'
import type { ListingListValues } from '../parameters.ts'
import type { MarketSetup } from '../setup.ts'

/** Handlers of a list of listings and of its count. */
export interface ListingRuns {
  readonly page: Run<ListingListValues>
  readonly count: Run<ListingListValues>
}

type Listed = EndpointContext<ListingListValues>

/** A list of one kind of listing. */
export function runListings(setup: MarketSetup, query: ListingQuery, kind: RecordKind): ListingRuns {
  const recordsOf = (list: (context: Listed) => Promise<List>): ListOfRecords<ListingListValues> => ({
    lists: setup.lists,
    list,
    kind,
    counted: (context) => countFromCounters(context, query),
  })
  const page = runList(recordsOf((context) => listingList(context, setup, query)))
  const count = runCount(recordsOf((context) => countedList(context, setup, query)))
  return {
    page: (context) => (context.values.count === true ? count(context) : page(context)),
    count,
  }
}

/** Endpoint of one listing by the id in the path. */
export function oneListing(kind: ListingKind, records: RecordKind): Endpoint {
  const { key, group, one, missing } = listingTables[kind]
  return endpoint({
    path: `/v1/${group}/:${key}`,
    tag: group,
    summary: `One ${one}`,
    parameters: named(key, inPath(id(`${one.charAt(0).toUpperCase()}${one.slice(1)}.`))),
    record: records.schema,
    failures: [missing],
    cache: 'path',
    run: ({ session, values }) => oneJson(session, String(values[key]), records, missing),
  })
}

/** The numbers and meanings of the states of listings. */
export function statesOf({ schema }: RecordKind): string {
  return schema.properties!.state!.description!
}
