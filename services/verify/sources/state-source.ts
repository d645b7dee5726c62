import type pg from 'pg'
import { parsePackedAbi } from '../../core/antelope/abi/index.ts'
import { FatalError } from '../../core/errors/index.ts'
import type { RowDecoder } from '../decode/index.ts'
import type { ChainRow } from '../tables/index.ts'
import type { ChainSource } from './source.ts'

const BATCH = 1_000

interface StoredRow {
  readonly scope: string
  readonly primary_key: bigint
  readonly value: Buffer
}

/**
 * Reads the rows that the handler `state` stores in the same database, in the transaction of the comparison. So the
 * database is compared with the bytes that the chain sent, and no node is needed.
 */
export class StateSource implements ChainSource {
  readonly description = 'the rows of the state service'
  readonly isFixed = true
  /** Seals do not cover `state.rows`, and no count of its rows is stored, so a lost row leaves no trace. */
  readonly absenceDoubt: string | null =
    'the state service lacks the row, but its rows are not sealed, so it may have lost the row'
  readonly isWhole: boolean
  readonly decoder: string
  readonly #client: pg.ClientBase
  readonly #decoder: RowDecoder
  readonly #accounts: ReadonlySet<string>
  readonly #loaded = new Set<string>()

  private constructor(
    client: pg.ClientBase,
    decoder: RowDecoder,
    accounts: ReadonlySet<string>,
    isWhole: boolean,
  ) {
    this.#client = client
    this.#decoder = decoder
    this.#accounts = accounts
    this.decoder = decoder.name
    this.isWhole = isWhole
  }

  /**
   * @param client a connection in the transaction of the comparison. @throws FatalError `USAGE` if no reader stores
   * state.
   */
  static async open(client: pg.ClientBase, decoder: RowDecoder): Promise<StateSource> {
    const { rows } = await client.query<{ accounts: string[]; is_whole: boolean }>(
      `SELECT accounts, since_block <= (SELECT min(greatest(r.start_block, 2)) FROM chain.readers r
         JOIN chain.sources s ON s.reader = r.name) AS is_whole FROM state.coverage`,
    )
    const coverage = rows[0]
    if (coverage === undefined) {
      throw new FatalError(
        'USAGE',
        'the database has no contract rows, because no reader has the handler state: compare with --http or --folder',
      )
    }
    return new StateSource(client, decoder, new Set(coverage.accounts), coverage.is_whole)
  }

  answers(contract: string): Promise<boolean> {
    return Promise.resolve(this.#accounts.has(contract))
  }

  async *rows(contract: string, table: string, scope?: string): AsyncGenerator<readonly ChainRow[]> {
    await this.#load(contract)
    let last: StoredRow | undefined
    for (;;) {
      const { rows }: pg.QueryResult<StoredRow> = await this.#client.query<StoredRow>(
        `SELECT scope, primary_key, value FROM state.rows
         WHERE account = $1 AND table_name = $2 AND ($3::text IS NULL OR scope = $3)
           AND ($4::text IS NULL OR (scope, primary_key) > ($4, $5)) ORDER BY scope, primary_key LIMIT ${BATCH}`,
        [contract, table, scope ?? null, last?.scope ?? null, last?.primary_key ?? null],
      )
      last = rows.at(-1)
      if (last === undefined) return
      yield rows.map((row) => ({
        scope: row.scope,
        data: this.#decoder.decode(contract, table, row.value),
      }))
    }
  }

  row(): Promise<never> {
    throw new Error('a single stored row cannot be read: this source pages whole tables')
  }

  head(): Promise<null> {
    return Promise.resolve(null)
  }

  /** Loads the ABI of a contract in force at the committed block into the decoder. */
  async #load(contract: string): Promise<void> {
    if (this.#loaded.has(contract)) return
    const { rows } = await this.#client.query<{ abi: Buffer }>(
      'SELECT abi FROM chain.abis WHERE account = $1 ORDER BY block_num DESC LIMIT 1',
      [contract],
    )
    if (rows[0] === undefined && (await this.#hasRows(contract))) {
      throw new FatalError(
        'USAGE',
        `the ABI of ${contract} was set before the first block and is not stored; compare with --http`,
      )
    }
    if (rows[0] !== undefined && rows[0].abi.length > 0)
      this.#decoder.load(contract, parsePackedAbi(rows[0].abi))
    this.#loaded.add(contract)
  }

  async #hasRows(contract: string): Promise<boolean> {
    const { rowCount } = await this.#client.query('SELECT FROM state.rows WHERE account = $1 LIMIT 1', [
      contract,
    ])
    return rowCount === 1
  }
}
