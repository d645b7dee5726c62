import type { Session } from '../../../database/index.ts'
import type { Endpoint, EndpointContext, Failure, Run } from '../../../endpoint/index.ts'
import { RequestError } from '../../../../core/http/index.ts'
import { shape } from '../../../endpoint/index.ts'
import type { Json } from '../../../json/index.ts'
import { jsonArray } from '../../../json/index.ts'
import type { List, ListReader } from '../../../planner/index.ts'
import type { CountValues, PageValues } from '../paging/index.ts'
import { pageWindow } from '../paging/index.ts'
import type { RecordKind } from '../../../records/index.ts'
import type { Values } from '../../../../core/endpoint/index.ts'

/** The JSON of the records of a page of keys. A row deleted since the keys were read is omitted. */
export async function pageJson(session: Session, keys: readonly string[], kind: RecordKind): Promise<Json> {
  return jsonArray([...(await kind.readKeys(session, keys)).values()])
}

/** Plans lists and reads the records of their pages. */
interface RecordReading {
  readonly lists: ListReader
  readonly kind: RecordKind
}

/** The JSON of the page of a requested list. */
export async function listJson(
  { lists, kind }: RecordReading,
  { session, values }: EndpointContext<PageValues>,
  list: List,
): Promise<Json> {
  const plan = lists.plan(list, pageWindow(values, list.source.key))
  return jsonArray(plan ? await kind.readPage(session, plan) : [])
}

/**
 * One record by key.
 * @throws RequestError with the given failure if there is no such record.
 */
export async function oneJson(
  session: Session,
  key: string,
  kind: RecordKind,
  missing: Failure,
): Promise<Json> {
  const record = (await kind.readKeys(session, [key])).get(key)
  if (record === undefined) throw new RequestError(missing.status, missing.message)
  return record
}

export interface ListOfRecords<V> extends RecordReading {
  readonly list: (context: EndpointContext<V>) => Promise<List>
  /** Answers a count from counters; undefined if the counters do not cover every filter. */
  readonly counted?: (context: EndpointContext<V>) => Promise<string | undefined>
}

/** Answers a list: the page, or with `count=true` the number of rows. */
export function runList<V extends PageValues & CountValues>(records: ListOfRecords<V>): Run<V> {
  return async (context) => {
    if (context.values.count === true) return runCount(records)(context)
    return listJson(records, context, await records.list(context))
  }
}

/** Answers the number of rows of a list as a decimal string. */
export function runCount<V>({ lists, list, counted }: ListOfRecords<V>): Run<V> {
  return async (context) => {
    const count = (await counted?.(context)) ?? (await lists.count(context.session, await list(context)))
    return `"${count}"`
  }
}

/**
 * The `_count` endpoint of a list, with the list's parameters.
 * @param run returns the count for the values of the list.
 */
export function countEndpointOf<V extends Values>(list: Endpoint, run: Run<V>): Endpoint {
  return {
    ...list,
    path: `${list.path}/_count`,
    summary: `${list.summary}: number of matching rows`,
    record: shape.rowCount,
    run,
  }
}
