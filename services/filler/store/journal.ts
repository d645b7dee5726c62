import type { TableLayout } from './layout.ts'
import type { MutableRow } from '../../core/model/index.ts'
import type { WriterSession } from './session.ts'

/**
 * Records the current rows in the undo journal, for a reversible block. An identity without a row gets an entry that
 * marks its absence. An identity that the block has already journaled is skipped: the first image is the row before
 * the block.
 */
export async function journalRows(
  session: WriterSession,
  layout: TableLayout,
  identities: readonly MutableRow[],
  block: number,
): Promise<void> {
  if (layout.undoTable === null || identities.length === 0) return
  const identity = layout.columns.filter((column) => layout.identity.includes(column.name))
  const source = await session.offer(layout, identity, identities)
  const isIdentity = new Set(layout.identity)
  const columns = layout.columns.map((column) => `"${column.name}"`).join(', ')
  const images = layout.columns
    .map((column) => (isIdentity.has(column.name) ? `s."${column.name}"` : `t."${column.name}"`))
    .join(', ')
  const first = layout.identity[0]!
  const number = `$${source.values.length + 1}::integer`
  await session.runOver(
    source,
    `INSERT INTO ${layout.undoTable} (undo_block, undo_existed, ${columns})
     SELECT ${number}, t."${first}" IS NOT NULL, ${images}
     FROM ${source.sql} s LEFT JOIN ${layout.table.name} t ON ${same(layout.identity, 't', 's')}
     WHERE NOT EXISTS (SELECT 1 FROM ${layout.undoTable} u WHERE u.undo_block = ${number} AND ${same(layout.identity, 'u', 's')})`,
    [block],
  )
}

/**
 * Restores every row of a table to its state before block `from`: for each identity, from its oldest image at or above
 * the block.
 */
export async function restoreRows(session: WriterSession, layout: TableLayout, from: number): Promise<void> {
  if (layout.undoTable === null) return
  const identity = layout.identity.map((column) => `"${column}"`).join(', ')
  const columns = layout.columns.map((column) => `"${column.name}"`).join(', ')
  await session.run(
    `DELETE FROM ${layout.table.name} t
     USING (SELECT DISTINCT ${identity} FROM ${layout.undoTable} WHERE undo_block >= $1) s
     WHERE ${same(layout.identity, 't', 's')}`,
    [from],
  )
  // Use rank, not row_number: in a grouped table, one identity has several journal rows of the same block, and all of
  // them are restored.
  await session.run(
    `INSERT INTO ${layout.table.name} (${columns})
     SELECT ${columns} FROM (SELECT *, rank() OVER (PARTITION BY ${identity} ORDER BY undo_block) AS undo_rank
       FROM ${layout.undoTable} WHERE undo_block >= $1) u
     WHERE u.undo_rank = 1 AND u.undo_existed`,
    [from],
  )
  await session.run(`DELETE FROM ${layout.undoTable} WHERE undo_block >= $1`, [from])
}

function same(columns: readonly string[], a: string, b: string): string {
  return columns.map((column) => `${a}."${column}" = ${b}."${column}"`).join(' AND ')
}
