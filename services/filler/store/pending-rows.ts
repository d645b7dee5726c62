import { AppendedRows } from './appended-rows.ts'
import type { ColumnValue, CounterTable, GroupedTable, MutableRow, Table } from '../../core/model/index.ts'

/** Estimated memory overhead of a row, bytes. */
const ROW_BYTES = 160
/** Estimated memory overhead of a value, bytes. */
const VALUE_BYTES = 24
/** Estimated memory overhead of a buffer, bytes. */
const BUFFER_BYTES = 120

/** Map key of a row: the key value if the table has one key column, otherwise the key values joined as text. */
export type RowKey = string | bigint | number

/** Pending operation of a commit unit on one row. */
export interface PendingRow {
  /**
   * `insert`: the row cannot exist. `upsert`: insert, or update all but the `preserved` columns. `replace`: insert, or
   * update all columns, because the unit removed the row before. `patch`: update some columns. `remove`: delete.
   */
  kind: 'insert' | 'upsert' | 'replace' | 'patch' | 'remove'
  /** Full row; for `patch` the key and the changed columns; for `remove` the key. */
  row: MutableRow
  /** Values of preserved columns that a patch of this unit set. The values apply if the row already exists. */
  override?: MutableRow
}

/** Pending operations of a commit unit on one row of a table with history. */
export interface PendingHistory {
  readonly key: MutableRow
  /** First block of this unit that changes the row. The row's current version in the database ends at this block. */
  readonly from: number
  /** Row versions by start block, ascending; null means that the row ends at the block. */
  readonly versions: { readonly block: number; readonly row: MutableRow | null }[]
}

/** The merged operations of a commit unit on one table. */
export interface PendingTable {
  readonly table: Table
  /** Rows of keyed, versioned and counter tables, by key. */
  readonly rows: Map<RowKey, PendingRow>
  /** New rows of a grouped table, by the values of the group columns. */
  readonly groups: Map<RowKey, { readonly group: MutableRow; readonly rows: readonly MutableRow[] }>
  /** Rows of append-only tables, in order. */
  readonly appended: AppendedRows
  /** Row versions of tables with history, by key. */
  readonly histories: Map<RowKey, PendingHistory>
  /**
   * Retention limit: versions that ended at or before this block, and rows of versioned tables below this block, are
   * not stored.
   */
  forgetBefore: number
}

export function emptyPending(table: Table): PendingTable {
  return {
    table,
    rows: new Map(),
    groups: new Map(),
    appended: new AppendedRows(),
    histories: new Map(),
    forgetBefore: 0,
  }
}

/** Estimated memory of a pending row, in bytes. */
export function rowBytes(row: Readonly<MutableRow>): number {
  let bytes = ROW_BYTES
  for (const column in row) bytes += valueBytes(row[column])
  return bytes
}

/** Estimated growth of a row in bytes if the columns change. */
export function changedBytes(row: Readonly<MutableRow>, changes: Readonly<MutableRow>): number {
  let bytes = 0
  for (const column in changes) bytes += valueBytes(changes[column]) - valueBytes(row[column])
  return bytes
}

function valueBytes(value: ColumnValue | undefined): number {
  switch (typeof value) {
    case 'string':
      return VALUE_BYTES + value.length
    case 'object':
      if (value === null) return 0
      if (value instanceof Uint8Array) return BUFFER_BYTES + value.byteLength
      return arrayBytes(value)
    default:
      return VALUE_BYTES
  }
}

function arrayBytes(values: readonly (string | bigint)[]): number {
  let bytes = VALUE_BYTES
  for (const value of values) bytes += VALUE_BYTES + (typeof value === 'string' ? value.length : 0)
  return bytes
}

/** Map key of a row, from its key columns. */
export function rowKey(columns: readonly string[], row: Readonly<MutableRow>): RowKey {
  if (columns.length === 1) return row[columns[0]!] as RowKey
  let key = ''
  for (const column of columns) key += `${String(row[column])}\u0001`
  return key
}

/** Merges an insert. After a removal in the same unit, the insert becomes a `replace`. */
export function mergeInsert(rows: Map<RowKey, PendingRow>, key: RowKey, row: MutableRow): void {
  const pending = rows.get(key)
  rows.set(key, { kind: pending === undefined ? 'insert' : 'replace', row })
}

/**
 * Merges an upsert. Preserved columns of an earlier patch go to `override`, and apply only if the row already exists.
 */
export function mergeUpsert(
  rows: Map<RowKey, PendingRow>,
  key: RowKey,
  row: MutableRow,
  preserved: readonly string[],
): void {
  const pending = rows.get(key)
  if (pending === undefined || pending.kind === 'patch') {
    const override = pending ? pickColumns(pending.row, preserved) : undefined
    rows.set(key, { kind: 'upsert', row: { ...row }, ...(override ? { override } : {}) })
    return
  }
  if (pending.kind === 'remove') {
    rows.set(key, { kind: 'replace', row })
    return
  }
  for (const column in row) if (!preserved.includes(column)) pending.row[column] = row[column]!
}

/** Merges changed columns into the pending operation on the row. */
export function mergePatch(pending: PendingRow, changes: MutableRow, preserved: readonly string[]): void {
  if (pending.kind === 'remove') return
  Object.assign(pending.row, changes)
  if (pending.kind === 'upsert' && preserved.length > 0) {
    const override = pickColumns(changes, preserved)
    if (override) pending.override = { ...pending.override, ...override }
  }
}

/** Merges counter increments by adding them up. */
export function mergeCounts(
  rows: Map<RowKey, PendingRow>,
  table: CounterTable<object>,
  key: RowKey,
  row: MutableRow,
): void {
  const pending = rows.get(key)
  if (pending === undefined) {
    rows.set(key, { kind: 'upsert', row })
    return
  }
  for (const column of table.counts as readonly string[]) {
    pending.row[column] = (pending.row[column] as bigint) + (row[column] as bigint)
  }
}

/**
 * Replaces the pending rows of one group. A group is the rows of a grouped table with the same values in the columns
 * `table.group`.
 */
export function mergeGroup(
  pending: PendingTable,
  table: GroupedTable<object>,
  group: MutableRow,
  rows: readonly MutableRow[],
): void {
  pending.groups.set(rowKey(table.group, group), { group, rows })
}

/** Adds a row version from a block on. A later version of the same block replaces an earlier one. */
export function mergeVersion(
  pending: PendingTable,
  keyColumns: Readonly<MutableRow>,
  block: number,
  row: MutableRow | null,
): void {
  const key = rowKey(pending.table.key, keyColumns)
  const history = pending.histories.get(key)
  if (history === undefined) {
    pending.histories.set(key, { key: keyColumns, from: block, versions: [{ block, row }] })
    return
  }
  // Drop versions outside the retained range at once: during catch-up a row may change thousands of times in one unit.
  if (block <= pending.forgetBefore) history.versions.length = 0
  else if (history.versions.at(-1)?.block === block) history.versions.pop()
  history.versions.push({ block, row })
}

function pickColumns(row: Readonly<MutableRow>, columns: readonly string[]): MutableRow | undefined {
  let picked: MutableRow | undefined
  for (const column of columns) {
    const value = row[column]
    if (value !== undefined) (picked ??= {})[column] = value
  }
  return picked
}
