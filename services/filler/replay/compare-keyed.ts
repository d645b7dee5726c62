import type pg from 'pg'
import type { Table } from '../../core/model/index.ts'
import { modelTables } from '../../core/model/tables/index.ts'
import type { SealedKind } from '../../core/seals/index.ts'
import type { ReplayedWindow } from './block-replay.ts'
import { differenceOf } from './difference.ts'
import type { HistoryDifference } from './difference.ts'
import { expectedRows, isConstant, jsonOfRow } from './expected-rows.ts'

/** Result of comparing rows that can settle, that is, reach a final state. */
export interface ComparedKeyed {
  readonly rows: number
  readonly partly: number
  readonly skipped: number
  readonly differences: readonly HistoryDifference[]
  /** Keys of the rows that reach their final state in the replayed blocks. */
  readonly settled: readonly string[]
}

/** Result row of the comparing statement: one replayed row next to the database's row. */
interface FoundRow {
  readonly at: number
  readonly key: string
  readonly exists: boolean
  readonly settles: boolean
  /** Whether the row in the database is in its final state and was last changed in the replayed blocks. */
  readonly ends: boolean
  readonly chain: string
  /** COPY line of the database's row in which the columns that never change after the insert come from the replay. */
  readonly constant: string
  readonly database: string | null
}

/** Maximum number of rows per statement. */
const ROWS_AT_ONCE = 2_000
/** Names of the column with the block that added a row. */
const created = ['created_at_block', 'minted_at_block']

export interface KeyedComparison {
  readonly kind: SealedKind
  readonly window: ReplayedWindow
  /** Whether database rows that differ from the replayed rows are replaced, within the open transaction. */
  readonly isRepair: boolean
  /**
   * Whether the reader's history begins at the first block of the contracts. Then the database must have every row that
   * reaches its final state in the replayed blocks, even if an earlier block added the row.
   */
  readonly isWhole: boolean
  /** Keys of rows that are not compared. */
  readonly leftOut: ReadonlySet<string>
}

/** Compares the rows of one kind that the replayed blocks add or change with the rows of the database. */
export async function compareKeyed(
  client: pg.ClientBase,
  comparison: KeyedComparison,
): Promise<ComparedKeyed> {
  const { kind, window } = comparison
  const table = modelTables.find(({ name }) => name === kind.table)!
  const isOfMints = kind.isOfChangingRows === true
  const wanted = new Set<string>([...kind.columns, ...table.key])
  const rows = expectedRows(window.unit, kind.table).filter(({ isNew }) => isNew || !isOfMints)
  const total = { rows: 0, partly: 0, skipped: 0 }
  const differences: HistoryDifference[] = []
  const settled: string[] = []
  const statement = statementOf(kind, table)
  for (let at = 0; at < rows.length; at += ROWS_AT_ONCE) {
    const part = rows.slice(at, at + ROWS_AT_ONCE)
    const json = part.map(({ row }) =>
      jsonOfRow(
        table,
        pick(row, (column) => wanted.has(column)),
      ),
    )
    const constant = part.map(({ row, isNew }) =>
      isNew
        ? jsonOfRow(
            table,
            pick(row, (column) => wanted.has(column) && isConstant(kind, column)),
          )
        : '{}',
    )
    const found = await client.query<FoundRow>(statement, [
      json,
      constant,
      window.firstBlock,
      window.lastBlock,
    ])
    for (const line of found.rows) {
      const { row, isNew } = part[line.at - 1]!
      if (comparison.leftOut.has(line.key)) continue
      // An asset that is not burned has no row of the kind `assets.burns`. The mint of the asset is of the kind
      // `assets.mints`.
      if (kind.name === 'assets.burns' && !line.settles && !line.ends) continue
      const outcome = judge(line, isNew, comparison.isWhole)
      total[outcome.counts]++
      if (line.settles || line.ends) settled.push(line.key)
      if (!outcome.isEqual) {
        const isLost = !line.exists && !isNew
        const chain = outcome.counts === 'partly' ? line.constant : line.chain
        const why = isLost ? `the row was added before block ${window.firstBlock}` : null
        differences.push(differenceOf(kind, line.key, { chain, database: line.database }, why))
        if (comparison.isRepair && !isLost)
          await replace(client, table, {
            row: jsonOfRow(table, row),
            changed: line.exists ? (outcome.counts === 'partly' ? constant : json)[line.at - 1]! : null,
          })
      }
    }
  }
  return { ...total, differences, settled }
}

function pick<Row extends object>(row: Row, isChosen: (column: string) => boolean): Row {
  return Object.fromEntries(Object.entries(row).filter(([column]) => isChosen(column))) as Row
}

/** Decides which columns of a row are compared, and whether they are equal. */
function judge(
  { exists, settles, ends, chain, constant, database }: FoundRow,
  isNew: boolean,
  isWhole: boolean,
): { readonly counts: 'rows' | 'partly' | 'skipped'; readonly isEqual: boolean } {
  if (!exists) {
    if (isNew) return { counts: 'rows', isEqual: false }
    return settles && isWhole ? { counts: 'rows', isEqual: false } : { counts: 'skipped', isEqual: true }
  }
  if (settles || ends) return { counts: 'rows', isEqual: chain === database }
  return isNew ? { counts: 'partly', isEqual: constant === database } : { counts: 'skipped', isEqual: true }
}

/** Rewrites an SQL expression on row `t` to another alias. */
const under = (alias: string, sql: string): string => sql.replaceAll(/\bt\./g, `${alias}.`)

