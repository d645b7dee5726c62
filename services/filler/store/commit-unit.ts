import type { Derivation, DerivedKey, KeyOf, RowSink } from '../rows/operations.ts'
import {
  changedBytes,
  emptyPending,
  mergeCounts,
  mergeGroup,
  mergeInsert,
  mergePatch,
  mergeUpsert,
  mergeVersion,
  rowBytes,
  rowKey,
} from './pending-rows.ts'
import type { PendingRow, PendingTable, RowKey } from './pending-rows.ts'
import type {
  AppendTable,
  CounterTable,
  GroupedTable,
  HistoryTable,
  KeyedTable,
  MutableRow,
  Table,
  VersionedTable,
} from '../../core/model/index.ts'

/** Number, id and time of a block. */
export interface UnitBlock {
  readonly num: number
  /** Block id, 32 bytes. */
  readonly id: Uint8Array
  /** Block time in epoch milliseconds. */
  readonly timeMs: number
}

/**
 * Merged row operations of one or more whole blocks, written in one transaction. A unit of reversible blocks has
 * exactly one block, because the undo journal stores old rows by block.
 */
export class CommitUnit implements RowSink {
  readonly tables = new Map<Table, PendingTable>()
  readonly rechecks = new Map<Derivation, Set<DerivedKey>>()
  /** Number of row operations that the unit has received, before merging. */
  operations = 0
  /** Estimated memory of the merged rows, in bytes. */
  bytes = 0
  /** Number of blocks in the unit. */
  blocks = 0
  last: UnitBlock | null = null
  /** Lowest global sequence appended to an append-only table, or null. */
  firstSeq: bigint | null = null
  /** Whether a fork may still undo the blocks of the unit. */
  readonly reversible: boolean

  constructor(reversible: boolean) {
    this.reversible = reversible
  }

  /** Counts a block whose operations are complete. The block becomes the last block of the unit. */
  closeBlock(block: UnitBlock): void {
    this.blocks++
    this.last = block
  }

  /** Number of rows to write or remove, by table. Final once the unit takes no more operations. */
  rowCounts(): Map<string, number> {
    const counts = new Map<string, number>()
    for (const [table, { rows, groups, appended }] of this.tables) {
      let count = rows.size + appended.count
      for (const group of groups.values()) count += group.rows.length
      counts.set(table.name, count)
    }
    return counts
  }

  insert<R extends object>(table: KeyedTable<R>, row: R): void {
    const values = row as unknown as MutableRow
    this.bytes += rowBytes(values)
    mergeInsert(this.#pending(table as unknown as Table).rows, rowKey(table.key, values), values)
  }

  upsert<R extends object>(table: KeyedTable<R> | VersionedTable<R>, row: R): void {
    const values = row as unknown as MutableRow
    const rows = this.#pending(table as unknown as Table).rows
    const key = rowKey(table.key, values)
    // This unit already contains the row with an earlier start block. The table stores the earliest start block of a
    // row.
    if (table.kind === 'versioned' && !table.replaces && rows.has(key)) return
    this.#grow(rows, key, values)
    mergeUpsert(rows, key, values, table.kind === 'keyed' ? table.preserved : [])
  }

  patch<R extends object>(table: KeyedTable<R>, key: KeyOf<R>, changes: Partial<R>): void {
    const keyColumns = key as unknown as MutableRow
    const columns = changes as unknown as MutableRow
    const rows = this.#pending(table as unknown as Table).rows
    const id = rowKey(table.key, keyColumns)
    const known = rows.get(id)
    if (known === undefined) {
      this.bytes += rowBytes(columns)
      rows.set(id, { kind: 'patch', row: Object.assign(columns, keyColumns) })
    } else {
      this.bytes += changedBytes(known.row, columns)
      mergePatch(known, columns, table.preserved)
    }
  }

  remove<R extends object>(table: KeyedTable<R>, key: KeyOf<R>): void {
    const keyColumns = key as unknown as MutableRow
    this.#pending(table as unknown as Table).rows.set(rowKey(table.key, keyColumns), {
      kind: 'remove',
      row: keyColumns,
    })
  }

  replaceGroup<R extends object>(table: GroupedTable<R>, group: KeyOf<R>, rows: readonly R[]): void {
    const values = rows as unknown as readonly MutableRow[]
    for (const row of values) this.bytes += rowBytes(row)
    mergeGroup(
      this.#pending(table as unknown as Table),
      table as unknown as GroupedTable<object>,
      group as unknown as MutableRow,
      values,
    )
  }

  add<R extends object>(table: CounterTable<R>, increments: R): void {
    const values = increments as unknown as MutableRow
    const rows = this.#pending(table as unknown as Table).rows
    const before = rows.size
    mergeCounts(rows, table as unknown as CounterTable<object>, rowKey(table.key, values), values)
    if (rows.size > before) this.bytes += rowBytes(values)
  }

  append<R extends object>(table: AppendTable<R>, row: R): void {
    const values = row as unknown as MutableRow
    const seq = values[table.key[0]!] as bigint
    if (this.firstSeq === null || seq < this.firstSeq) this.firstSeq = seq
    this.bytes += this.#pending(table as unknown as Table).appended.push(values, seq)
  }

  version<R extends { since_block: number }>(table: HistoryTable<R>, row: R): void {
    const values = row as unknown as MutableRow
    this.bytes += rowBytes(values)
    mergeVersion(this.#pending(table as unknown as Table), values, row.since_block, values)
  }

  end<R extends { since_block: number }>(table: HistoryTable<R>, key: KeyOf<R>, block: number): void {
    const keyColumns = key as unknown as MutableRow
    this.bytes += rowBytes(keyColumns)
    mergeVersion(this.#pending(table as unknown as Table), keyColumns, block, null)
  }

  forget<R extends object>(table: HistoryTable<R> | VersionedTable<R>, before: number): void {
    const pending = this.#pendingOf(table as unknown as Table)
    pending.forgetBefore = Math.max(pending.forgetBefore, before)
  }

  recheck(derivation: Derivation, key: DerivedKey): void {
    const keys = this.rechecks.get(derivation)
    if (keys) keys.add(key)
    else this.rechecks.set(derivation, new Set([key]))
  }

  #grow(rows: ReadonlyMap<RowKey, PendingRow>, key: RowKey, changes: MutableRow): void {
    const known = rows.get(key)
    this.bytes += known === undefined ? rowBytes(changes) : changedBytes(known.row, changes)
  }

  #pending(table: Table): PendingTable {
    this.operations++
    return this.#pendingOf(table)
  }

  #pendingOf(table: Table): PendingTable {
    let pending = this.tables.get(table)
    if (!pending) {
      pending = emptyPending(table)
      this.tables.set(table, pending)
    }
    return pending
  }
}
