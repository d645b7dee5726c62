import type pg from 'pg'
import { answerWithin, createPool } from '../../core/database/index.ts'
import type { DatabaseAddress } from '../../core/database/index.ts'
import { describeError } from '../../core/errors/index.ts'

/** Position of a server at a time. */
export interface Position {
  /** Place in the write-ahead log, in bytes: of a primary not less than what it shows, of a replica not more. */
  readonly lsn: bigint
  /** Last committed block of every reader, by its id. */
  readonly blocks: string
}

/** Reads the position of a server. */
export interface ServerLook {
  readonly position: Position
  /** True for a standby. */
  readonly isReplica: boolean
  /** The same for a primary and its standbys. */
  readonly system: string
}

/**
 * Whether a server at `position` shows everything that one at `wanted` shows. Equal blocks are enough: the log also
 * grows with what no request can see, and part of it reaches a replica later than the blocks.
 */
export function hasReached(position: Position, wanted: Position): boolean {
  return position.lsn >= wanted.lsn || position.blocks === wanted.blocks
}

// On a replica the rows are read before the log position, so later statements are past it; on the primary the log position
// is past everything that the rows show. Both err on the safe side.
const LOOK = `
  SELECT pg_is_in_recovery() AS replica,
    (SELECT system_identifier::text FROM pg_control_system()) AS system,
    coalesce((SELECT string_agg(name || ':' || encode(block_id, 'hex'), ',' ORDER BY name) FROM chain.readers), '') AS blocks,
    (CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_insert_lsn() END - '0/0'::pg_lsn)::text AS lsn`

/** Queries a server on its own connection, which no request can occupy. */
export class PositionProbe {
  readonly #pool: pg.Pool
  readonly #timeoutMs: number
  /** Why the last look failed; undefined when it did not. */
  problem: string | undefined

  constructor(address: DatabaseAddress, timeoutMs: number) {
    this.#timeoutMs = timeoutMs
    this.#pool = createPool(address, {
      applicationName: 'pronghorn-api-position',
      statementTimeoutMs: timeoutMs,
      max: 1,
    })
  }

  /** Undefined when the server does not answer in time. */
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
