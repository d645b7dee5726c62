import type { Session } from '../../../database/index.ts'
import type { Endpoint, EndpointContext, Failure } from '../../../endpoint/index.ts'
import { RequestError, shape } from '../../../endpoint/index.ts'
import type { Json } from '../../../json/index.ts'
import { jsonArray } from '../../../json/index.ts'
import type { KeyPage, PageQuery } from '../../paging/index.ts'
import type { List, ListReader } from '../../../lists/index.ts'
import { countRows, pageWindow, selectPage } from '../../paging/index.ts'
import type { RecordKind } from '../../../records/index.ts'
import { keysPage } from '../../../records/index.ts'

/** The JSON of a page of keys. A row that vanished in between is left out. */
export async function pageJson(session: Session, { keys }: KeyPage, kind: RecordKind): Promise<Json> {
  if (keys.length === 0) return '[]'
  const found = await kind.readPage(session, keysPage(keys, kind.keyType))
  // Keys that are given are never null.
  return jsonArray('hits' in found ? [] : found.records)
}

/** The JSON of the page of a list that a request asks for. */
export async function listJson(
  reader: ListReader,
  { session, values }: EndpointContext,
  list: List,
  kind: RecordKind,
): Promise<Json> {
  const window = pageWindow(values)
  const records = window && (await reader.page(list, window, (page) => kind.readPage(session, page)))
  return jsonArray(records ?? [])
}

/** One record by key. @throws RequestError with the given failure when there is none. */
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

/** A list of records that one query selects. */
export interface ListOfRecords {
  readonly query: (context: EndpointContext) => PageQuery | Promise<PageQuery>
  readonly kind: RecordKind
  /** Answers a count in a quicker way than by counting rows; undefined when the filters do not allow it. */
  readonly kept?: (context: EndpointContext) => Promise<string | undefined>
}

/** Answers a list: the page, or with `count=true` the number of rows. */
export function runList(list: ListOfRecords): Endpoint['run'] {
  return async (context) => {
    if (context.values.bool('count') === true) return runCount(list)(context)
    const query = await list.query(context)
    const page = await selectPage(context.session, context.values, query)
    return pageJson(context.session, page, list.kind)
  }
}

/** Answers the number of rows of a list as a decimal string. */
export function runCount(list: ListOfRecords): Endpoint['run'] {
  return async (context) => {
    const kept = await list.kept?.(context)
    return `"${kept ?? (await countRows(context.session, await list.query(context)))}"`
  }
}

/** The `_count` twin of a list: the same parameters, another answer. */
export function countTwin(list: Endpoint, run: Endpoint['run']): Endpoint {
  return {
    ...list,
    path: `${list.path}/_count`,
    summary: `${list.summary}: how many`,
    record: shape.rowCount,
    run,
  }
}
