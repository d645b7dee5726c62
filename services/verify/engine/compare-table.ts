import { FatalError } from '../../core/errors/index.ts'
import type { Formats } from '../../core/model/contract/index.ts'
import type { ChainSource } from '../sources/index.ts'
import type { ComparedRow, Place, VerifiedTable } from '../tables/index.ts'
import { labelOf, placesOf } from '../tables/index.ts'
import { DatabaseRows } from './database-rows.ts'
import type { Queryable } from './database-rows.ts'
import { byKey, differenceOf } from './difference.ts'
import type { Sides } from './difference.ts'
import { keyText, KeySet } from './key-set.ts'

/** Maximum number of chain rows that are compared at a time. */
const ROWS_AT_ONCE = 1_000
/** Maximum number of differing rows of one table. With more, the whole table is wrong, and the comparison fails. */
const MAX_SUSPECTS = 100_000

/** A row that differs between chain and database, perhaps only because it changed between the two reads. */
export interface Suspect extends Sides {
  readonly table: VerifiedTable
  readonly contract: string
  /** Scopes and primary keys at which the chain may have the row. */
  readonly places: readonly Place[]
}

export interface CompareOptions {
  readonly database: Queryable
  readonly source: ChainSource
  readonly table: VerifiedTable
  readonly contract: string
  readonly context: Formats
  readonly collection?: string
  readonly sample?: number
  /** Called after each batch with the number of compared chain rows since the last call. */
  readonly onRows: (count: number) => void
  readonly signal: AbortSignal
}

/** Result of comparing a table once. */
export interface Compared {
  /** Number of compared rows: all rows of the chain, or a random sample. */
  readonly rows: number
  readonly suspects: readonly Suspect[]
}

/**
 * Compares a table with the chain once. If the rows of the source are not as of one block (`isFixed` is false), a row
 * may differ only because it changed between the reads of the chain and of the database.
 */
export async function compareTable(options: CompareOptions): Promise<Compared> {
  return new TableComparison(options).run()
}

class TableComparison {
  readonly #options: CompareOptions
  readonly #rows: DatabaseRows
  readonly #seen: KeySet
  readonly #suspects = new Map<string, Suspect>()
  #count = 0

  constructor(options: CompareOptions) {
    this.#options = options
    this.#rows = new DatabaseRows(options.database, options.table, options.collection)
    this.#seen = new KeySet(options.table)
  }

  async run(): Promise<Compared> {
    if (this.#options.sample !== undefined) await this.#sample(this.#options.sample)
    else {
      await this.#chainRows(null)
      await this.#extraRows()
    }
    return { rows: this.#count, suspects: [...this.#suspects.values()] }
  }

  /** Compares every row of the chain, or only the rows with the given primary keys. */
  async #chainRows(wanted: ReadonlySet<string> | null): Promise<void> {
    const { source, table, contract, context, collection } = this.#options
    const scope = table.scopedByCollection ? collection : undefined
    let batch: ComparedRow[] = []
    for await (const rows of source.rows(contract, table.contractTable, scope)) {
      this.#options.signal.throwIfAborted()
      const expected = rows
        .map((row) => table.expect(row, context))
        .filter((row) => this.#isWanted(row, wanted))
      batch.push(...expected)
      if (batch.length < ROWS_AT_ONCE) continue
      await this.#compare(batch)
      batch = []
    }
    await this.#compare(batch)
  }

  #isWanted({ key, values }: ComparedRow, wanted: ReadonlySet<string> | null): boolean {
    const { table, collection } = this.#options
    if (wanted !== null && !wanted.has(keyText(key))) return false
    if (collection === undefined) return true
    const column = table.collection!
    const place = table.key.findIndex(({ name }) => name === column)
    return (place === -1 ? values[column] : key[place]) === collection
  }

  async #compare(expected: readonly ComparedRow[]): Promise<void> {
    if (expected.length === 0) return
    const found = byKey(await this.#rows.read(expected.map(({ key }) => key)))
    for (const { key, values } of expected) {
      this.#seen.add(key)
      this.#note(key, values, found.get(keyText(key))?.values ?? null)
    }
    this.#count += expected.length
    this.#options.onRows(expected.length)
  }

  /** Finds rows of the database that the chain does not have. */
  async #extraRows(): Promise<void> {
    if (!this.#options.source.isWhole) return
    for await (const keys of this.#rows.keys()) {
      this.#options.signal.throwIfAborted()
      await this.#extra(keys.filter((key) => !this.#seen.has(key)))
    }
  }

  async #extra(keys: readonly (readonly string[])[]): Promise<void> {
    if (keys.length === 0) return
    for (const { key, values } of await this.#rows.read(keys))
      if (!this.#seen.has(key)) this.#note(key, null, values)
  }

  async #sample(count: number): Promise<void> {
    const { source, table, contract, context } = this.#options
    const keys = await this.#rows.sampleKeys(count)
    if (source.isFixed) {
      await this.#chainRows(new Set(keys.map(keyText)))
      if (source.isWhole) await this.#extra(keys.filter((key) => !this.#seen.has(key)))
      return
    }
    for (let from = 0; from < keys.length; from += ROWS_AT_ONCE) {
      const found = await this.#rows.read(keys.slice(from, from + ROWS_AT_ONCE))
      await Promise.all(
        found.map(async ({ key, values }) => {
          this.#options.signal.throwIfAborted()
          const [place] = placesOf(table, { key, values, contract })
          const row = place === undefined ? null : await source.row(contract, table.contractTable, place)
          this.#note(key, row === null ? null : table.expect(row, context).values, values)
          this.#count++
          this.#options.onRows(1)
        }),
      )
    }
  }

  #note(key: readonly string[], chain: Sides['chain'], database: Sides['database']): void {
    const { table, contract } = this.#options
    if (differenceOf(table, { key, chain, database }) === null) return
    const name = keyText(key)
    const before = this.#suspects.get(name)
    if (before === undefined && this.#suspects.size >= MAX_SUSPECTS) {
      throw new FatalError(
        'DATABASE_DIFFERS',
        `more than ${MAX_SUSPECTS} rows of ${labelOf(table)} differ; the rest was not compared`,
      )
    }
    const places = [chain, database].flatMap((values) =>
      values === null ? [] : placesOf(table, { key, values, contract }),
    )
    this.#suspects.set(name, {
      table,
      contract,
      key,
      chain,
      database,
      places: [...(before?.places ?? []), ...places],
    })
  }
}
