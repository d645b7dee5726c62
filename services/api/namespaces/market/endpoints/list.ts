import type { Endpoint, EndpointContext, Failure } from '../../../endpoint/index.ts'
import type { RecordKind } from '../../../records/index.ts'
import { oneJson, pageJson } from '../../assets/index.ts'
import type { PageQuery } from '../../paging/index.ts'
import { countRows, selectPage } from '../../paging/index.ts'
import type { Purpose } from '../queries/index.ts'
import type { MarketSetup } from '../setup.ts'

export { countTwin } from '../../assets/index.ts'

/** A list of records that one query selects. */
export interface ListOfRecords {
  readonly setup: MarketSetup
  readonly query: (
    context: EndpointContext,
    setup: MarketSetup,
    purpose: Purpose,
  ) => PageQuery | Promise<PageQuery>
  readonly kind: RecordKind
  /** Answers a count from maintained counters; undefined when the filters are not theirs. */
  readonly kept?: (context: EndpointContext, setup: MarketSetup) => Promise<string | undefined>
}

/** Answers a list: the page, or with `count=true` the number of rows. */
export function runList(list: ListOfRecords): Endpoint['run'] {
  const count = runCount(list)
  return async (context) => {
    if (context.values.bool('count') === true) return count(context)
    const query = await list.query(context, list.setup, 'page')
    const page = await selectPage(context.session, context.values, query)
    return pageJson(context.session, page, list.kind)
  }
}

/** Answers the number of rows of a list as a decimal string. */
export function runCount(list: ListOfRecords): Endpoint['run'] {
  return async (context) => {
    const kept = await list.kept?.(context, list.setup)
    if (kept !== undefined) return `"${kept}"`
    return `"${await countRows(context.session, await list.query(context, list.setup, 'count'))}"`
  }
}

/** Answers one record by the id in the path. @throws RequestError with the given failure when there is none. */
export function runOne(parameter: string, kind: RecordKind, missing: Failure): Endpoint['run'] {
  return ({ session, values }) => oneJson(session, String(values.id(parameter)), kind, missing)
}
