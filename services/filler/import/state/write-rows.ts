import { assetsTables } from '../../../core/model/tables/index.ts'
import type { Logger } from '../../../core/log/index.ts'
import { assetsContract, readColumns } from '../../../core/model/contract/index.ts'
import type { ContractRow, FormatField, Formats } from '../../../core/model/contract/index.ts'
import { saleState } from '../../handlers/market/index.ts'
import type { Handler, Query } from '../../handlers/index.ts'
import type { ContractDecoder } from '../../pipeline/index.ts'
import { CommitUnit } from '../../store/index.ts'
import type { Store } from '../../store/index.ts'
import { loadStep } from '../progress.ts'
import type { ContractTable } from './contract-tables.ts'
import { entityTables } from './entity-rows.ts'
import type { EntityTable } from './entity-rows.ts'
import { decodeRow } from './operations.ts'

/**
 * Number of heap pages of a staging table that one step reads. A step selects the pages by their ctid, which
 * needs no index.
 */
const HEAP_PAGES = 256
const CHANGES = 5_000
/** Placeholder block for rows whose times are unknown: number and time 0. */
const unknownBlock = { num: 0, timeMs: 0 }

export interface RowWriting {
  readonly store: Store
  readonly handlers: readonly Handler[]
  readonly tables: readonly ContractTable[]
  readonly decoders: ReadonlyMap<string, ContractDecoder>
  /** Time of the last block that was read, in ms since 1970. Derived values of the rows are computed for this time. */
  readonly timeMs: number
  /** Names of the steps that earlier runs completed. */
  readonly done: ReadonlySet<string>
  readonly logger: Logger
  readonly signal: AbortSignal
  readonly onStep: (table: string, rows: number) => void
}

/** A staged contract row. A removed row (`is_present` is false) has its last value before the removal. */
interface Collected {
  readonly scope: string
  readonly primary_key: bigint
  readonly value: Buffer
  readonly is_present: boolean
}

const entityOf = ({ family, table }: ContractTable) =>
  entityTables.find((known) => known.family === family && known.contractTable === table)
const isEntity = (table: ContractTable) => entityOf(table) !== undefined
const isConfig = ({ table }: ContractTable) => table === 'config' || table === 'tokenconfigs'
const isTemplateData = ({ family, table }: ContractTable) => family === 'assets' && table === 'templates2'

/**
 * Writes the settings of the contracts from the staging tables to the final tables. The handlers need the settings to
 * read the blocks since the import started.
 */
export async function writeSettings(writing: RowWriting): Promise<void> {
  const writer = new RowWriter(writing)
  for (const table of writing.tables.filter(isConfig)) await writer.copyStaged(table, 'settings ')
}

/**
 * Writes the rows of all final tables from the staging tables and from the changes in later blocks, step by step. The
 * result is the state at the last block that was read.
 */
export async function writeRows(writing: RowWriting): Promise<void> {
  const writer = new RowWriter(writing)
  for (const table of writing.tables)
    if (!isEntity(table) && !isTemplateData(table)) {
      await writer.copyStaged(table, '')
      await writer.copyChanges(table)
    }
  await writer.readFormats()
  for (const entity of entityTables) {
    const table = writing.tables.find(
      ({ family, table: name }) => family === entity.family && name === entity.contractTable,
    )
    if (table === undefined) continue
    await writer.writeEntities(entity, table)
    if (entity.contractTable === 'templates')
      for (const data of writing.tables.filter(isTemplateData)) {
        await writer.copyStaged(data, '')
        await writer.copyChanges(data)
      }
  }
}

/**
 * Collects the accounts that are parties of open offers and listings. The caller asks the node which of the accounts
 * have code.
 */
export async function readParties(writing: RowWriting): Promise<string[]> {
  const writer = new RowWriter(writing)
  const parties = new Set<string>()
  for (const table of writing.tables) {
    const fields = entityOf(table)?.rows.parties ?? []
    if (fields.length === 0) continue
    await writer.eachRow(table, (value) => {
      for (const field of fields) parties.add(value[field] as string)
    })
  }
  parties.delete('')
  return [...parties].sort()
}

class RowWriter {
  readonly #writing: RowWriting
  readonly #formats = new Map<string, readonly FormatField[]>()

  constructor(writing: RowWriting) {
    this.#writing = writing
  }

