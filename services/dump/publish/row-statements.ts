import type pg from 'pg'
import type { SealedKind } from '../../core/seals/index.ts'
import { isBlanked } from './published-tables.ts'
import type { PublishedTable } from './published-tables.ts'

const HIGHEST = '9223372036854775807'

/** Block range of one file of sealed rows, with the seals of its ranges. */
export interface Segment {
  readonly kind: SealedKind
  readonly firstBlock: number
  readonly lastBlock: number
  readonly rangeBlocks: number
  readonly ranges: readonly SealedRange[]
}

/** A seal: first block, number and digest of its rows, and the lowest and highest position of these rows. */
export interface SealedRange {
  readonly firstBlock: number
  readonly rows: number
  readonly digest: string
  readonly low: bigint
  readonly high: bigint
}

const listOf = (columns: readonly string[], alias: string) =>
  columns.map((column) => `${alias}."${column}"`).join(', ')

/**
 * Query of the rows of one file of sealed rows, sorted by range, then by the order of their kind of row, then by
 * primary key. Values are literals, because COPY takes no parameters.
 */
export async function segmentQuery(
  client: pg.ClientBase,
  { columns, key }: PublishedTable,
  segment: Segment,
): Promise<string> {
  const { kind, firstBlock, lastBlock, rangeBlocks, ranges } = segment
  if (kind.blocks !== null) {
    const { from, sequence } = kind.blocks
    const low = ranges[0]!.low
    const high = await lastSequence(client, segment)
    return `SELECT ${listOf(columns, 't')} FROM ${from}
      WHERE ${sequence} BETWEEN ${low} AND ${high} ORDER BY ${kind.order.join(', ')}, ${listOf(key, 't')}`
  }
  const low = ranges.reduce((least, range) => (range.low < least ? range.low : least), ranges[0]!.low)
  const high = ranges.reduce((most, range) => (range.high > most ? range.high : most), ranges[0]!.high)
  const order = kind.order.map((sql, at) => `${sql} AS dump_order_${at}`).join(', ')
  const found = kind.sources.map(
    ({ from, scan, settled, position, block }) =>
      `SELECT ${listOf(columns, 't')}, ${block} / ${rangeBlocks} AS dump_range, ${order} FROM ${from}
       WHERE ${scan} AND (${settled}) AND ${position} BETWEEN ${low} AND ${high}
         AND ${block} BETWEEN ${firstBlock} AND ${lastBlock}`,
  )
  const ordered = kind.order.map((_, at) => `r.dump_order_${at}`).join(', ')
  return `SELECT ${listOf(columns, 'r')} FROM (${found.join(' UNION ALL ')}) r ORDER BY r.dump_range, ${ordered}, ${listOf(key, 'r')}`
}

/**
 * The last global sequence of the blocks in a file of sealed rows. If no later block exists, the highest possible
 * number.
 */
async function lastSequence(client: pg.ClientBase, { kind, lastBlock, ranges }: Segment): Promise<bigint> {
  const { rows } = await client.query<{ last: bigint }>(
    `SELECT coalesce((SELECT first_seq - 1 FROM ${kind.blocks!.table} WHERE first_seq >= $1 AND block_num > $2
       ORDER BY first_seq LIMIT 1), ${HIGHEST}) AS last`,
    [ranges.at(-1)!.low, lastBlock],
  )
  return rows[0]!.last
}

/**
 * Query of the rows of a table that are in no file of sealed rows, ordered by primary key.
 *
 * @param ends the last file of sealed rows of each kind of row of the table.
 */
export async function restQuery(
  client: pg.ClientBase,
  { name, columns, key }: PublishedTable,
  ends: readonly Segment[],
): Promise<string> {
  const conditions: string[] = []
  for (const end of ends) {
    const { sources, blocks } = end.kind
    if (blocks === null)
      conditions.push(...sources.map((source) => restOf(source, { name, key }, end.lastBlock)))
    else conditions.push(`${blocks.sequence} > ${await lastSequence(client, end)}`)
  }
  const where = conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`
  const values = columns.map((column) => (isBlanked(name, column) ? `'' AS "${column}"` : `t."${column}"`))
  return `SELECT ${values.join(', ')} FROM ${name} t${where} ORDER BY ${listOf(key, 't')}`
}

function restOf(
  { from, scan, settled, block }: SealedKind['sources'][number],
  { name, key }: Pick<PublishedTable, 'name' | 'key'>,
  lastBlock: number,
): string {
  const isSettled = `${scan} AND (${settled}) AND ${block} <= ${lastBlock}`
  if (from === `${name} t`) return `(${isSettled}) IS NOT TRUE`
  // `from` joins the table with another table that has the block numbers of the rows. The rows in files of sealed rows
  // are therefore excluded by primary key.
  const isSame = key.map((column) => `s."${column}" = t."${column}"`).join(' AND ')
  return `NOT EXISTS (SELECT FROM (SELECT ${listOf(key, 't')} FROM ${from} WHERE ${isSettled}) s WHERE ${isSame})`
}
