import pg from 'pg'
import { to as copyTo } from 'pg-copy-streams'
import { FatalError } from '../../../core/errors/index.ts'
import { unfit } from '../unfit.ts'
import type { OldSource } from './old-source.ts'

/** A value in an entry of the source's undo journal (`reversible_queries`), with the type of the value. */
interface TaggedValue {
  readonly type: string
  readonly data: unknown
}

interface UndoQuery {
  readonly operation: string
  readonly table: string
  readonly values: Record<string, TaggedValue> | readonly Record<string, TaggedValue>[] | null
  readonly condition: { readonly str: string; readonly values: readonly TaggedValue[] } | null
}

/** Keys of the entities that the reversible blocks of the source database changed, by entity type. */
export type ChangedKeys = ReadonlyMap<string, ReadonlySet<string>>

/** For each table of the source database: the entity type of its rows, and the column that holds the entity's key. */
const entities: Readonly<Record<string, readonly [entity: string, key: string]>> = {
  atomicassets_assets: ['asset', 'asset_id'],
  atomicassets_mints: ['asset', 'asset_id'],
  atomicassets_assets_backed_tokens: ['asset', 'asset_id'],
  atomicassets_templates: ['template', 'template_id'],
  atomicassets_schemas: ['schema', 'schema_name'],
  atomicassets_collections: ['collection', 'collection_name'],
  atomicassets_balances: ['assets balance', 'owner'],
  atomicassets_tokens: ['assets token', 'token_symbol'],
  atomicassets_config: ['assets config', 'contract'],
  atomicassets_offers: ['offer', 'offer_id'],
  atomicassets_offers_assets: ['offer', 'offer_id'],
  atomicmarket_sales: ['sale', 'sale_id'],
  atomicmarket_auctions: ['auction', 'auction_id'],
  atomicmarket_auctions_assets: ['auction', 'auction_id'],
  atomicmarket_auctions_bids: ['auction', 'auction_id'],
  atomicmarket_buyoffers: ['buyoffer', 'buyoffer_id'],
  atomicmarket_buyoffers_assets: ['buyoffer', 'buyoffer_id'],
  atomicmarket_template_buyoffers: ['template buyoffer', 'buyoffer_id'],
  atomicmarket_template_buyoffers_assets: ['template buyoffer', 'buyoffer_id'],
  atomicmarket_marketplaces: ['marketplace', 'marketplace_name'],
  atomicmarket_balances: ['market balance', 'owner'],
  atomicmarket_bonusfees: ['bonus fee', 'bonusfee_id'],
  atomicmarket_config: ['market config', 'market_contract'],
  atomicmarket_tokens: ['market token', 'token_symbol'],
  atomicmarket_symbol_pairs: ['symbol pair', 'listing_symbol'],
  atomicmarket_royalties_config: ['royalty config', 'collection_name'],
  atomicmarket_royalties_templates: ['royalty template', 'collection_name'],
  atomicmarket_royalties_attributes: ['royalty attribute', 'collection_name'],
  atomictools_config: ['tools config', 'tools_contract'],
  atomictools_links: ['link', 'link_id'],
  atomictools_links_assets: ['link', 'link_id'],
  delphioracle_pairs: ['pair', 'delphi_pair_name'],
}

/**
 * Append-only tables of the source database. The import reads no rows of reversible blocks from these tables, because
 * it selects the rows by block number, up to the import block. Nothing has to be rolled back, so the entries of the
 * undo journal for these tables are skipped.
 */
const appended: ReadonlySet<string> = new Set([
  'contract_traces',
  'atomicassets_transfers',
  'atomicassets_transfers_assets',
  'atomicmarket_royalty_payouts',
  'reversible_blocks',
])

/**
 * The source database with its rows at the last irreversible block. The open transaction of the session has applied the
 * undo journal of the source, which rolls back the reversible blocks.
 *
 * The transaction locks the changed rows in the source. `close` rolls the transaction back, so call `close` as soon as
 * the rows are read.
 */
export class UndoneSource {
  readonly changed: ChangedKeys
  readonly #client: pg.Client

  constructor(client: pg.Client, changed: ChangedKeys) {
    this.#client = client
    this.changed = changed
  }

  /** Returns the keys of the entities of one type that the reversible blocks changed. */
  keys(entity: string): readonly string[] {
    return [...(this.changed.get(entity) ?? [])]
  }

  async query<T extends pg.QueryResultRow>(text: string): Promise<T[]> {
    const { rows } = await this.#client.query<T>(text)
    return rows
  }

