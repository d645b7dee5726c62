import type pg from 'pg'
import { unknownValue } from './difference.ts'
import { parseExactly } from './exact-numbers.ts'
import type { Children, Column, ComparedRow, RowValues, VerifiedTable } from '../tables/index.ts'

/** Maximum number of primary keys that one statement reads. */
const KEYS_A_PAGE = 10_000

/** A connection or pool that statements run on. */
export type Queryable = pg.ClientBase | pg.Pool

/** Reads rows of a database table in the form in which they are compared with the chain. */
export class DatabaseRows {
  readonly #table: VerifiedTable
  readonly #database: Queryable
  readonly #collection: string | undefined
  readonly #select: string

  constructor(database: Queryable, table: VerifiedTable, collection?: string) {
    this.#table = table
    this.#database = database
    this.#collection = table.collection === undefined ? undefined : collection
    this.#select = `SELECT ${keySql(table)} AS key, ${valuesSql(table)}::text AS row_values`
  }

  /**
   * Reads the rows with the given keys, without rows that no longer exist on the chain (see `VerifiedTable.where`). If
   * the key has several columns, rows with other combinations of the given values are returned too.
   */
  async read(keys: readonly (readonly string[])[]): Promise<ComparedRow[]> {
    const columns = this.#table.key
    const matches = columns.map(({ name, type }, i) => `t.${name} = ANY($${i + 1}::${type}[])`)
    const values = columns.map((_, i) => [...new Set(keys.map((key) => key[i]!))])
    const { rows } = await this.#database.query<{ key: string[]; row_values: string }>(
      `${this.#select} FROM ${this.#table.from} WHERE ${[...this.#conditions(), ...matches].join(' AND ')}`,
      values,
    )
    return rows.map(parseRow)
  }

  /** Reads the keys of all rows in ascending order, in pages, without rows that no longer exist on the chain. */
  async *keys(): AsyncGenerator<readonly (readonly string[])[]> {
    const columns = this.#table.key
    const names = columns.map(({ name }) => `t.${name}`).join(', ')
    const after = `(${names}) > (${columns.map(({ type }, i) => `$${i + 1}::${type}`).join(', ')})`
    let last: readonly string[] | undefined
    for (;;) {
      const conditions = [...this.#conditions(), ...(last ? [after] : [])]
      const { rows } = await this.#database.query<{ key: string[] }>(
        `SELECT ${keySql(this.#table)} AS key FROM ${this.#table.from} ${whereSql(conditions)}
         ORDER BY ${names} LIMIT ${KEYS_A_PAGE}`,
        [...(last ?? [])],
      )
      if (rows.length > 0) yield rows.map(({ key }) => key)
      if (rows.length < KEYS_A_PAGE) return
      last = rows.at(-1)!.key
    }
  }

  /** Returns the primary keys of about `count` random rows. */
  async sampleKeys(count: number): Promise<string[][]> {
    const { rows: sizes } = await this.#database.query<{ count: bigint }>(
      `SELECT count(*) FROM ${this.#table.from} ${whereSql(this.#conditions())}`,
    )
    const share = Math.min(1, (1.3 * count + 20) / Math.max(1, Number(sizes[0]!.count)))
    const { rows } = await this.#database.query<{ key: string[] }>(
      `SELECT key FROM (SELECT ${keySql(this.#table)} AS key FROM ${this.#table.from}
         ${whereSql([...this.#conditions(), `random() < ${share}`])}) s ORDER BY random() LIMIT ${count}`,
    )
    return rows.map(({ key }) => key)
  }

  #conditions(): string[] {
    const { where, collection } = this.#table
    return [
      ...(where === undefined ? [] : [`(${where})`]),
      ...(this.#collection === undefined ? [] : [`t.${collection!} = ${literal(this.#collection)}`]),
    ]
  }
}

function whereSql(conditions: readonly string[]): string {
  return conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`
}

/** A text as an SQL literal. */
function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}

function parseRow({ key, row_values: text }: { key: string[]; row_values: string }): ComparedRow {
  return { key, values: parseExactly(text) as RowValues }
}

function keySql({ key }: VerifiedTable): string {
  return `ARRAY[${key.map(({ name }) => `t.${name}::text`).join(', ')}]`
}

function valuesSql(table: VerifiedTable): string {
  const members = table.columns.map((column) => `'${column.name}', ${knownSql(table, column)}`)
  return `jsonb_build_object(${members.join(', ')})`
}

function knownSql(table: VerifiedTable, column: Column): string {
  const value = columnSql(table, column)
  return column.unknown === undefined
    ? value
    : `CASE WHEN ${column.unknown} THEN '${JSON.stringify(unknownValue)}' ELSE to_jsonb(${value}) END`
}

function columnSql(table: VerifiedTable, { name, sql, children }: Column): string {
  return children === undefined ? (sql ?? `t.${name}`) : childrenSql(table, children)
}

function childrenSql({ key }: VerifiedTable, { table, by, columns }: Children): string {
  const names = Object.keys(columns)
  const members = names.map((name) => {
    const isLarge = columns[name] === 'bigint' || columns[name] === 'numeric'
    return `'${name}', c.${name}${isLarge ? '::text' : ''}`
  })
  const matches = by.map((name, i) => `c.${name} = t.${key[i]!.name}`)
  return `(SELECT coalesce(jsonb_agg(jsonb_build_object(${members.join(', ')}) ORDER BY c.${names[0]!}), '[]')
    FROM ${table} c ${whereSql(matches)})`
}
