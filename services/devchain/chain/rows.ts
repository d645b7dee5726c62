import type { Journal } from './journal.ts'

/** A contract row. `serial` increases with every creation, like the internal id in a node's database. */
export interface ContractRow {
  readonly table: ContractTable
  readonly primaryKey: bigint
  readonly serial: number
  payer: bigint
  value: Buffer
}

/** Rows of one (code, scope, table); names and scope are unsigned 64-bit values. */
export interface ContractTable {
  readonly code: bigint
  readonly scope: bigint
  readonly table: bigint
  readonly rows: Map<bigint, ContractRow>
  /** Primary keys in ascending order; null if they must be sorted again. */
  sortedKeys: bigint[] | null
}

/** Full key of a row. */
interface RowKey {
  readonly code: bigint
  readonly scope: bigint
  readonly table: bigint
  readonly primaryKey: bigint
}

/** State of a row before the current block. */
export interface RowImage {
  readonly row: ContractRow
  readonly payer: bigint
  readonly value: Buffer
}

/** Rows that a block changed, in order of their first change. */
export interface RowChanges {
  readonly created: Map<number, ContractRow>
  readonly modified: Map<number, RowImage>
  readonly removed: RowImage[]
}

/**
 * All contract rows of the chain by (code, scope, table, primary key). Values stay packed: this class knows no ABIs.
 */
export class ContractRows {
  readonly #tables = new Map<string, ContractTable>()
  readonly #journal: Journal
  #nextSerial = 1
  #changes: RowChanges | null = null

  constructor(journal: Journal) {
    this.#journal = journal
  }

  /** A table, also if all its rows were removed; undefined if the table never had a row. */
  table(code: bigint, scope: bigint, table: bigint): ContractTable | undefined {
    return this.#tables.get(tableKey(code, scope, table))
  }

  /** All tables that ever had a row. */
  tables(): IterableIterator<ContractTable> {
    return this.#tables.values()
  }

  /** A row; undefined if it does not exist. */
  row(code: bigint, scope: bigint, table: bigint, primaryKey: bigint): ContractRow | undefined {
    return this.table(code, scope, table)?.rows.get(primaryKey)
  }

  /** Starts collecting the changes of rows; `takeChanges` returns them. */
  collectChanges(): void {
    this.#changes = { created: new Map(), modified: new Map(), removed: [] }
  }

  /** Returns the changes since `collectChanges`, and stops collecting. */
  takeChanges(): RowChanges {
    const changes = this.#changes ?? { created: new Map(), modified: new Map(), removed: [] }
    this.#changes = null
    return changes
  }

  /** Creates or replaces a row. The caller must not modify `value` afterwards. */
  put(key: RowKey, payer: bigint, value: Buffer): void {
    const owner = this.#tableFor(key.code, key.scope, key.table)
    const row = owner.rows.get(key.primaryKey)
    if (row === undefined) this.#create(owner, key.primaryKey, payer, value)
    else this.#modify(row, payer, value)
  }

  /** Removes and returns a row; undefined if it does not exist. */
  erase(code: bigint, scope: bigint, table: bigint, primaryKey: bigint): ContractRow | undefined {
    const owner = this.table(code, scope, table)
    const row = owner?.rows.get(primaryKey)
    if (owner === undefined || row === undefined) return undefined
    this.#noteRemoval(row)
    unlink(row)
    this.#journal.record(() => link(row))
    return row
  }

  #create(table: ContractTable, primaryKey: bigint, payer: bigint, value: Buffer): void {
    const row: ContractRow = { table, primaryKey, serial: this.#nextSerial++, payer, value }
    link(row)
    this.#changes?.created.set(row.serial, row)
    this.#journal.record(() => unlink(row))
  }

  #modify(row: ContractRow, payer: bigint, value: Buffer): void {
    const before: RowImage = { row, payer: row.payer, value: row.value }
    if (this.#changes && !this.#changes.created.has(row.serial) && !this.#changes.modified.has(row.serial)) {
      this.#changes.modified.set(row.serial, before)
    }
    row.payer = payer
    row.value = value
    this.#journal.record(() => {
      row.payer = before.payer
      row.value = before.value
    })
  }

  #noteRemoval(row: ContractRow): void {
    if (this.#changes === null || this.#changes.created.delete(row.serial)) return
    const before = this.#changes.modified.get(row.serial) ?? { row, payer: row.payer, value: row.value }
    this.#changes.modified.delete(row.serial)
    this.#changes.removed.push(before)
  }

  #tableFor(code: bigint, scope: bigint, table: bigint): ContractTable {
    const key = tableKey(code, scope, table)
    let found = this.#tables.get(key)
    if (found === undefined) {
      found = { code, scope, table, rows: new Map(), sortedKeys: null }
      this.#tables.set(key, found)
    }
    return found
  }
}

/** Primary keys of a table, ascending. */
export function sortedKeys(table: ContractTable): bigint[] {
  table.sortedKeys ??= [...table.rows.keys()].sort((a, b) => (a < b ? -1 : 1))
  return table.sortedKeys
}

function link(row: ContractRow): void {
  row.table.rows.set(row.primaryKey, row)
  row.table.sortedKeys = null
}

function unlink(row: ContractRow): void {
  row.table.rows.delete(row.primaryKey)
  row.table.sortedKeys = null
}

const keyBytes = Buffer.alloc(24)
const keyView = new DataView(keyBytes.buffer, keyBytes.byteOffset, 24)

/** Map key of 24 raw bytes as a string: cheaper than three nested maps or formatted names. */
function tableKey(code: bigint, scope: bigint, table: bigint): string {
  keyView.setBigUint64(0, code, true)
  keyView.setBigUint64(8, scope, true)
  keyView.setBigUint64(16, table, true)
  return keyBytes.toString('latin1')
}
