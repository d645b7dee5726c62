import type pg from 'pg'
import { answerWithin, createPool } from '../../core/database/index.ts'
import type { DatabaseAddress } from '../../core/database/index.ts'
import { describeError } from '../../core/errors/index.ts'

/** Position of a database server in the write-ahead log, and blocks of the readers, at one time. */
export interface Position {
  /**
   * Position in the write-ahead log, bytes. On a primary, all data that queries can see was written at or before this
   * position. On a replica, queries can see all data up to this position.
   */
  readonly lsn: bigint
  /** Last committed block of every reader: names and block ids as one text. */
  readonly blocks: string
}

/** Result of one poll of a database server. */
export interface ServerLook {
  readonly position: Position
  /** Whether the database server is a standby. */
  readonly isReplica: boolean
  /** System identifier of the PostgreSQL cluster. A primary and its standbys have the same identifier. */
  readonly system: string
}

/**
 * Whether queries at `position` see all data that queries at `wanted` see. Both are positions of database servers.
 * Equal blocks suffice: the WAL also grows with changes that no request can see, and such changes may reach a replica
 * later than the blocks.
 */
export function hasReached(position: Position, wanted: Position): boolean {
  return position.lsn >= wanted.lsn || position.blocks === wanted.blocks
}

// The query reads the rows of `chain.readers` first, and then the position in the write-ahead log (LSN). On a replica,
// statements after this query see all data up to the LSN. On a primary, the LSN is at or after the data of the rows. An
// LSN after the data makes a replica count as up to date too late, never too early.
const LOOK = `
  SELECT pg_is_in_recovery() AS replica,
    (SELECT system_identifier::text FROM pg_control_system()) AS system,
    coalesce((SELECT string_agg(name || ':' || encode(block_id, 'hex'), ',' ORDER BY name) FROM chain.readers), '') AS blocks,
    (CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_insert_lsn() END - '0/0'::pg_lsn)::text AS lsn`

/** Polls a database server over a connection of its own, which requests cannot occupy. */
export class PositionProbe {
  readonly #pool: pg.Pool
  readonly #timeoutMs: number
  /** Error of the last poll of the database server; undefined if the last poll succeeded. */
  problem: string | undefined

  constructor(address: DatabaseAddress, timeoutMs: number) {
    this.#timeoutMs = timeoutMs
    this.#pool = createPool(address, {
      applicationName: 'pronghorn-api-position',
      statementTimeoutMs: timeoutMs,
      max: 1,
    })
  }

  /** Polls the database server. Returns undefined if the server does not answer in time. */
  async look(): Promise<ServerLook | undefined> {
    try {
      const look = await answerWithin(() => this.#ask(), this.#timeoutMs, 'the server')
      this.problem = undefined
      return look
    } catch (error) {
      this.problem = describeError(error)
      return undefined
    }
  }

  close(): Promise<void> {
    return this.#pool.end()
  }

  async #ask(): Promise<ServerLook> {
    const { rows } = await this.#pool.query<{
      replica: boolean
      system: string
      blocks: string
      lsn: string
    }>({
      text: LOOK,
      query_timeout: this.#timeoutMs,
    } as pg.QueryConfig)
    const { replica, system, blocks, lsn } = rows[0]!
    return { position: { lsn: BigInt(lsn), blocks }, isReplica: replica, system }
  }
}
