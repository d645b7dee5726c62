import type { Endpoint, EndpointContext, Failure } from '../../../endpoint/index.ts'
import type { List } from '../../../lists/index.ts'
import type { RecordKind } from '../../../records/index.ts'
import type { ListOfRecords } from '../../assets/index.ts'
import { oneJson, runCount, runList } from '../../assets/index.ts'
import type { ListingQuestion } from '../lists/index.ts'
import { countFromCounters, countedList, listingList } from '../lists/index.ts'
import type { MarketSetup } from '../setup.ts'

export { countTwin, runCount, runList } from '../../assets/index.ts'

/** What answers a list of listings, and what answers its count. */
export interface ListingRuns {
  readonly page: Endpoint['run']
  readonly count: Endpoint['run']
}

/** A list of one kind of listing. */
export function runListings(setup: MarketSetup, question: ListingQuestion, kind: RecordKind): ListingRuns {
  const recordsOf = (list: (context: EndpointContext) => Promise<List>): ListOfRecords => ({
    lists: setup.lists,
    list,
    kind,
    counted: (context) => countFromCounters(context, question),
  })
  const page = runList(recordsOf((context) => listingList(context, setup, question)))
  const count = runCount(recordsOf((context) => countedList(context, setup, question)))
  return {
    page: (context) => (context.values.bool('count') === true ? count(context) : page(context)),
    count,
  }
}

/** Answers one record by the id in the path. @throws RequestError with the given failure when there is none. */
export function runOne(parameter: string, kind: RecordKind, missing: Failure): Endpoint['run'] {
  return ({ session, values }) => oneJson(session, String(values.id(parameter)), kind, missing)
}
