import { bind, raw, sql } from '../../../sql/index.ts'
import type { RequestError } from '../../../../core/http/index.ts'
import type { EndpointContext, NamedSchema } from '../../../endpoint/index.ts'
import type { SqlValue } from '../../../sql/index.ts'
import type { Filter } from '../../../planner/filters/index.ts'
import type { ListReader } from '../../../planner/index.ts'
import { storedBytes } from '../../../records/sizes/index.ts'
import { answerTooLarge } from '../../../request/index.ts'
import { pageWindow } from '../../nft/paging/index.ts'
import { compileMembers, shapeOf } from '../../../records/fields/index.ts'
import { packFields, unpackRows } from '../../../database/index.ts'
import { shape } from '../../../endpoint/index.ts'
import { changedDataMembers } from '../records/packed-maps.ts'
import type { LoggedActions, LogValues } from '../../nft/logs/index.ts'
import { chosenActions, logFields, logList } from '../../nft/logs/index.ts'

/** Asset, collection, schema, template or offer whose logs are requested. */
export interface LogSubject {
  /** Asset, offer or template id, or the name of a collection as a signed number. */
  readonly id: bigint
  /** For the logs of a schema: the name of the schema within the collection `id`. */
  readonly schema?: string
  /** For the logs of a template: the collection that the template must belong to. */
  readonly templateOf?: string
}

/** A row of the log query. */
type ReadRow = readonly [
  /**
   * All columns of the log entry except `data`, packed into one text. The API builds `data` from the columns `data` and
   * `packed` of this row.
   */
  own: string,
  /** JSON object of the action's data, or null. */
  data: string | null,
  /**
   * The attribute maps before and after the action, in the binary encoding of the contract; null if the action has
   * none.
   */
  packed: Uint8Array | null,
  /** Size of the action's data in bytes if the page exceeds the size limit, else null. */
  bytes: bigint | null,
]

/**
 * Log of assets, collections, schemas, templates or offers. The data of an action is stored in two columns: JSON, and
 * attribute maps in the binary encoding of the contract. The API merges both into the field `data`.
 */
export interface AssetsLog {
  readonly schema: NamedSchema
  readonly actions: readonly string[]
  readonly own: string
  readonly read: (row: ReadRow) => string
}

/**
 * Declares the log of assets, collections, schemas, templates or offers.
 * @param of name of the logged object in API descriptions, such as `an asset`.
 */
export function assetsLog(title: string, of: string, actions: LoggedActions): AssetsLog {
  const { name, data, ...others } = logFields(actions, { seq: 'e.seq', name: 'y.name', data: 'data' })
  const members = { ...others, name, data }
  const { columns, record } = compileMembers(members)
  return {
    schema: shape.record(title, `An action on ${of}`, shapeOf(members)),
    actions: Object.keys(actions),
    own: packFields(columns.slice(0, -1)),
    read: ([own, said, packed]) =>
      record([...unpackRows(own)[0]!, mergedData(said ?? '{}', packed)], { given: {} }) as string,
  }
}

function mergedData(data: string, packed: Uint8Array | null): string {
  if (packed === null) return data
  const own = data.slice(1, -1)
  return `{${own === '' ? '' : `${own},`}${changedDataMembers(packed)}}`
}

/**
 * Name of the action that logs a mint. The table of logs has no entry for a mint, so the entry is read from the row of
 * the asset.
 */
const MINT = 'logmint'

const LOGS = 'assets.logs'
const ACTIONS = raw('assets.log_actions')
const MINTS = sql`SELECT a.minted_seq AS seq, a.asset_id AS subject, (SELECT n.action FROM ${ACTIONS} n WHERE n.name = ${raw(`'${MINT}'`)}) AS action,
    jsonb_build_object('new_asset_owner', a.initial_receiver, 'authorized_minter', a.minter) AS data, NULL::bytea AS packed
  FROM assets.assets a WHERE a.minted_seq IS NOT NULL`
const ROWS = raw('SELECT r.seq, r.subject, r.action, r.data, r.packed FROM assets.logs r')

/** Input of `selectLogs`: the reader of lists, and the size limit of a page. */
interface LogReading {
  readonly lists: ListReader
  /** Maximum size of a page, bytes. */
  readonly maxBytes: number
}

/** SQL of the size of an action's data, bytes. */
const BYTES = `${storedBytes('e.data')} + ${storedBytes('e.packed')}`

/**
 * One page of the log of an asset, collection, schema, template or offer. If the data of the page exceeds the size
 * limit, the query returns sizes instead of data.
 * @throws RequestError if the page exceeds the size limit.
 */
export async function selectLogs(
  { lists, maxBytes }: LogReading,
  { session, values }: Pick<EndpointContext<LogValues>, 'session' | 'values'>,
  subject: LogSubject,
  log: AssetsLog,
): Promise<readonly string[]> {
  const window = pageWindow(values)
  const wanted = chosenActions(log.actions, values)
  if (wanted.length === 0) return []
  const rows = wanted.includes(MINT) ? sql`${ROWS} UNION ALL ${MINTS}` : ROWS
  const source = { from: sql`(${rows}) l`, table: LOGS, actions: ACTIONS }
  const list = logList(source, { id: subject.id, actions: wanted, further: subjectFilters(subject) }, values)
  const data = raw(subject.schema === undefined ? 'e.data::text' : `(e.data - 'schema_name')::text`)
  const isTooLarge = sql`sum(${raw(BYTES)}) OVER () > ${bind(maxBytes, 'float8')}`
  const plan = lists.plan(list, window)
  if (!plan) return []
  const { keys, reason } = plan
  const statement = sql`SELECT ${raw(log.own)}, CASE WHEN NOT ${isTooLarge} THEN ${data} END,
        CASE WHEN NOT ${isTooLarge} THEN e.packed END, CASE WHEN ${isTooLarge} THEN ${raw(BYTES)} END
      FROM (${keys}) p JOIN LATERAL (SELECT * FROM (${rows}) l
          WHERE l.subject = ${bind(subject.id, 'bigint')} AND l.seq = p.k OFFSET 0) e ON true
        JOIN ${ACTIONS} y USING (action) LEFT JOIN LATERAL assets.origin_of(e.seq) x ON true
      ORDER BY p.n`
  const read = await session.query<ReadRow & readonly SqlValue[]>({ ...statement.render(), reason })
  const sizes = read.flatMap(([, , , bytes]) => bytes ?? [])
  if (sizes.length > 0) throw logsTooLarge(sizes.map(Number), maxBytes)
  return read.map(log.read)
}

function logsTooLarge(items: readonly number[], maxBytes: number): RequestError {
  return answerTooLarge({ bytes: items.reduce((sum, size) => sum + size, 0), maxBytes, items })
}

function subjectFilters({ id, schema, templateOf }: LogSubject): Filter[] {
  const filters: Filter[] = []
  if (schema !== undefined) {
    filters.push({
      name: 'schema',
      condition: sql`l.data ->> 'schema_name' = ${bind(schema, 'text')}`,
      rows: 1,
      isIndexed: false,
    })
  }
  if (templateOf !== undefined) {
    filters.push({
      name: 'collection',
      condition: sql`EXISTS (SELECT FROM assets.templates t
        WHERE t.template_id = ${bind(id, 'bigint')} AND t.collection_name = ${bind(templateOf, 'text')})`,
      rows: 1,
      isIndexed: false,
    })
  }
  return filters
}