  /** Runs COPY TO STDOUT for a SELECT and returns all COPY lines as one text. */
  async copyLines(select: string): Promise<string> {
    const chunks: Buffer[] = []
    for await (const chunk of this.#client.query(copyTo(`COPY (${select}) TO STDOUT`)))
      chunks.push(chunk as Buffer)
    return Buffer.concat(chunks).toString('utf8')
  }

  async close(): Promise<void> {
    await this.#client.query('ROLLBACK').catch(() => undefined)
    await this.#client.end().catch(() => undefined)
  }
}

/**
 * Opens a transaction on the source database and rolls back the reversible blocks in the transaction, by applying the
 * undo journal of the source. The transaction is never committed, so the source itself does not change.
 *
 * @throws FatalError `IMPORT_SOURCE_UNFIT` if the role may not write to the source, or if the undo journal does not fit
 * the tables of the source.
 */
export async function undoReversible(source: OldSource): Promise<UndoneSource> {
  const { reader, block } = source.position
  const queries = await source.query<UndoQuery>(
    `SELECT operation, "table", "values", condition FROM reversible_queries WHERE reader = $1 AND block_num > $2
     ORDER BY block_num DESC, id DESC`,
    [reader, block],
  )
  const types = await readTypes(source)
  const client = await source.openSession(queries.length === 0 ? 'read' : 'write')
  const changed = new Map<string, Set<string>>()
  try {
    for (const query of queries) {
      if (appended.has(query.table)) continue
      if (!source.has(query.table))
        throw unfit(`the undo journal of the source names the unknown table ${query.table}`)
      const rows = await runUndo(client, query, types)
      const entity = entities[query.table]
      if (entity === undefined) continue
      const keys = changed.get(entity[0]) ?? new Set<string>()
      changed.set(entity[0], keys)
      for (const row of rows) keys.add(String(row[entity[1]]))
    }
    return new UndoneSource(client, changed)
  } catch (error) {
    await client.query('ROLLBACK').catch(() => undefined)
    await client.end().catch(() => undefined)
    throw explainUndo(error)
  }
}

function explainUndo(error: unknown): unknown {
  if (error instanceof FatalError || !(error instanceof pg.DatabaseError)) return error
  if (error.code === '42501')
    return unfit(
      'the user of the source lacks the privilege to change rows, which undoing the reversible blocks needs (the transaction is rolled back): ' +
        'grant INSERT, UPDATE and DELETE to the user, or stop the old filler and wait until its last block is irreversible',
    )
  if (error.code === '40001')
    return unfit('the source changed while its reversible blocks were rolled back: start the import again')
  return error
}

type ColumnTypes = ReadonlyMap<string, string>

async function readTypes(source: OldSource): Promise<ColumnTypes> {
  const rows = await source.query<{ name: string; type: string }>(
    `SELECT c.relname || '.' || a.attname AS name, format_type(a.atttypid, NULL) AS type
     FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
     WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND a.attnum > 0`,
  )
  return new Map(rows.map(({ name, type }) => [name, type]))
}

async function runUndo(
  client: pg.Client,
  query: UndoQuery,
  types: ColumnTypes,
): Promise<Record<string, unknown>[]> {
  const table = client.escapeIdentifier(query.table)
  const typeOf = (column: string) => types.get(`${query.table}.${column}`)
  if (query.operation === 'insert') {
    const rows = Array.isArray(query.values)
      ? (query.values as Record<string, TaggedValue>[])
      : [query.values]
    const added: Record<string, unknown>[] = []
    for (const row of rows) {
      const columns = Object.keys(row as object)
      const values = columns.map((name) => untag((row as Record<string, TaggedValue>)[name]!, typeOf(name)))
      const list = columns.map((name) => client.escapeIdentifier(name)).join(', ')
      const places = columns.map((_, place) => `$${place + 1}`).join(', ')
      const result = await client.query<Record<string, unknown>>(
        `INSERT INTO ${table} (${list}) VALUES (${places}) RETURNING *`,
        values,
      )
      added.push(...result.rows)
    }
    return added
  }
  if (query.condition === null)
    throw unfit(`the undo journal of the source has an ${query.operation} without a condition`)
  const conditionValues = query.condition.values.map((value) => untag(value, undefined))
  if (query.operation === 'delete') {
    const text = `DELETE FROM ${table} WHERE ${query.condition.str} RETURNING *`
    return (await client.query<Record<string, unknown>>(text, conditionValues)).rows
  }
  if (query.operation !== 'update')
    throw unfit(`the undo journal of the source has the unknown operation ${query.operation}`)
  const changes = Object.entries(query.values as Record<string, TaggedValue>)
  const set = changes.map(([name], place) => `${client.escapeIdentifier(name)} = $${place + 1}`).join(', ')
  const where = query.condition.str.replace(
    /\$(\d+)/g,
    (_, place: string) => `$${Number(place) + changes.length}`,
  )
  const values = [...changes.map(([name, value]) => untag(value, typeOf(name))), ...conditionValues]
  return (
    await client.query<Record<string, unknown>>(
      `UPDATE ${table} SET ${set} WHERE ${where} RETURNING *`,
      values,
    )
  ).rows
}

/** Converts a value of the undo journal to a parameter of a PostgreSQL query. */
function untag({ type, data }: TaggedValue, columnType: string | undefined): unknown {
  if (data === null) return null
  if (type === 'date') return new Date(data as string | number)
  if (type === 'bytes') return toBytes(data)
  if (columnType === 'json' || columnType === 'jsonb')
    return typeof data === 'string' ? data : JSON.stringify(data)
  if (columnType === 'jsonb[]' && Array.isArray(data))
    return data.map((item) => (typeof item === 'string' ? item : JSON.stringify(item)))
  return data
}

function toBytes(data: unknown): Buffer {
  if (typeof data === 'string') return Buffer.from(data.replace(/^\\x/, ''), 'hex')
  if (Array.isArray(data)) return Buffer.from(data as number[])
  const { data: inner } = data as { data?: unknown }
  return Buffer.from(
    Array.isArray(inner) ? (inner as number[]) : Object.values(data as Record<string, number>),
  )
}
