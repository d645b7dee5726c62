import { answerTooLarge, Refusal } from '../answers/index.ts'
import type { StateSession } from '../chain/index.ts'

/** A stored row of a contract table. */
export interface StoredRow {
  readonly scope: string
  /** Primary key, stored form: 2^63 less than on the chain. */
  readonly key: bigint
  readonly payer: string
  readonly value: Buffer
  /** Number of the block that wrote the row. */
  readonly since: number
}

export interface RowQuery {
  readonly account: string
  readonly table: string
  readonly scopes: readonly string[]
  /** Block at whose end the state is read. */
  readonly block: number
  /** Selects only the row with this primary key; the key is as stored, 2^63 less than on the chain. */
  readonly key?: bigint
  readonly limit: number
  readonly offset: number
}

/** Limit of rows in a response. */
export const MAX_ROWS = 50_000
/**
 * Estimated size of a row in a response, bytes, without its value. The value takes two hexadecimal digits per
 * byte.
 */
const ROW_BYTES = 64

const COLUMNS = 'scope, primary_key AS key, payer, value, since_block AS since'
const WHICH =
  'account = $1 AND table_name = $2 AND scope = ANY($3) AND ($5::bigint IS NULL OR primary_key = $5)'

/**
 * Query of the rows of a table as of a block, from the current rows and the history table. Every row repeats `total`,
 * the size of all requested rows, and `fitting`, how many rows from the first one fit into the limit of bytes. If
 * `total` exceeds this limit, the query returns only the first row, without its value.
 */
const SELECT = `
  SELECT scope, key, payer, CASE WHEN total <= $8 THEN value END AS value, since, total, fitting
  FROM (
    SELECT *, sum(bytes) OVER () AS total, count(*) FILTER (WHERE running <= $8) OVER () AS fitting FROM (
      SELECT *, sum(bytes) OVER (ORDER BY scope, key ROWS UNBOUNDED PRECEDING) AS running FROM (
        SELECT *, 2 * octet_length(value)::bigint + ${ROW_BYTES} AS bytes FROM (
          SELECT ${COLUMNS} FROM state.rows WHERE ${WHICH} AND since_block <= $4
          UNION ALL
          SELECT ${COLUMNS} FROM state.past_rows WHERE ${WHICH} AND since_block <= $4 AND until_block > $4
          ORDER BY scope, key LIMIT $6 OFFSET $7) found) sized) summed) counted
  WHERE total <= $8 OR running = bytes ORDER BY scope, key`

interface SelectedRow extends StoredRow {
  readonly total: bigint | number | string
  readonly fitting: bigint | number | string
}

/**
 * Selects rows at a block, ordered by scope and key.
 * @param maxBytes limit of the response, bytes.
 * @throws Refusal 400 if the rows exceed the limit of bytes or of rows.
 */
export async function selectRows(
  session: StateSession,
  query: RowQuery,
  maxBytes: number,
): Promise<{ readonly rows: readonly StoredRow[]; readonly bytes: number }> {
  const { rows } = await session.query<SelectedRow>({
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
      maxBytes,
    ],
  })
  const bytes = Number(rows[0]?.total ?? 0)
  if (bytes > maxBytes) throw answerTooLarge(bytes, maxBytes, Number(rows[0]!.fitting))
  if (rows.length > MAX_ROWS) throw tooManyRows(query)
  return { rows, bytes }
}

function tooManyRows({ account, table }: RowQuery): Refusal {
  const message = `The answer would have more than ${MAX_ROWS} rows; use limit and offset.`
  return new Refusal(400, 'data_table_too_large_error', message, { details: { account, table } })
}

/** Whether the table has had a row at or before the block. */
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

/** Skip scan: jumps from scope to scope in the index, so the number of rows per scope does not matter. */
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

/**
 * Scopes that have a row in the table at a block, sorted.
 * @throws Refusal 400 if they are too many for one response.
 */
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
