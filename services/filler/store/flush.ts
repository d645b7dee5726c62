import type { AppendedRows } from './appended-rows.ts'
import { writeHistory } from './history.ts'
import { journalRows } from './journal.ts'
import type { Column, TableLayout } from './layout.ts'
import type { PendingRow, PendingTable } from './pending-rows.ts'
import type { WriterSession } from './session.ts'
import type { CounterTable, MutableRow, VersionedTable } from '../../core/model/index.ts'

/**
 * Writes the merged operations of one table.
 * @param undoBlock block under which the undo journal first records the old rows; null for none.
 */
export async function flushTable(
  session: WriterSession,
  layout: TableLayout,
  pending: PendingTable,
  undoBlock: number | null,
): Promise<void> {
  if (undoBlock !== null && layout.undoTable !== null) {
    const identities =
      pending.groups.size > 0 ? [...pending.groups.values()].map((entry) => entry.group) : rowsOf(pending)
    await journalRows(session, layout, identities, undoBlock)
  }
  switch (layout.table.kind) {
    case 'append':
      return appendRows(session, layout, pending.appended)
    case 'counter':
      return addCounts(session, layout, layout.table, rowsOf(pending))
    case 'grouped':
      return replaceGroups(session, layout, pending)
    case 'versioned':
      return writeVersions(session, layout, layout.table, rowsOf(pending))
    case 'history':
      return writeHistory(session, layout, pending)
    case 'keyed':
      return writeKeyed(session, layout, pending)
  }
}

function rowsOf(pending: PendingTable): MutableRow[] {
  return Array.from(pending.rows.values(), (entry) => entry.row)
}

async function appendRows(
  session: WriterSession,
  layout: TableLayout,
  appended: AppendedRows,
): Promise<void> {
  if (appended.count === 0) return
  await session.ensurePartitions(layout.table.name, appended.low, appended.high)
  if (appended.packed.length > 0)
    await session.copyPacked(layout.table.name, appended.columns, appended.packed)
  await session.addRows(layout.table.name, layout.columns, appended.rows)
}

async function addCounts(
  session: WriterSession,
  layout: TableLayout,
  table: CounterTable<object>,
  rows: readonly MutableRow[],
): Promise<void> {
  const counts = table.counts as readonly string[]
  const changed = rows.filter((row) => counts.some((column) => row[column] !== 0n))
  if (changed.length === 0) return
  const source = await session.offer(layout, layout.columns, changed)
  const sums = counts.map((column) => `"${column}" = t."${column}" + EXCLUDED."${column}"`).join(', ')
  const isNothing = counts.map((column) => `t."${column}" = 0`).join(' AND ')
  const fallen = await session.runOver(
    source,
    `WITH t AS (INSERT INTO ${table.name} AS t (${list(layout.columns)}) SELECT ${list(layout.columns)} FROM ${source.sql} s
       ON CONFLICT (${names(table.key)}) DO UPDATE SET ${sums} RETURNING ${counts.map((column) => `t."${column}"`).join(', ')})
     SELECT FROM t WHERE ${isNothing}`,
  )
  if (fallen === 0) return
  const keys = await session.offer(layout, keyColumns(layout), changed)
  await session.runOver(
    keys,
    `DELETE FROM ${table.name} t USING ${keys.sql} s WHERE ${matches(table.key)} AND ${isNothing}`,
  )
}

async function replaceGroups(
  session: WriterSession,
  layout: TableLayout,
  pending: PendingTable,
): Promise<void> {
  const groups = [...pending.groups.values()]
  const columns = layout.columns.filter((column) => layout.identity.includes(column.name))
  const source = await session.offer(
    layout,
    columns,
    groups.map((entry) => entry.group),
  )
  await session.runOver(
    source,
    `DELETE FROM ${layout.table.name} t USING ${source.sql} s WHERE ${matches(layout.identity)}`,
  )
  await session.addRows(
    layout.table.name,
    layout.columns,
    groups.flatMap((entry) => entry.rows),
  )
}

async function writeVersions(
  session: WriterSession,
  layout: TableLayout,
  table: VersionedTable<object>,
  rows: readonly MutableRow[],
): Promise<void> {
  const source = await session.offer(layout, layout.columns, rows)
  const rest = layout.columns.filter((column) => !(table.key as readonly string[]).includes(column.name))
  const update = `UPDATE SET ${assignments(rest, 'EXCLUDED')}`
  const action = table.shared
    ? `${update} WHERE ${sharedCondition(table)}`
    : table.replaces
      ? update
      : 'NOTHING'
  // Insert in key order: two readers that write the same rows then lock the rows in the same order and cannot deadlock.
  await session.runOver(
    source,
    `INSERT INTO ${table.name} AS t (${list(layout.columns)}) SELECT ${list(layout.columns)} FROM ${source.sql} s
     ORDER BY ${names(table.key)} ON CONFLICT (${names(table.key)}) DO ${action}`,
  )
}

/**
 * SQL condition under which a new row takes the place of the stored row with the same key, in a table that several
 * readers share:
 * - In a table with `replaces`: the stored row belongs to the writing reader, or a fork may still undo the stored row.
 * - In another shared table: the new row has a smaller version, for example an earlier start block.
 */
