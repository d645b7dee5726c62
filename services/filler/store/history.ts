import type { TableLayout } from './layout.ts'
import type { PendingHistory, PendingTable } from './pending-rows.ts'
import type { MutableRow } from '../../core/model/index.ts'
import type { WriterSession } from './session.ts'

/** Writes the merged row versions of a table with history. */
export async function writeHistory(
  session: WriterSession,
  layout: TableLayout,
  pending: PendingTable,
): Promise<void> {
  if (pending.histories.size === 0) return
  const histories = [...pending.histories.values()]
  await endPresent(session, layout, histories, pending.forgetBefore)
  const endedVersions: MutableRow[] = []
  const present: MutableRow[] = []
  for (const { versions } of histories) {
    versions.forEach(({ row }, i) => {
      const next = versions[i + 1]
      if (row === null) return
      if (next === undefined) present.push(row)
      else if (next.block > pending.forgetBefore) endedVersions.push({ ...row, until_block: next.block })
    })
  }
  const past = layout.past!
  await session.addRows(past.name, past.columns, endedVersions)
  await session.addRows(layout.table.name, layout.columns, present)
}

/** Moves current rows to the history table, or deletes rows outside the retained range. */
async function endPresent(
  session: WriterSession,
  layout: TableLayout,
  histories: readonly PendingHistory[],
  forgetBefore: number,
): Promise<void> {
  const key: readonly string[] = layout.table.key
  const columns = layout.columns.filter(({ name }) => key.includes(name) || name === 'since_block')
  const changed = histories.map((history) => ({ ...history.key, since_block: history.from }))
  const source = await session.offer(layout, columns, changed)
  const match = key.map((column) => `t."${column}" = s."${column}"`).join(' AND ')
  const names = layout.columns.map(({ name }) => `"${name}"`).join(', ')
  const old = layout.columns.map(({ name }) => `old."${name}"`).join(', ')
  const limit = `$${source.values.length + 1}::integer`
  await session.runOver(
    source,
    `WITH old AS (
       DELETE FROM ${layout.table.name} t USING ${source.sql} s WHERE ${match}
       RETURNING t.*, s.since_block AS ended_at)
     INSERT INTO ${layout.past!.name} (${names}, until_block)
     SELECT ${old}, old.ended_at FROM old WHERE old.ended_at > ${limit}`,
    [forgetBefore],
  )
}

/**
 * Rolls back every change from block `from` on: deletes newer versions, and makes the replaced versions current again.
 */
export async function undoHistory(session: WriterSession, layout: TableLayout, from: number): Promise<void> {
  const names = layout.columns.map(({ name }) => `"${name}"`).join(', ')
  await session.run(`DELETE FROM ${layout.table.name} WHERE since_block >= $1`, [from])
  await session.run(
    `WITH back AS (DELETE FROM ${layout.past!.name} WHERE until_block >= $1 RETURNING *)
     INSERT INTO ${layout.table.name} (${names}) SELECT ${names} FROM back WHERE since_block < $1`,
    [from],
  )
}
