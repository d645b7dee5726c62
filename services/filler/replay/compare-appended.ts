import type pg from 'pg'
import { modelTables } from '../../core/model/tables/index.ts'
import type { SealedKind } from '../../core/seals/index.ts'
import { copyLine, copyLines } from '../store/index.ts'
import type { CommitUnit } from '../store/index.ts'
import type { ReplayedWindow } from './block-replay.ts'
import { differenceOf } from './difference.ts'
import type { HistoryDifference } from './difference.ts'

/** Result of comparing the rows of one kind. */
export interface ComparedRows {
  /** Number of rows that the replayed blocks add. */
  readonly rows: number
  readonly differences: readonly HistoryDifference[]
}

const STAGE = 'pg_temp.replayed'

/**
 * Compares the replayed rows of an append-only table with the rows that the database has for the same blocks.
 *
 * @param isRepair whether rows that differ are replaced, within the open transaction.
 */
export async function compareAppended(
  client: pg.ClientBase,
  kind: SealedKind,
  window: ReplayedWindow,
  isRepair: boolean,
): Promise<ComparedRows> {
  const { table } = kind
  const blocks = kind.blocks?.table ?? table
  const appended = pendingOf(window.unit, table)?.appended
  const columns = Object.keys(modelTables.find(({ name }) => name === table)!.columns)
  const list = columns.map((name) => `"${name}"`).join(', ')
  await client.query(`DROP TABLE IF EXISTS ${STAGE}`)
  await client.query(`CREATE TEMP TABLE replayed AS SELECT ${list} FROM ${table} WITH NO DATA`)
  if (appended !== undefined && appended.count > 0)
    await copyLines(client, STAGE, appended.columns, [
      ...appended.packed,
      ...appended.rows.map((row) => copyLine(appended.columns, row)),
    ])
  const own = pendingOf(window.unit, blocks)?.appended
  const bounds = own === undefined || own.count === 0 ? null : { low: own.low, high: own.high }
  const { low, high } = await intervalOf(client, blocks, window, bounds)
  const keys = kind.order.map((sql, at) => `${sql} AS o${at}`).join(', ')
  const names = kind.order.map((_, at) => `o${at}`)
  const numbered = `row_number() OVER (PARTITION BY ${kind.order.join(', ')} ORDER BY ${kind.line}) AS n`
  const sequence = kind.blocks?.sequence ?? kind.sources[0]!.position
  const key = names.map((name) => `coalesce(e.${name}, d.${name})::text`).join(", ' ', ")
  const { rows } = await client.query<{ key: string; chain: string | null; database: string | null }>(
    `SELECT concat(${key}) AS key, e.line AS chain, d.line AS database
     FROM (SELECT ${keys}, ${kind.line} AS line, ${numbered} FROM ${STAGE} t) e
     FULL JOIN (SELECT ${keys}, ${kind.line} AS line, ${numbered} FROM ${table} t
       WHERE ${sequence} BETWEEN $1::bigint AND $2::bigint) d
     ON ${[...names, 'n'].map((name) => `e.${name} = d.${name}`).join(' AND ')}
     WHERE e.line IS DISTINCT FROM d.line ORDER BY 1`,
    [low, high],
  )
  const differences = rows.map((row) => differenceOf(kind, row.key, row))
  if (isRepair && differences.length > 0) {
    const found = [...new Set(differences.map((difference) => difference.key))]
    const text = kind.order.map((sql) => `${sql}::text`).join(", ' ', ")
    await client.query(
      `DELETE FROM ${table} t WHERE ${sequence} BETWEEN $2::bigint AND $3::bigint AND concat(${text}) = ANY ($1)`,
      [found, low, high],
    )
    await client.query(
      `INSERT INTO ${table} (${list}) SELECT ${list} FROM ${STAGE} t WHERE concat(${text}) = ANY ($1)`,
      [found],
    )
  }
  return { rows: appended?.count ?? 0, differences }
}

function pendingOf(unit: CommitUnit, table: string) {
  for (const [{ name }, pending] of unit.tables) if (name === table) return pending
  return undefined
}

const LOWEST = -(2n ** 63n)
const HIGHEST = 2n ** 63n - 1n

/**
 * Returns the range of global sequences of the blocks. Seals assign rows to blocks by the same rule: a block owns the
 * sequences up to the family's next block, and the first block also owns all lower sequences.
 *
 * @param replayed lowest and highest sequence in the replay; null if the replay has none.
 */
async function intervalOf(
  client: pg.ClientBase,
  blocks: string,
  { firstBlock, lastBlock }: Pick<ReplayedWindow, 'firstBlock' | 'lastBlock'>,
  replayed: { readonly low: bigint; readonly high: bigint } | null,
): Promise<{ low: bigint; high: bigint }> {
  const one = async (text: string, values: readonly unknown[]): Promise<bigint | null> =>
    (await client.query<{ seq: bigint | null }>(text, [...values])).rows[0]?.seq ?? null
  // The bound on `first_seq` lets the index on sequences serve the query. Without a replayed sequence the query has no
  // such bound and searches by block number.
  const before = await one(
    `SELECT first_seq AS seq FROM ${blocks} WHERE block_num < $1 AND first_seq < $2 ORDER BY first_seq DESC LIMIT 1`,
    [firstBlock, replayed?.low ?? HIGHEST],
  )
  const own = await one(
    `SELECT first_seq AS seq FROM ${blocks} WHERE first_seq > $1 ORDER BY first_seq LIMIT 1`,
    [before ?? LOWEST],
  )
  const next = await one(
    `SELECT first_seq AS seq FROM ${blocks} WHERE block_num > $1 AND first_seq > $2 ORDER BY first_seq LIMIT 1`,
    [lastBlock, replayed?.high ?? before ?? LOWEST],
  )
  const first = [own, replayed?.low].filter((seq) => seq !== null && seq !== undefined)
  return {
    low: before === null ? LOWEST : first.length === 0 ? HIGHEST : first.reduce((a, b) => (a < b ? a : b)),
    high: next === null ? HIGHEST : next - 1n,
  }
}
