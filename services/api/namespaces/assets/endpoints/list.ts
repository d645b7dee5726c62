import type { Session } from '../../../database/index.ts'
import type { Endpoint, EndpointContext, Failure } from '../../../endpoint/index.ts'
import { RequestError, shape } from '../../../endpoint/index.ts'
import type { Json } from '../../../json/index.ts'
import { jsonArray } from '../../../json/index.ts'
import type { List } from '../../../lists/index.ts'
import type { KeyPage } from '../../paging/index.ts'
import { pageWindow } from '../../paging/index.ts'
import type { MakeRecords, RecordRenderer } from '../records/index.ts'
import type { AssetsSetup } from '../setup.ts'

/**
 * Makes the JSON of a page. A row that vanished in between is left out.
 * @param kind names what the renderer makes, apart from others of the namespace.
 */
export async function renderPage(
  setup: AssetsSetup,
  session: Session,
  page: KeyPage,
  kind: string,
  render: RecordRenderer,
): Promise<Json> {
  const { contract, parts } = setup
  return jsonArray(await renderUnchanged(setup, kind, page, (keys) => render(session, contract, parts, keys)))
}

/**
 * The records of a page, those that are kept and those that `make` makes, in the order of the page.
 * @param kind names what is made, apart from what else the namespace makes of such keys.
 */
export function renderUnchanged(
  { contract, parts, view }: AssetsSetup,
  kind: string,
  { keys, moment }: KeyPage,
  make: MakeRecords,
): Promise<Json[]> {
  // What the clock decides changes with the second.
  const second = view.clock ? Math.floor(view.clock() / 1_000) : 0
  const since = moment === undefined ? undefined : `${moment} ${second}`
  return parts.unchanged.render(`${kind} of ${contract}`, since, keys, make)
}

/** One record by key. @throws RequestError with the given failure when there is none. */
export async function renderOne(
  setup: AssetsSetup,
  session: Session,
  key: string,
  render: RecordRenderer,
  missing: Failure,
): Promise<Json> {
  const records = await render(session, setup.contract, setup.parts, [key])
  const record = records.get(key)
  if (record === undefined) throw new RequestError(missing.status, missing.message)
  return record
}

/** A list of records. */
export interface ListOfRecords {
  readonly setup: AssetsSetup
  readonly list: (context: EndpointContext) => Promise<List>
  /** The key of a record by that of its row in the list, where these differ. */
  readonly recordKey?: (key: string) => string
  /** Names what the renderer makes. */
  readonly kind: string
  readonly render: RecordRenderer
  /** Answers a count from counters; undefined when the filters are not theirs. */
  readonly counted?: (context: EndpointContext) => Promise<string | undefined>
}

/** Answers a list: the page, or with `count=true` the number of rows. */
export function runList(records: ListOfRecords): Endpoint['run'] {
  const { setup, list, recordKey, kind, render } = records
  return async (context) => {
    const { session, values } = context
    if (values.bool('count') === true) return runCount(records)(context)
    const wanted = await list(context)
    const window = pageWindow(values)
    const keys = window ? await setup.lists.keys(session, wanted, window) : []
    const page = { keys: recordKey ? keys.map(recordKey) : keys, moment: undefined }
    return renderPage(setup, session, page, kind, render)
  }
}

/** Answers the number of rows of a list as a decimal string. */
export function runCount({ setup, list, counted }: ListOfRecords): Endpoint['run'] {
  return async (context) => {
    const count =
      (await counted?.(context)) ?? (await setup.lists.count(context.session, await list(context)))
    return `"${count}"`
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
