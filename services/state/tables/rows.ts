import { Refusal } from '../answers/index.ts'
import type { StateSession } from '../chain/index.ts'

/** A stored contract row. */
export interface StoredRow {
  readonly scope: string
  /** Less by 2^63 than on the chain. */
  readonly key: bigint
  readonly payer: string
  readonly value: Buffer
  /** Block that wrote it. */
  readonly since: number
}

/** Which rows of a table are wanted. */
export interface RowQuery {
  readonly account: string
  readonly table: string
  readonly scopes: readonly string[]
  /** State at the end of this block. */
  readonly block: number
  /** Just the row with this key, stored form. */
  readonly key?: bigint
  readonly limit: number
  readonly offset: number
}

/** Largest answer: rows, and bytes of their packed values. */
export const MAX_ROWS = 50_000
export const MAX_ROW_BYTES = 16 * 2 ** 20

const COLUMNS = 'scope, primary_key AS key, payer, value, since_block AS since'
const WHICH =
  'account = $1 AND table_name = $2 AND scope = ANY($3) AND ($5::bigint IS NULL OR primary_key = $5)'

/** Of both tables what held at the block; the running sum of bytes bounds what is sent here. */
const SELECT = `
  SELECT scope, key, payer, value, since, bytes > ${MAX_ROW_BYTES} AS "isTooMuch"
  FROM (
    SELECT *, sum(octet_length(value)) OVER (ORDER BY scope, key ROWS UNBOUNDED PRECEDING) AS bytes FROM (
      SELECT ${COLUMNS} FROM state.rows WHERE ${WHICH} AND since_block <= $4
      UNION ALL
      SELECT ${COLUMNS} FROM state.past_rows WHERE ${WHICH} AND since_block <= $4 AND until_block > $4
      ORDER BY scope, key LIMIT $6 OFFSET $7) found) summed
  WHERE bytes - octet_length(value) <= ${MAX_ROW_BYTES} ORDER BY scope, key`

/** Rows at a block, by scope and key. @throws Refusal 400 when they are too many for one answer. */
export async function selectRows(session: StateSession, query: RowQuery): Promise<StoredRow[]> {
  const { rows } = await session.query<StoredRow & { isTooMuch: boolean }>({
    name: 'state-rows',
    text: SELECT,
    values: [
      query.account,
      query.table,
      query.scopes,
      query.block,
      query.key ?? null,
      Math.min(query.limit, MAX_ROWS) + (query.limit >= MAX_ROWS ? 1 : 0),
      query.offset,
    ],
  })
  if (rows.length > MAX_ROWS || rows.at(-1)?.isTooMuch) throw tooLarge(query)
  return rows
}

function tooLarge({ account, table }: RowQuery): Refusal {
  const message = `The answer would have more than ${MAX_ROWS} rows or ${MAX_ROW_BYTES} bytes; ask with limit and offset.`
  return new Refusal(400, 'data_table_too_large_error', message, { details: { account, table } })
}

/** Whether the table had ever had a row by then. */
export async function isSeen(
  session: StateSession,
  account: string,
  table: string,
  block: number,
): Promise<boolean> {
  const { rowCount } = await session.query({
    name: 'state-table-seen',
    text: 'SELECT 1 FROM state.tables WHERE account = $1 AND table_name = $2 AND since_block <= $3',
    values: [account, table, block],
  })
  return rowCount === 1
}

/** Goes from scope to scope of an index in order, so that the number of rows in each does not matter. */
const scopesOf = (name: string, source: string): string => `
  ${name} AS (
    (SELECT scope FROM ${source} WHERE account = $1 AND table_name = $2 ORDER BY scope LIMIT 1)
    UNION ALL
    SELECT (SELECT r.scope FROM ${source} r WHERE r.account = $1 AND r.table_name = $2 AND r.scope > s.scope
            ORDER BY r.scope LIMIT 1)
    FROM ${name} s WHERE s.scope IS NOT NULL)`

const SCOPES = `
  WITH RECURSIVE ${scopesOf('present', 'state.rows')}, ${scopesOf('past', 'state.past_rows')}
  SELECT DISTINCT scope FROM (
    SELECT scope FROM present p WHERE scope IS NOT NULL AND EXISTS (
      SELECT 1 FROM state.rows r
      WHERE r.account = $1 AND r.table_name = $2 AND r.scope = p.scope AND r.since_block <= $3)
    UNION ALL
    SELECT scope FROM past p WHERE scope IS NOT NULL AND EXISTS (
      SELECT 1 FROM state.past_rows r
      WHERE r.account = $1 AND r.table_name = $2 AND r.scope = p.scope AND r.since_block <= $3 AND r.until_block > $3)
  ) found ORDER BY scope LIMIT ${2 * MAX_ROWS + 1}`

/** Scopes with a row in a table at a block, sorted. @throws Refusal 400 when they are too many for one answer. */
export async function selectScopes(
  session: StateSession,
  account: string,
  table: string,
  block: number,
): Promise<string[]> {
  const { rows } = await session.query<{ scope: string }>({
    name: 'state-scopes',
    text: SCOPES,
    values: [account, table, block],
  })
  if (rows.length > 2 * MAX_ROWS) {
    const message = `The table has more than ${2 * MAX_ROWS} scopes.`
    throw new Refusal(400, 'data_table_too_large_error', message, { details: { account, table } })
  }
  return rows.map(({ scope }) => scope)
}
