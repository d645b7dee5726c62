import { id, inPath, named } from '../../../../core/parameters/index.ts'
import { endpoint } from '../../../endpoint/index.ts'
import type { Endpoint, EndpointContext, Failure, RecordSchema, Run } from '../../../endpoint/index.ts'
import type { List } from '../../../planner/index.ts'
import type { RecordKind } from '../../../records/index.ts'
import type { ListOfRecords } from '../../nft/endpoints/index.ts'
import { oneJson, runCount, runList } from '../../nft/endpoints/index.ts'
import type { ListingQuery } from '../lists/listing-request.ts'
import { countFromCounters } from '../lists/listing-counts.ts'
import { countedList, listingList } from '../lists/listing-list.ts'
import type { ListingKey } from '../lists/listing-table.ts'
import type { ListingListValues } from '../parameters.ts'
import type { MarketSetup } from '../setup.ts'

/** What answers a list of listings, and what answers its count. */
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

/** The endpoint of one listing by its id. */
interface OneListing {
  readonly key: ListingKey
  /** Group of the endpoint: the last part of the path of the list. */
  readonly tag: string
  /** Name of one listing in sentences, for example `buy offer`. */
  readonly one: string
  readonly record: RecordSchema
  readonly kind: RecordKind
  readonly missing: Failure
}

/** One listing by the id in the path. */
export function oneListing({ key, tag, one, record, kind, missing }: OneListing): Endpoint {
  return endpoint({
    path: `/v1/${tag}/:${key}`,
    tag,
    summary: `One ${one}`,
    parameters: named(key, inPath(id(`${one.charAt(0).toUpperCase()}${one.slice(1)}.`))),
    record,
    failures: [missing],
    cache: 'path',
    run: ({ session, values }) => oneJson(session, String(values[key]), kind, missing),
  })
}