/** SQL of the key of a row `t` as one text. */
const keyText = ({ key }: Pick<Table, 'key'>): string =>
  `concat_ws(' ', ${(key as readonly string[]).map((column) => `t."${column}"::text`).join(', ')})`

/**
 * Builds the comparing statement. Alias `n` is the replayed row, `d` the database's row. `v` is `d` overwritten with
 * all replayed columns; `c` is `d` overwritten with the constant columns only.
 */
function statementOf(kind: SealedKind, table: Table): string {
  // A replayed trade is always in its final state: the replay derives trades from final listings only, and the trade of
  // a final listing never changes.
  const isTrade = kind.name === 'market.trades'
  const settled = isTrade
    ? 'true'
    : kind.sources.map((source) => `${source.scan} AND (${source.settled})`).join(' OR ')
  const block = kind.sources[0]!.block
  const settles = isTrade
    ? '$3::integer <= $4::integer'
    : `(${under('n', settled)}) AND ${under('n', block)} BETWEEN $3 AND $4`
  const ends = isTrade ? 'true' : `(${under('d', settled)}) AND ${under('n', block)} = ${under('d', block)}`
  const keys: readonly string[] = table.key
  return `
    SELECT e.at::integer AS at, ${under('n', keyText(table))} AS key, d."${keys[0]!}" IS NOT NULL AS exists,
      coalesce(${settles}, false) AS settles, coalesce(${ends}, false) AS ends,
      ${under('v', kind.line)} AS chain, ${under('c', kind.line)} AS constant,
      CASE WHEN d."${keys[0]!}" IS NOT NULL THEN ${under('d', kind.line)} END AS database
    FROM unnest($1::jsonb[], $2::jsonb[]) WITH ORDINALITY AS e(row, constant, at)
    CROSS JOIN LATERAL jsonb_populate_record(NULL::${table.name}, e.row) n
    LEFT JOIN ${table.name} d ON ${keys.map((key) => `d."${key}" = n."${key}"`).join(' AND ')}
    CROSS JOIN LATERAL jsonb_populate_record(d, e.row) v
    CROSS JOIN LATERAL jsonb_populate_record(d, e.constant) c
    ORDER BY e.at`
}

/**
 * Writes a row as the chain has it: inserts the row, or updates the compared columns.
 *
 * @param row all columns that the blocks set, as JSON.
 * @param changed the compared columns, as JSON; null to insert `row`.
 */
async function replace(
  client: pg.ClientBase,
  table: Table,
  { row, changed }: { readonly row: string; readonly changed: string | null },
): Promise<void> {
  const keys: readonly string[] = table.key
  const all = Object.keys(JSON.parse(row) as object)
  const listOf = (names: readonly string[], alias = '') => names.map((name) => `${alias}"${name}"`).join(', ')
  if (changed === null) {
    await client.query(
      `INSERT INTO ${table.name} (${listOf(all)}) SELECT ${listOf(all)} FROM jsonb_populate_record(NULL::${table.name}, $1::jsonb)`,
      [row],
    )
    return
  }
  const names = Object.keys(JSON.parse(changed) as object).filter((name) => !keys.includes(name))
  const assigned = names.map((name) => `"${name}" = n."${name}"`).join(', ')
  await client.query(
    `UPDATE ${table.name} t SET ${assigned} FROM jsonb_populate_record(NULL::${table.name}, $1::jsonb) n
     WHERE ${keys.map((key) => `t."${key}" = n."${key}"`).join(' AND ')}`,
    [changed],
  )
}

/** Range of the compared blocks, and whether rows that only the database has are deleted. */
export interface SettledRows {
  readonly firstBlock: number
  readonly lastBlock: number
  readonly isRepair: boolean
}

/** Maximum number of extra rows (rows that only the database has) that a report names for one kind of row. */
const MOST_EXTRA = 1_000

/**
 * Finds rows that have reached their final state in the replayed blocks according to the database, but not according to
 * the replay. One pass over the table; `pg_temp.replayed_keys` holds the keys of the rows that reached their final
 * state in the replay.
 */
export async function findExtra(
  client: pg.ClientBase,
  kind: SealedKind,
  { firstBlock, lastBlock, isRepair }: SettledRows,
): Promise<HistoryDifference[]> {
  const table = modelTables.find(({ name }) => name === kind.table)!
  const key = keyText(table)
  const found = kind.sources.map(
    ({ from, scan, settled, block }) => `SELECT ${key} AS key, ${kind.line} AS line FROM ${from}
      WHERE ${scan} AND (${settled}) AND ${block} BETWEEN $2 AND $3`,
  )
  const { rows } = await client.query<{ key: string; line: string }>(
    `SELECT f.key, f.line FROM (${found.join(' UNION ALL ')}) f
     WHERE NOT EXISTS (SELECT FROM pg_temp.replayed_keys k WHERE k.kind = $1 AND k.key = f.key)
     ORDER BY f.key LIMIT ${MOST_EXTRA}`,
    [kind.name, firstBlock, lastBlock],
  )
  const column = created.find((name) => name in table.columns)
  const differences: HistoryDifference[] = []
  for (const { key: of, line } of rows) {
    const values = line.split('\t')
    const since = column === undefined ? firstBlock : Number(values[kind.columns.indexOf(column)])
    const isOwn = since >= firstBlock && since <= lastBlock
    const why = isOwn ? null : `the row was added in block ${since}, before the replayed blocks`
    differences.push(differenceOf(kind, of, { chain: null, database: line }, why))
    if (isRepair && isOwn) await client.query(`DELETE FROM ${table.name} t WHERE ${key} = $1`, [of])
  }
  return differences
}