function sharedCondition(table: VersionedTable<object>): string {
  const version = `"${String(table.version)}"`
  if (!table.replaces) return `EXCLUDED.${version} < t.${version}`
  return `t.reader = EXCLUDED.reader OR t.${version} > coalesce(
    (SELECT min(b.block_num) FROM chain.reversible_blocks b WHERE b.reader = t.reader), 0)`
}

async function writeKeyed(session: WriterSession, layout: TableLayout, pending: PendingTable): Promise<void> {
  const table = layout.table
  const preserved: readonly string[] = table.kind === 'keyed' ? table.preserved : []
  const sorted = sortByKind(pending.rows.values(), table.key)
  await removeRows(session, layout, sorted.removed)
  await session.addRows(layout.table.name, layout.columns, sorted.inserted)
  for (const rows of groupByColumns(sorted.patched))
    await patchRows(session, layout, sortByKey(rows, table.key[0]!))
  await upsertRows(session, layout, sorted.upserted, preserved)
  await upsertRows(session, layout, sorted.replaced, [])
}

interface SortedRows {
  inserted: MutableRow[]
  upserted: MutableRow[]
  replaced: MutableRow[]
  patched: MutableRow[]
  removed: MutableRow[]
}

function sortByKind(entries: Iterable<PendingRow>, key: readonly string[]): SortedRows {
  const sorted: SortedRows = { inserted: [], upserted: [], replaced: [], patched: [], removed: [] }
  for (const entry of entries) {
    if (entry.kind === 'insert') sorted.inserted.push(entry.row)
    else if (entry.kind === 'upsert') sorted.upserted.push(entry.row)
    else if (entry.kind === 'replace') sorted.replaced.push(entry.row)
    else if (entry.kind === 'patch') sorted.patched.push(entry.row)
    else sorted.removed.push(entry.row)
    if (entry.override) sorted.patched.push({ ...pickKey(entry.row, key), ...entry.override })
  }
  return sorted
}

function pickKey(row: Readonly<MutableRow>, key: readonly string[]): MutableRow {
  return Object.fromEntries(key.map((column) => [column, row[column]!]))
}

async function removeRows(
  session: WriterSession,
  layout: TableLayout,
  rows: readonly MutableRow[],
): Promise<void> {
  if (rows.length === 0) return
  const source = await session.offer(layout, keyColumns(layout), rows)
  await session.runOver(
    source,
    `DELETE FROM ${layout.table.name} t USING ${source.sql} s WHERE ${matches(layout.table.key)}`,
  )
}

async function upsertRows(
  session: WriterSession,
  layout: TableLayout,
  rows: readonly MutableRow[],
  preserved: readonly string[],
): Promise<void> {
  if (rows.length === 0) return
  const source = await session.offer(layout, layout.columns, rows)
  const key: readonly string[] = layout.table.key
  const rest = layout.columns.filter(
    (column) => !key.includes(column.name) && !preserved.includes(column.name),
  )
  await session.runOver(
    source,
    `INSERT INTO ${layout.table.name} (${list(layout.columns)}) SELECT ${list(layout.columns)} FROM ${source.sql} s
     ON CONFLICT (${names(key)}) DO ${rest.length > 0 ? `UPDATE SET ${assignments(rest, 'EXCLUDED')}` : 'NOTHING'}`,
  )
}

/** Groups rows that change the same columns: each group needs one statement. */
function groupByColumns(rows: readonly MutableRow[]): MutableRow[][] {
  const groups = new Map<string, MutableRow[]>()
  for (const row of rows) {
    const mask = Object.keys(row).sort().join(',')
    const group = groups.get(mask)
    if (group) group.push(row)
    else groups.set(mask, [row])
  }
  return [...groups.values()]
}

/** Sorts the rows by key, so that updates of adjacent rows visit each page of the table once. */
function sortByKey(rows: MutableRow[], column: string): MutableRow[] {
  return rows.sort((a, b) => {
    const [left, right] = [a[column]!, b[column]!]
    return left < right ? -1 : left > right ? 1 : 0
  })
}

async function patchRows(
  session: WriterSession,
  layout: TableLayout,
  rows: readonly MutableRow[],
): Promise<void> {
  const key: readonly string[] = layout.table.key
  const columns = layout.columns.filter((column) => column.name in rows[0]!)
  const changed = columns.filter((column) => !key.includes(column.name))
  if (changed.length === 0) return
  const source = await session.offer(layout, columns, rows)
  await session.runOver(
    source,
    `UPDATE ${layout.table.name} t SET ${assignments(changed, 's')} FROM ${source.sql} s WHERE ${matches(key)}`,
  )
}

function keyColumns(layout: TableLayout): readonly Column[] {
  const key: readonly string[] = layout.table.key
  return layout.columns.filter((column) => key.includes(column.name))
}

function names(columns: readonly string[]): string {
  return columns.map((column) => `"${column}"`).join(', ')
}

function list(columns: readonly Column[]): string {
  return names(columns.map((column) => column.name))
}

function assignments(columns: readonly Column[], from: string): string {
  return columns.map((column) => `"${column.name}" = ${from}."${column.name}"`).join(', ')
}

function matches(key: readonly string[]): string {
  return key.map((column) => `t."${column}" = s."${column}"`).join(' AND ')
}
