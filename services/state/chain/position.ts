import { bytesToHex } from '../../core/bytes/index.ts'
import { notReady } from '../answers/index.ts'
import type { Queryable } from '../access/index.ts'

/** Number and id of a block. */
export interface BlockRef {
  readonly num: number
  /** Block id: 64 hexadecimal digits. */
  readonly id: string
}

/** Accounts and blocks whose state the reader's handler `state` stores. */
export interface Coverage {
  readonly accounts: ReadonlySet<string>
  readonly permissions: boolean
  /** First block that the handler `state` has stored. */
  readonly sinceBlock: number
  /** First block at which the state is known. */
  readonly historyFrom: number
}

/** Range of blocks that were not indexed, both ends included. */
export interface Gap {
  readonly first: number
  readonly last: number
}

/** Position of the reader whose data answers requests. */
export interface Position {
  /** Last committed block of the reader. */
  readonly head: BlockRef
  /** Last irreversible block that the reader has stored. */
  readonly irreversible: BlockRef
  /** First indexed block; after an import of chain state, the block of that state. */
  readonly startBlock: number
  /** Blocks between `startBlock` and `head` that were not indexed: gaps, ascending. */
  readonly gaps: readonly Gap[]
  /** First block of the history without gaps: from this block on, every block was indexed. */
  readonly wholeSince: number
  /** Head block that the chain node last reported to the reader; never below `head`. */
  readonly nodeHead: number
  /** Stored state of the reader; null if the reader has no handler `state`. */
  readonly coverage: Coverage | null
}

/** Selects the reader that stores state; if there is none, the reader with the highest position. */
const SELECT = `
  SELECT coalesce(i.history_since - 1, r.start_block) AS "startBlock", r.block_num AS num, r.block_id AS id, l.block_num AS "libNum",
    l.block_id AS "libId", h.head_block AS "nodeHead", c.accounts, c.permissions, c.since_block AS "sinceBlock",
    c.history_from AS "historyFrom",
    (SELECT coalesce(json_agg(json_build_object('first', g.first_block, 'last', g.last_block) ORDER BY g.first_block), '[]')
      FROM chain.gaps g WHERE g.reader = r.name AND g.last_block < r.block_num) AS gaps
  FROM chain.readers r
  CROSS JOIN LATERAL (
    SELECT b.block_num, b.block_id FROM chain.reversible_blocks b WHERE b.reader = r.name ORDER BY b.block_num LIMIT 1) l
  LEFT JOIN chain.imports i ON i.reader = r.name
  LEFT JOIN chain.heartbeats h ON h.reader = r.name
  LEFT JOIN state.coverage c ON c.reader = r.name
  ORDER BY c.reader IS NULL, r.block_num DESC LIMIT 1`

interface PositionRow {
  readonly startBlock: number
  readonly num: number
  readonly id: Buffer
  readonly libNum: number
  readonly libId: Buffer
  readonly nodeHead: number | null
  readonly accounts: string[] | null
  readonly permissions: boolean | null
  readonly sinceBlock: number | null
  readonly historyFrom: number | null
  readonly gaps: Gap[]
}

/**
 * Reads the position on this database session.
 * @throws Refusal 503 before the first block.
 */
export async function readPosition(database: Queryable): Promise<Position> {
  const { rows } = await database.query<PositionRow>({ name: 'position', text: SELECT })
  const row = rows[0]
  if (!row) throw notReady('No block has been indexed yet.')
  const coverage =
    row.accounts === null
      ? null
      : {
          accounts: new Set(row.accounts),
          permissions: row.permissions ?? false,
          sinceBlock: row.sinceBlock ?? 0,
          historyFrom: row.historyFrom ?? 0,
        }
  return {
    head: { num: row.num, id: bytesToHex(row.id) },
    irreversible: { num: row.libNum, id: bytesToHex(row.libId) },
    startBlock: row.startBlock,
    gaps: row.gaps,
    wholeSince: Math.max(row.startBlock, ...row.gaps.map(({ last }) => last + 1)),
    nodeHead: Math.max(row.nodeHead ?? 0, row.num),
    coverage,
  }
}

/**
 * Caches the position for a short time: reading the position for each ABI request would cost more than the response.
 */
export class PositionWatch {
  readonly #database: Queryable
  readonly #freshMs: number
  #known: Position | null = null
  #readAtMs = -Infinity
  #reading: Promise<Position> | null = null

  /** @param freshMs maximum age of a cached position, ms. */
  constructor(database: Queryable, freshMs: number) {
    this.#database = database
    this.#freshMs = freshMs
  }

  /**
   * Returns the cached position, or reads the position if the cached one is older than `freshMs` or below
   * block `atLeast`.
   * @throws Refusal 503 before the first block.
   */
  async get(atLeast = 0): Promise<Position> {
    const known = this.#known
    const isFresh = performance.now() - this.#readAtMs < this.#freshMs
    if (known && isFresh && known.head.num >= atLeast) return known
    return this.#read()
  }

  #read(): Promise<Position> {
    this.#reading ??= this.#readOnce().finally(() => {
      this.#reading = null
    })
    return this.#reading
  }

  async #readOnce(): Promise<Position> {
    const startedMs = performance.now()
    this.#known = await readPosition(this.#database)
    this.#readAtMs = startedMs
    return this.#known
  }
}
