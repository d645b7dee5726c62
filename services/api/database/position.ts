import type pg from 'pg'
import { answerWithin, createPool } from '../../core/database/index.ts'
import type { DatabaseAddress } from '../../core/database/index.ts'
import { describeError } from '../../core/errors/index.ts'

/** Replication position of a server at a time. */
export interface Position {
  /**
   * Position in the write-ahead log, bytes. Primary: at or after everything visible. Replica: at or before everything
   * visible.
   */
  readonly lsn: bigint
  /** Last committed block of every reader, with block id, as text. */
  readonly blocks: string
}

/** Result of one poll of a server. */
export interface ServerLook {
  readonly position: Position
  /** Whether the server is a standby. */
  readonly isReplica: boolean
  /** System identifier of the cluster; equal on a primary and its standbys. */
  readonly system: string
}

/**
 * Whether a server at `position` shows everything that a server at `wanted` shows. Equal blocks suffice: the log also
 * grows with changes that no request can see, and some of them reach a replica later than the blocks.
 */
export function hasReached(position: Position, wanted: Position): boolean {
  return position.lsn >= wanted.lsn || position.blocks === wanted.blocks
}

// Replica: the rows are read before the log position, so later statements see at least that position. Primary: the log
// position is after everything that the rows show. Both errors are on the safe side.
const LOOK = `
  SELECT pg_is_in_recovery() AS replica,
    (SELECT system_identifier::text FROM pg_control_system()) AS system,
    coalesce((SELECT string_agg(name || ':' || encode(block_id, 'hex'), ',' ORDER BY name) FROM chain.readers), '') AS blocks,
    (CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_insert_lsn() END - '0/0'::pg_lsn)::text AS lsn`

/** Polls a server on a connection of its own, which requests cannot occupy. */
export class PositionProbe {
  readonly #pool: pg.Pool
  readonly #timeoutMs: number
  /** Why the last poll failed; undefined if it succeeded. */
  problem: string | undefined

  constructor(address: DatabaseAddress, timeoutMs: number) {
    this.#timeoutMs = timeoutMs
    this.#pool = createPool(address, {
      applicationName: 'pronghorn-api-position',
      statementTimeoutMs: timeoutMs,
      max: 1,
    })
  }

  /** Polls the server; undefined if it does not answer in time. */
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
