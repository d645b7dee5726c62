import type pg from 'pg'
import { copyLine, copyLines } from './copy.ts'
import { toDatabaseText } from './layout.ts'
import type { Column, TableLayout } from './layout.ts'
import type { MutableRow } from '../../core/model/index.ts'

/** Number of rows from which COPY to a staging table is faster than parameters. */
const COPY_ROWS = 100
/** A partition holds 2^33 global sequences; `chain.ensure_partition` uses the same size. */
const PARTITION_BITS = 33n

/** Rows as a source for statements: `sql` is a FROM item with the columns' names, `values` its parameters. */
export interface RowSource {
  readonly sql: string
  readonly values: readonly (readonly (string | null)[])[]
}

/** The only connection that writes for a reader, with its prepared statements and staging tables. */
export class WriterSession {
  readonly client: pg.Client
  readonly #statements = new Map<string, string>()
  readonly #stages = new Set<string>()
  /** Partitions that are known to exist. */
  readonly #partitions = new Set<string>()
  #stageGroup = 0

  constructor(client: pg.Client) {
    this.client = client
  }

  /** Runs a statement, prepared once per text. Returns the number of affected rows. */
  async run(text: string, values: readonly unknown[] = []): Promise<number> {
    const result = await this.client.query(this.#prepared(text, values))
    return result.rowCount ?? 0
  }

  /** Runs a query, prepared once per text, and returns its rows. */
  async select<T extends object>(text: string, values: readonly unknown[]): Promise<T[]> {
    const result = await this.client.query<T>(this.#prepared(text, values))
    return result.rows
  }

  #prepared(text: string, values: readonly unknown[]): pg.QueryConfig {
    let name = this.#statements.get(text)
    if (name === undefined) {
      name = `s${this.#statements.size}`
      this.#statements.set(text, name)
    }
    return { name, text, values: [...values] }
  }

  /** Inserts rows into a table, by COPY if there are many. */
  async addRows(name: string, columns: readonly Column[], rows: readonly MutableRow[]): Promise<void> {
    if (rows.length === 0) return
    const names = columns.map((column) => column.name)
    if (rows.length >= COPY_ROWS) {
      return copyLines(
        this.client,
        name,
        names,
        mapLines(rows, (row) => copyLine(names, row)),
      )
    }
    const source = asParameters(columns, rows)
    const list = names.map((column) => `"${column}"`).join(', ')
    await this.runOver(source, `INSERT INTO ${name} (${list}) SELECT ${list} FROM ${source.sql} s`)
  }

  /** Appends rows that are already COPY text. */
  async copyPacked(name: string, columns: readonly string[], packed: readonly Buffer[]): Promise<void> {
    await copyLines(this.client, name, columns, packed)
  }

  /** Makes rows available to a statement: few rows as parameters, many rows in the staging table. */
  async offer(
    layout: TableLayout,
    columns: readonly Column[],
    rows: readonly MutableRow[],
  ): Promise<RowSource> {
    return rows.length < COPY_ROWS ? asParameters(columns, rows) : this.#stage(layout, columns, rows)
  }

  async #stage(
    layout: TableLayout,
    columns: readonly Column[],
    rows: readonly MutableRow[],
  ): Promise<RowSource> {
    if (!this.#stages.has(layout.stage)) {
      await this.client.query(
        `CREATE TEMP TABLE IF NOT EXISTS ${layout.stage} ON COMMIT DELETE ROWS AS
         SELECT 0::integer AS stage_group, t.* FROM ${layout.table.name} t WITH NO DATA`,
      )
      this.#stages.add(layout.stage)
    }
    const group = ++this.#stageGroup
    const names = columns.map((column) => column.name)
    const lines = mapLines(rows, (row) => `${group}\t${copyLine(names, row)}`)
    await copyLines(this.client, layout.stage, ['stage_group', ...names], lines)
    const list = names.map((name) => `"${name}"`).join(', ')
    return { sql: `(SELECT ${list} FROM ${layout.stage} WHERE stage_group = ${group})`, values: [] }
  }

  /**
   * Runs a statement over a row source. A statement over staged rows is not prepared: its text contains the number of
   * the staging group, so the statement runs only once.
   */
  async runOver(source: RowSource, text: string, values: readonly unknown[] = []): Promise<number> {
    if (source.values.length > 0) return this.run(text, [...source.values, ...values])
    const result = await this.client.query(text, [...values])
    return result.rowCount ?? 0
  }

  /** Runs a statement over a row source, like `runOver`, and returns the rows. */
  async selectOver<T extends object>(source: RowSource, text: string): Promise<T[]> {
    if (source.values.length > 0) return this.select<T>(text, source.values)
    const result = await this.client.query<T>(text)
    return result.rows
  }

  /** Creates the missing partitions of an append-only table for a range of global sequences. */
  async ensurePartitions(table: string, low: bigint, high: bigint): Promise<void> {
    for (const seq of [low, high]) {
      const partition = `${table} ${seq >> PARTITION_BITS}`
      if (this.#partitions.has(partition)) continue
      await this.run('SELECT chain.ensure_partition($1::regclass, $2)', [table, seq])
      this.#partitions.add(partition)
    }
  }

  /** Forgets created tables after an aborted transaction, which rolled their creation back. */
  forgetTables(): void {
    this.#stages.clear()
    this.#partitions.clear()
  }
}

function asParameters(columns: readonly Column[], rows: readonly MutableRow[]): RowSource {
  const arrays = columns.map((_, i) => `$${i + 1}::text[]`).join(', ')
  const names = columns.map((_, i) => `x${i}`).join(', ')
  const list = columns.map((column, i) => `x${i}::${column.type} AS "${column.name}"`).join(', ')
  return {
    sql: `(SELECT ${list} FROM unnest(${arrays}) AS u(${names}))`,
    values: columns.map((column) => rows.map((row) => toDatabaseText(row[column.name]))),
  }
}

function* mapLines(rows: readonly MutableRow[], toLine: (row: MutableRow) => string): Generator<string> {
  for (const row of rows) yield toLine(row)
}