  async readFormats(): Promise<void> {
    const rows = await this.#writing.store.query<{ name: string; format: FormatField[] }>(
      "SELECT collection_name || '/' || schema_name AS name, format FROM assets.schemas",
    )
    for (const { name, format } of rows) this.#formats.set(name, format)
  }

  /**
   * Writes the rows of a staging table to the final table, through the handler of the table's family. Rows that changed
   * in the blocks since the import started are left out.
   */
  async copyStaged(table: ContractTable, prefix: string): Promise<void> {
    for (const [name, rows] of await this.#stagedParts(table))
      await this.#step(`${prefix}${name}`, table, rows, (found, unit) => this.#copy(table, found, unit))
  }

  async copyChanges(table: ContractTable): Promise<void> {
    for (const [name, rows] of await this.#changedParts(table))
      await this.#step(name, table, rows, (found, unit) =>
        this.#copy(
          table,
          found.filter(({ is_present: isPresent }) => isPresent),
          unit,
        ),
      )
  }

  async writeEntities(entity: EntityTable, table: ContractTable): Promise<void> {
    const parts = [...(await this.#stagedParts(table)), ...(await this.#changedParts(table))]
    for (const [name, rows] of parts)
      await this.#step(name, table, rows, (found, unit) => this.#entities(entity, table, found, unit))
    await this.#step(
      `${table.stage} of one block`,
      table,
      () => Promise.resolve([]),
      (_, unit) => this.#shortLived(entity, table, unit),
    )
  }

  async eachRow(
    table: ContractTable,
    take: (value: Readonly<Record<string, unknown>>) => void,
  ): Promise<void> {
    const parts = [...(await this.#stagedParts(table)), ...(await this.#changedParts(table))]
    for (const [, read] of parts) for (const { value } of await read()) take(this.#decode(table, value))
  }

  async #step(
    name: string,
    table: ContractTable,
    read: () => Promise<Collected[]>,
    put: (rows: readonly Collected[], unit: CommitUnit) => Promise<number>,
  ): Promise<void> {
    const { store, timeMs, done, signal, onStep } = this.#writing
    if (done.has(name)) return
    signal.throwIfAborted()
    const unit = new CommitUnit(false)
    const rows = await put(await read(), unit)
    await loadStep(store, { name, unit, rows, timeMs })
    onStep(`${table.contract} ${table.table}`, rows)
  }

  /**
   * Splits the rows of a staging table into physical ranges (ctid); one step writes one range. A row that changed in
   * the blocks since the import started is left out: its newest value is in `import.changes`.
   */
  async #stagedParts(table: ContractTable): Promise<[string, () => Promise<Collected[]>][]> {
    const { store } = this.#writing
    const [size] = await store.query<{ pages: number }>(
      "SELECT (pg_relation_size($1::regclass) / current_setting('block_size')::integer)::integer AS pages",
      [table.stage],
    )
    return Array.from({ length: Math.ceil(size!.pages / HEAP_PAGES) }, (_, part) => {
      const [from, to] = [part * HEAP_PAGES, (part + 1) * HEAP_PAGES]
      return [
        `${table.stage} ${from}`,
        () =>
          store.query<Collected & Record<string, unknown>>(
            `SELECT r.scope, r.primary_key, r.value, true AS is_present FROM ${table.stage} r
             WHERE r.ctid >= '(${from},0)' AND r.ctid < '(${to},0)' AND NOT EXISTS (
               SELECT 1 FROM import.changes c WHERE c.stage = $1 AND c.primary_key = r.primary_key AND c.scope = r.scope)`,
            [table.stage],
          ),
      ]
    })
  }

  /**
   * Splits the rows of `import.changes` that belong to one contract table into key ranges; one step writes one range.
   */
  async #changedParts(table: ContractTable): Promise<[string, () => Promise<Collected[]>][]> {
    const { store } = this.#writing
    const bounds = await store.query<{ key: bigint }>(
      `SELECT primary_key AS key FROM (
         SELECT primary_key, row_number() OVER (ORDER BY primary_key) AS place
         FROM (SELECT DISTINCT primary_key FROM import.changes WHERE stage = $1) k) n
       WHERE place % ${CHANGES} = 1 ORDER BY 1`,
      [table.stage],
    )
    return bounds.map(({ key }, i) => [
      `${table.stage} changed ${key}`,
      () =>
        store.query<Collected & Record<string, unknown>>(
          `SELECT scope, primary_key, value, is_present FROM import.changes
           WHERE stage = $1 AND primary_key >= $2 AND ($3::bigint IS NULL OR primary_key < $3)
           ORDER BY primary_key, is_present DESC, block_num DESC`,
          [table.stage, key, bounds[i + 1]?.key ?? null],
        ),
    ])
  }

  async #copy(table: ContractTable, rows: readonly Collected[], unit: CommitUnit): Promise<number> {
    const { store, handlers, logger } = this.#writing
    if (isTemplateData(table)) return this.#copyTemplateData(table, rows, unit)
    const handler = handlers.find(({ family }) => family === table.family)!
    const query: Query = (text, values) => store.query(text, values)
    const state = await handler.load(query)
    const scope = handler.open(unknownBlock, state, unit, (message) => logger.warn({}, message))
    for (const { scope: name, primary_key: key, value } of rows)
      scope.row({
        table: table.table,
        present: true,
        scope: () => name,
        primaryKey: () => BigInt.asUintN(64, key),
        value: () => this.#decode(table, value),
      })
    scope.end()
    return rows.length
  }

  #copyTemplateData(table: ContractTable, rows: readonly Collected[], unit: CommitUnit): Promise<number> {
    for (const { scope, value } of rows) {
      const from = this.#contractRow(scope, this.#decode(table, value))
      const { template_id, mutable_data } = readColumns(assetsContract.templates2, from)
      unit.patch(assetsTables.templates, { template_id }, { mutable_data })
    }
    return Promise.resolve(rows.length)
  }

  async #entities(
    entity: EntityTable,
    table: ContractTable,
    rows: readonly Collected[],
    unit: CommitUnit,
  ): Promise<number> {
    // A row that moved between scopes has one entry for each scope in `rows`. The entries of a key are sorted: the
    // present row first, then removed rows, the latest removal first. Keep the first entry of each key.
    const byKey = new Map<bigint, Collected>()
    for (const row of rows) if (!byKey.has(row.primary_key)) byKey.set(row.primary_key, row)
    const operations = await this.#operations(entity, [...byKey.keys()])
    const put: { row: Record<string, unknown>; from: ContractRow }[] = []
    for (const [key, { scope, value, is_present: isPresent }] of byKey) {
      const operation = operations.get(key)
      // Skip a removed row for which the actions gave no values: the final state of the row is unknown.
      if (!isPresent && operation === undefined) continue
      const from = this.#contractRow(scope, this.#decode(table, value))
      put.push({ row: { ...entity.rows.rowOf(from), ...operation }, from })
    }
    if (entity.contractTable === 'sales') await this.#endWithOffers(put.map(({ row }) => row))
    for (const { row, from } of put) this.#put(entity, row, from, unit)
    return put.length
  }

  /** Sets the state of each listed sale to invalid if the offer of the sale does not exist any more. */
  async #endWithOffers(sales: readonly Record<string, unknown>[]): Promise<void> {
    const started = sales.filter(({ state }) => state === saleState.listed)
    const offers = await this.#writing.store.query<{ id: bigint }>(
      'SELECT offer_id AS id FROM assets.offers WHERE offer_id = ANY($1::bigint[])',
      [started.map(({ offer_id: offer }) => offer)],
    )
    const known = new Set(offers.map(({ id }) => id))
    for (const sale of started) if (!known.has(sale.offer_id as bigint)) sale.state = saleState.invalid
  }

  /**
   * Inserts rows that were created and removed within one block. The state history of the block does not show such
   * rows, so they are in `import.operations`, but not in `import.changes`.
   */
  async #shortLived(entity: EntityTable, table: ContractTable, unit: CommitUnit): Promise<number> {
    const rows = await this.#writing.store.query<{ row: Record<string, unknown> }>(
      `SELECT o.row FROM import.operations o WHERE o.name = $1 AND o.is_whole
         AND NOT EXISTS (SELECT 1 FROM import.changes c WHERE c.stage = $2 AND c.primary_key = o.key)`,
      [entity.table.name, table.stage],
    )
    for (const { row } of rows) this.#put(entity, decodeRow(row), null, unit)
    return rows.length
  }

  #put(entity: EntityTable, row: Record<string, unknown>, from: ContractRow | null, unit: CommitUnit): void {
    unit.insert(entity.table, row)
    entity.rows.complete?.(row, unit, from)
  }

  async #operations(
    entity: EntityTable,
    keys: readonly bigint[],
  ): Promise<ReadonlyMap<bigint, Record<string, unknown>>> {
    const rows = await this.#writing.store.query<{ key: bigint; row: Record<string, unknown> }>(
      'SELECT key, row FROM import.operations WHERE name = $1 AND key = ANY($2::bigint[])',
      [entity.table.name, keys],
    )
    return new Map(rows.map(({ key, row }) => [key, decodeRow(row)]))
  }

  #contractRow(scope: string, data: Readonly<Record<string, unknown>>): ContractRow {
    return { scope, data, formats: this.#contractFormats }
  }

  /**
   * Names and types of the attributes, for decoding the data of templates and assets. The format of collection data,
   * `collectionFormat`, is not needed and therefore empty: the handler of collections decodes this data.
   */
  readonly #contractFormats: Formats = {
    collectionFormat: [],
    formatOf: (collection, schema) => this.#formats.get(`${collection}/${schema}`) ?? [],
  }

  #decode(table: ContractTable, value: Uint8Array): Readonly<Record<string, unknown>> {
    const decoder = this.#writing.decoders.get(table.contract)!
    return decoder.decodeRow(table.table, value, 0, value.length) as Readonly<Record<string, unknown>>
  }
}
