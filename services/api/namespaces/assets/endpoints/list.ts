import type { Session } from '../../../database/index.ts'
import type { Endpoint, EndpointContext, Failure } from '../../../endpoint/index.ts'
import { RequestError, shape } from '../../../endpoint/index.ts'
import type { Json } from '../../../json/index.ts'
import { jsonArray } from '../../../json/index.ts'
import type { KeyPage, PageQuery } from '../../paging/index.ts'
import { countRows, selectPage } from '../../paging/index.ts'
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

/** A list of records that one query selects. */
export interface ListOfRecords {
  readonly setup: AssetsSetup
  readonly query: (context: EndpointContext) => PageQuery | Promise<PageQuery>
  /** Names what the renderer makes. */
  readonly kind: string
  readonly render: RecordRenderer
  /** Answers a count in a quicker way than by counting rows; undefined when the filters do not allow it. */
  readonly kept?: (context: EndpointContext) => Promise<string | undefined>
}

/** Answers a list: the page, or with `count=true` the number of rows. */
export function runList(list: ListOfRecords): Endpoint['run'] {
  return async (context) => {
    if (context.values.bool('count') === true) return runCount(list)(context)
    const query = await list.query(context)
    const page = await selectPage(context.session, context.values, query)
    return renderPage(list.setup, context.session, page, list.kind, list.render)
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
