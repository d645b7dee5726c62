import type { Session } from '../../../database/index.ts'
import type { RecordKeys, RecordReader } from '../../../endpoint/index.ts'
import { RequestError } from '../../../../core/http/index.ts'
import { LateJson } from '../../../json/index.ts'
import type { Json } from '../../../json/index.ts'
import type { RecordKind } from '../../../records/index.ts'

/** Source of the values that live subscriptions filter by; `r` is the row of the record. */
export interface KeySource {
  /** FROM item of the table with the records. */
  readonly table: string
  /** SQL of the key, and the SQL type of the key. */
  readonly key: string
  readonly keyType: 'bigint' | 'integer' | 'text'
  /** SQL of the accounts that the record concerns; null values are left out. */
  readonly accounts: readonly string[]
  /** SQL of the collection and of the template in the record's own row. */
  readonly collection?: string
  readonly template?: string
  /** SQL of the array of the record's asset ids. */
  readonly assets?: string
  /** SQL of the size of the texts in the record's own row, bytes. */
  readonly bytes?: string
  /** Path of the endpoint of a single record, up to the key. */
  readonly path: string
}

/** Reader of the records of one kind for live events. */
export function liveRecord(kind: RecordKind, source: KeySource): RecordReader {
  const statement = keysStatement(source)
  return {
    schema: kind.schema,
    path: (key) => source.path + key,
    readKeys: (session, keys) => readKeys(session, statement, keys),
    read: (session, keys) => readRecords(session, kind, keys),
  }
}

/**
 * Reads records by key. Reads them one by one if they are too large together; a record that is too large alone gets no
 * text.
 */
async function readRecords(
  session: Session,
  kind: RecordKind,
  keys: readonly string[],
): Promise<ReadonlyMap<string, Json>> {
  try {
    return await kind.readKeys(session, keys)
  } catch (error) {
    if (!(error instanceof RequestError)) throw error
    if (keys.length === 1) return new Map([[keys[0]!, tooLarge]])
  }
  const records = new Map<string, Json>()
  for (const key of keys) {
    for (const [known, record] of await readRecords(session, kind, [key])) records.set(known, record)
  }
  return records
}

/**
 * Placeholder for a record that is too large to be read. The size of the placeholder exceeds every limit, so the
 * placeholder is never written.
 */
const tooLarge = new LateJson(Infinity, () => 'null')

async function readKeys(
  session: Session,
  statement: { readonly name: string; readonly text: string },
  keys: readonly string[],
): Promise<Map<string, RecordKeys>> {
  if (keys.length === 0) return new Map()
  const rows = await session.query<[text: string]>({ ...statement, values: [keys] })
  return new Map(
    rows.map(([text]) => {
      const [key, found] = JSON.parse(text) as [string, RecordKeys]
      return [key, found]
    }),
  )
}

/**
 * Query of the values by which subscriptions filter a record (accounts, collections, templates, assets), and of the
 * size of the record's texts in bytes. The contained assets count in the collections, templates and size. The query
 * returns sizes of attributes, never their texts.
 */
function keysStatement(source: KeySource): { name: string; text: string } {
  const { table, key, keyType, accounts, collection, template, assets, bytes = '0' } = source
  const own = (value: string | undefined): string => (value === undefined ? '' : `, ${value}::text`)
  const condition = key.includes('||')
    ? `(r.collection_name, r.schema_name) IN (
        SELECT split_part(k, '/', 1), split_part(k, '/', 2) FROM unnest($1::text[]) u(k))`
    : `${key} = ANY($1::${keyType}[])`
  return {
    name: `live keys ${table}`,
    text: `SELECT json_build_array((${key})::text, json_build_object(
        'accounts', array_remove(ARRAY[${accounts.map((sql) => `${sql}::text`).join()}]::text[], NULL),
        'collections', array_remove(ARRAY[NULL${own(collection)}]::text[] || x.collections, NULL),
        'templates', array_remove(ARRAY[NULL${own(template)}]::text[] || x.templates, NULL),
        'assets', ${assets === undefined ? `ARRAY[]::text[]` : `array_remove((${assets})::text[], NULL)`},
        'bytes', ${bytes} + coalesce(x.bytes, 0)))::text
      FROM ${table} r LEFT JOIN LATERAL (${assets === undefined ? NO_ASSETS : containedIn(assets)}) x ON true
      WHERE ${condition}`,
  }
}

const NO_ASSETS = 'SELECT ARRAY[]::text[] AS collections, ARRAY[]::text[] AS templates, 0::numeric AS bytes'

/** Query of the sizes of the assets in a record. A template that several assets share is measured once. */
function containedIn(assets: string): string {
  return `SELECT array_agg(DISTINCT g.collection_name) AS collections, array_agg(g.template_id::text) AS templates,
      sum(g.own + g.assets * coalesce(t.bytes, 0)) AS bytes
    FROM (SELECT a.collection_name, a.template_id, count(*) AS assets,
        sum(${textBytes('a.immutable_data')} + ${textBytes('a.mutable_data')}) AS own
      FROM assets.assets a WHERE a.asset_id = ANY(${assets}) GROUP BY a.collection_name, a.template_id) g
    LEFT JOIN LATERAL (SELECT ${textBytes('t.immutable_data')} + ${textBytes('t.mutable_data')} AS bytes
      FROM assets.templates t WHERE t.template_id = g.template_id) t ON true`
}

/** SQL of the size of a JSON column: its text is about as long as its part of the record. */
export function textBytes(column: string): string {
  return `coalesce(octet_length(${column}::text), 0)`
}
