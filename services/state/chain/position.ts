import { bytesToHex } from '../../core/bytes/index.ts'
import { notReady } from '../answers/index.ts'
import type { Queryable } from '../access/index.ts'

/** A block by number and id. */
export interface BlockRef {
  readonly num: number
  /** 64 hexadecimal digits. */
  readonly id: string
}

/** What the handler `state` of the reader stores. */
export interface Coverage {
  readonly accounts: ReadonlySet<string>
  readonly permissions: boolean
  /** First stored block. */
  readonly sinceBlock: number
  /** First block whose state is known. */
  readonly historyFrom: number
}

/** Blocks that were not indexed, both ends included. */
export interface Gap {
  readonly first: number
  readonly last: number
}

/** Where the reader stands that answers are taken from. */
export interface Position {
  /** Last committed block. */
  readonly head: BlockRef
  /** Last block of it that no fork can undo. */
  readonly irreversible: BlockRef
  /** First block that was indexed; after an import of the chain's state, the block whose state it was. */
  readonly startBlock: number
  /** Blocks between that one and the head that were left out, ascending. */
  readonly gaps: readonly Gap[]
  /** First block from which on every block was indexed. */
  readonly wholeSince: number
  /** Head of the chain node, as the reader last knew it; never below `head`. */
  readonly nodeHead: number
  /** Null where the reader has no handler `state`. */
  readonly coverage: Coverage | null
}

/** The reader that stores state; without one, the reader with the highest position. */
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

/** Reads the position as this database session sees it. @throws Refusal 503 before the first block. */
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

/** The position, cached for a short time: reading it for every request would cost more than the answers. */
export class PositionWatch {
  readonly #database: Queryable
  readonly #freshMs: number
  #known: Position | null = null
  #readAtMs = -Infinity
  #reading: Promise<Position> | null = null

  /** @param freshMs how old a position may be. */
  constructor(database: Queryable, freshMs: number) {
    this.#database = database
    this.#freshMs = freshMs
  }

  /** The position, read again when it is too old or below `atLeast`. @throws Refusal 503 before the first block. */
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
