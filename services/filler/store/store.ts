import pg from 'pg'
import { connectDatabase, databaseFailure, knownFailure } from '../../core/database/index.ts'
import type { DatabaseAddress } from '../../core/database/index.ts'
import { FatalError, RetryableError } from '../../core/errors/index.ts'
import { CommitUnit } from './commit-unit.ts'
import type { UnitBlock } from './commit-unit.ts'
import type { DerivedStep, UnitClock } from '../rows/operations.ts'
import { undoHistory } from './history.ts'
import { JournalExtent } from './journal-extent.ts'
import { restoreRows } from './journal.ts'
import { readLayouts } from './layout.ts'
import type { TableLayout } from './layout.ts'
import { checkLease, takeLease } from './lease.ts'
import type { Lease } from './lease.ts'
import { WriterSession } from './session.ts'
import type { Table, VersionedTable } from '../../core/model/index.ts'
import { UnitWriter, planDerived } from './unit-writer.ts'
import type { DerivedPlan } from './unit-writer.ts'

export interface StoreOptions {
  readonly address: DatabaseAddress
  /** Reader name in readers.config.json. */
  readonly reader: string
  /** First block to index when the reader has no position yet. */
  readonly startBlock: number
  readonly tables: readonly Table[]
  /** Derived values, in the order in which derivations and aggregates run. */
  readonly derived?: readonly DerivedStep[]
  /** Time in ms to wait for a lease whose holder may be gone. Only tests set this option. */
  readonly handoverMs?: number
}

/** Runs statements in the store's open transaction. */
export interface Statements {
  /** Returns the number of affected rows. */
  run(text: string, values: readonly unknown[]): Promise<number>
  select<T extends object>(text: string, values: readonly unknown[]): Promise<T[]>
}

/** Callback that adds statements at the end of a transaction. A rejection rolls the transaction back. */
export type FinalStatements = (statements: Statements) => Promise<void>

/** The only writer of a reader's rows. Not for concurrent use: one call at a time. */
export interface Store {
  /** Last committed block, or null before the first. */
  readonly position: UnitBlock | null
  /** First block that this reader indexed or will index. */
  readonly startBlock: number
  /**
   * Blocks to offer the node on reconnect, ascending. The oldest block precedes the undo journal, so no rollback can
   * undo this block.
   */
  readonly knownBlocks: readonly UnitBlock[]
  /**
   * Runs a read on the writer's session, between transactions.
   *
   * @throws as `commit`.
   */
  query<T extends pg.QueryResultRow>(text: string, values?: readonly unknown[]): Promise<T[]>
  /**
   * Writes a unit: rows, derived values, undo journal and position in one transaction.
   *
   * @param irreversible the chain's last irreversible block. The journal up to this block is pruned.
   * @param finalStatements run last. Their rows are published at once, so the commit is flushed to disk like commits at
   * the head.
   * @throws FatalError `READER_LEASE_LOST`; RetryableError `DATABASE_UNAVAILABLE` when the connection broke; FatalError
   * `DATABASE_ERROR` when a statement was refused. After an error, the database contains nothing of the unit.
   */
  commit(unit: CommitUnit, irreversible: number, finalStatements?: FinalStatements): Promise<void>
  /**
   * Rolls back all blocks from `block` on; `finalStatements` run last.
   *
   * @throws FatalError `UNDO_JOURNAL_EXHAUSTED` if the journal does not reach down to `block`.
   */
  rollBackTo(block: number, finalStatements?: FinalStatements): Promise<void>
  /**
   * Deletes all rows of this reader and its position, except shared rows that other readers rely on; `finalStatements`
   * run last.
   */
  wipe(finalStatements?: FinalStatements): Promise<void>
  /**
   * Writes the rows of a unit and their derived values as of a chain time, without undo journal and position. An import
   * uses `load`, and sets the position with `begin` after the last row.
   *
   * @throws as `commit`.
   */
  load(unit: CommitUnit, timeMs: number, finalStatements?: FinalStatements): Promise<void>
  /**
   * Sets the position of a reader after `load` has written its rows; `finalStatements` run last.
   * @throws as `commit`.
   */
  begin(block: UnitBlock, finalStatements?: FinalStatements): Promise<void>
  /** Lease of this store. Other sessions that write for the reader check the lease in each of their transactions. */
  readonly lease: Lease
  /** Closes the session, which releases the lease. */
  close(): Promise<void>
}

const SESSION_SETTINGS = `
  SET synchronous_commit = off;
  SET jit = off;
  SET enable_hashjoin = off;
  SET enable_mergejoin = off;
  SET enable_seqscan = off;
  SET plan_cache_mode = force_generic_plan;
  SET tcp_keepalives_idle = 10;
  SET tcp_keepalives_interval = 5;
  SET tcp_keepalives_count = 3`

/** Catch-up commits do not wait for the disk: after a crash the reader repeats the lost commits. */
const BEGIN = 'BEGIN'
/** Commits at the head are flushed at once: replicas receive only flushed WAL. */
const BEGIN_AT_HEAD = 'BEGIN; SET LOCAL synchronous_commit = local'

/**
 * Connects, takes the reader's lease and reads its position.
 *
 * @throws FatalError `READER_LEASE_HELD`; RetryableError `DATABASE_UNAVAILABLE`.
 */
export async function openStore(options: StoreOptions): Promise<Store> {
  const client = await connectDatabase(options.address, {
    applicationName: `pronghorn filler ${options.reader}`,
  }).catch((cause: unknown) => {
    throw databaseFailure(cause, 'the database cannot be reached', options.address)
  })
  try {
    await client.query(SESSION_SETTINGS)
    const lease = await takeLease(client, options.reader, options.handoverMs)
    const layouts = await readLayouts(client, options.tables)
    const store = new PostgresStore({
      session: new WriterSession(client),
      lease,
      layouts,
      plan: planDerived(options.derived ?? []),
      wantedStart: options.startBlock,
    })
    await store.loadPosition()
    return store
  } catch (error) {
    await client.end().catch(() => undefined)
    throw asStoreError(error)
  }
}

interface StoreParts {
  readonly session: WriterSession
  readonly lease: Lease
  readonly layouts: ReadonlyMap<Table, TableLayout>
  readonly plan: DerivedPlan
  /** First block to index if the reader has no position. */
  readonly wantedStart: number
}

class PostgresStore implements Store {
  position: UnitBlock | null = null
  startBlock = 0
  knownBlocks: UnitBlock[] = []
  readonly #session: WriterSession
  readonly lease: Lease
  readonly #layouts: ReadonlyMap<Table, TableLayout>
  readonly #plan: DerivedPlan
  readonly #wantedStart: number
  readonly #journal = new JournalExtent()
  /** Block up to which this session has pruned each table. */
  readonly #forgottenTo = new Map<Table, number>()

  constructor({ session, lease, layouts, plan, wantedStart }: StoreParts) {
    this.#session = session
    this.lease = lease
    this.#layouts = layouts
    this.#plan = plan
    this.#wantedStart = wantedStart
  }

  async loadPosition(): Promise<void> {
    const readers = await this.query<{ start_block: number; num: number; time: bigint; id: Buffer }>(
      'SELECT start_block, block_num AS num, block_time AS time, block_id AS id FROM chain.readers WHERE name = $1',
      [this.lease.reader],
    )
    const row = readers[0]
    this.startBlock = row?.start_block ?? this.#wantedStart
    this.position = row ? { num: row.num, id: row.id, timeMs: Number(row.time) } : null
    const known = await this.query<{ num: number; time: bigint; id: Buffer }>(
      'SELECT block_num AS num, block_time AS time, block_id AS id FROM chain.reversible_blocks WHERE reader = $1 ORDER BY block_num',
      [this.lease.reader],
    )
    this.knownBlocks = known.map((block) => ({ num: block.num, id: block.id, timeMs: Number(block.time) }))
  }

  async query<T extends pg.QueryResultRow>(text: string, values: readonly unknown[] = []): Promise<T[]> {
    try {
      const { rows } = await this.#session.client.query<T>(text, [...values])
      return rows
    } catch (error) {
      throw asStoreError(error)
    }
  }

  async commit(unit: CommitUnit, irreversible: number, finalStatements?: FinalStatements): Promise<void> {
    const last = unit.last
    if (last === null) return
    const oldest = Math.min(irreversible, last.num)
    const forgotten = new Map<Table, number>()
    await this.#transaction(unit.reversible || finalStatements ? BEGIN_AT_HEAD : BEGIN, async () => {
      const undoBlock = unit.reversible ? last.num : null
      const clock = { nowMs: last.timeMs, beforeMs: this.position?.timeMs ?? 0 }
      const writer = this.#writer(clock, undoBlock)
      await writer.write(unit)
      if (undoBlock !== null) this.#journal.noteJournaled(writer.written, undoBlock)
      await this.#writePosition(unit, last)
      await this.#pruneJournal(oldest)
      await this.#forget(unit, oldest, forgotten)
      await finalStatements?.(this.#session)
    })
    for (const [table, before] of forgotten) this.#forgottenTo.set(table, before)
    this.position = last
    this.#journal.notePruned(oldest, last.num, this.#layouts.values())
    this.knownBlocks = [...this.knownBlocks.filter((block) => block.num >= oldest), last]
  }

  async load(unit: CommitUnit, timeMs: number, finalStatements?: FinalStatements): Promise<void> {
    await this.#transaction(BEGIN, async () => {
      // `nowMs` equals `beforeMs`, so no block time has passed. Derivations that block time triggers therefore return
      // no rows; the import requests these derivations explicitly.
      const clock = { nowMs: timeMs, beforeMs: timeMs }
      await this.#writer(clock, null).write(unit)
      await finalStatements?.(this.#session)
    })
  }

  async begin(block: UnitBlock, finalStatements?: FinalStatements): Promise<void> {
    await this.#transaction(BEGIN_AT_HEAD, async () => {
      await this.#writePosition(new CommitUnit(false), block)
      await finalStatements?.(this.#session)
    })
    this.position = block
    this.knownBlocks = [block]
  }

  async rollBackTo(block: number, finalStatements?: FinalStatements): Promise<void> {
    const anchor = this.knownBlocks.find((known) => known.num === block - 1)
    if (!anchor) {
      throw new FatalError(
        'UNDO_JOURNAL_EXHAUSTED',
        `a fork reaches down to block ${block}, but the oldest block to which reader ${this.lease.reader} can roll back is ${this.knownBlocks[0]?.num ?? 'none'}`,
      )
    }
    await this.#transaction(BEGIN_AT_HEAD, async () => {
      // Only one rollback runs at a time: otherwise a shared row could pass to a reader that has just deleted
      // its rows of the same block.
      await this.#session.run("SELECT pg_advisory_xact_lock(hashtextextended('pronghorn rollback', 0))")
      const { rows } = await this.#session.client.query<{ first: bigint | null }>(
        'SELECT min(first_seq) AS first FROM chain.reversible_blocks WHERE reader = $1 AND block_num >= $2',
        [this.lease.reader, block],
      )
      const journaled = new Set(this.#journal.reachingUpTo(block, this.#layouts.values()))
      for (const layout of this.#layouts.values())
        if (layout.undoTable === null || journaled.has(layout))
          await this.#undoTable(layout, block, rows[0]?.first ?? null)
      await this.#session.run('DELETE FROM chain.reversible_blocks WHERE reader = $1 AND block_num >= $2', [
        this.lease.reader,
        block,
      ])
      await this.#session.run(
        'UPDATE chain.readers SET block_num = $2, block_time = $3, block_id = $4 WHERE name = $1',
        [this.lease.reader, anchor.num, anchor.timeMs, anchor.id],
      )
      await finalStatements?.(this.#session)
    })
    this.position = anchor
    this.knownBlocks = this.knownBlocks.filter((known) => known.num < block)
  }

  async wipe(finalStatements?: FinalStatements): Promise<void> {
    await this.#transaction(BEGIN, async () => {
      for (const { table, undoTable, past } of this.#layouts.values()) {
        if (table.kind === 'versioned') await this.#deleteVersions(table, 0)
        else
          await this.#session.client.query(
            `TRUNCATE ${[table.name, ...(undoTable === null ? [] : [undoTable]), ...(past === null ? [] : [past.name])].join(', ')}`,
          )
      }
      await this.#session.run('DELETE FROM chain.reversible_blocks WHERE reader = $1', [this.lease.reader])
      await this.#session.run('DELETE FROM chain.readers WHERE name = $1', [this.lease.reader])
      await finalStatements?.(this.#session)
    })
    this.#journal.clear()
    this.#forgottenTo.clear()
    await this.loadPosition()
  }

  async close(): Promise<void> {
    await this.#session.client.end().catch(() => undefined)
  }

  #writer(clock: UnitClock, undoBlock: number | null): UnitWriter {
    const session = this.#session
    return new UnitWriter({ session, layouts: this.#layouts, plan: this.#plan, clock, undoBlock })
  }

  async #undoTable(layout: TableLayout, block: number, firstSeq: bigint | null): Promise<void> {
    const table = layout.table
    if (table.kind === 'append') {
      if (firstSeq !== null)
        await this.#session.run(`DELETE FROM ${table.name} WHERE "${String(table.key[0])}" >= $1`, [firstSeq])
    } else if (table.kind === 'history') {
      await undoHistory(this.#session, layout, block)
    } else if (table.kind === 'versioned') {
      await this.#deleteVersions(table, block)
    } else {
      await restoreRows(this.#session, layout, block)
    }
  }

  /**
   * Deletes this reader's rows from a block on. A shared row passes to another reader that has indexed the same block.
   */
  async #deleteVersions(table: VersionedTable<object>, from: number): Promise<void> {
    const version = `t."${String(table.version)}"`
    const own = `t.reader = $1 AND ${version} >= $2`
    const values = [this.lease.reader, from]
    if (table.shared) {
      // Lock the rows first. Another reader may be writing the same rows. The lock waits for the commit of the other
      // reader. After the commit, the position of the other reader shows whether it has the block.
      const [locked] = await this.#session.select<{ rows: bigint }>(
        `SELECT count(*) AS rows FROM (SELECT FROM ${table.name} t WHERE ${own} FOR UPDATE) l`,
        values,
      )
      if (locked?.rows === 0n) return
      await this.#session.run(
        `UPDATE ${table.name} t SET reader = o.name FROM chain.readers o
         WHERE ${own} AND o.name <> $1 AND o.block_num >= ${version} AND (${version} <= $3 OR EXISTS (
           SELECT FROM chain.reversible_blocks b JOIN chain.reversible_blocks c USING (block_num, block_id)
           WHERE b.reader = $1 AND c.reader = o.name AND b.block_num = ${version}))`,
        [...values, this.knownBlocks[0]?.num ?? 0],
      )
    }
    await this.#session.run(`DELETE FROM ${table.name} t WHERE ${own}`, values)
  }

  async #writePosition(unit: CommitUnit, last: UnitBlock): Promise<void> {
    await this.#session.run(
      `INSERT INTO chain.readers (name, start_block, block_num, block_time, block_id) VALUES ($1, $2, $3, $4, $5)
       ON CONFLICT (name) DO UPDATE SET block_num = EXCLUDED.block_num, block_time = EXCLUDED.block_time, block_id = EXCLUDED.block_id`,
      [this.lease.reader, this.startBlock, last.num, last.timeMs, last.id],
    )
    await this.#session.run(
      'INSERT INTO chain.reversible_blocks (reader, block_num, first_seq, block_time, block_id) VALUES ($1, $2, $3, $4, $5)',
      [this.lease.reader, last.num, unit.reversible ? unit.firstSeq : null, last.timeMs, last.id],
    )
  }

  /**
   * Prunes the undo journal of irreversible blocks. The newest irreversible block stays as the rollback target, without
   * `first_seq`, like a block that was never reversible.
   */
  async #pruneJournal(oldest: number): Promise<void> {
    if (oldest <= this.#journal.prunedTo) return
    const reader = this.#session.client.escapeLiteral(this.lease.reader)
    const statements = [
      `DELETE FROM chain.reversible_blocks WHERE reader = ${reader} AND block_num < ${oldest}`,
      `UPDATE chain.reversible_blocks SET first_seq = NULL
       WHERE reader = ${reader} AND block_num = ${oldest} AND first_seq IS NOT NULL`,
    ]
    for (const undoTable of this.#journal.reachingDownTo(oldest, this.#layouts.values()))
      statements.push(`DELETE FROM ${undoTable} WHERE undo_block <= ${oldest}`)
    await this.#session.client.query(statements.join(';'))
  }

  /** Prunes old rows that no fork can restore; records the pruned block in `forgotten`. */
  async #forget(unit: CommitUnit, oldest: number, forgotten: Map<Table, number>): Promise<void> {
    for (const { table, forgetBefore } of unit.tables.values()) {
      const before = Math.min(forgetBefore, oldest)
      if (before <= (this.#forgottenTo.get(table) ?? 0)) continue
      if (table.kind === 'history')
        await this.#session.run(`DELETE FROM ${table.past} WHERE until_block <= $1`, [before])
      else if (table.kind === 'versioned')
        await this.#session.run(
          `DELETE FROM ${table.name} WHERE reader = $1 AND "${String(table.version)}" < $2`,
          [this.lease.reader, before],
        )
      forgotten.set(table, before)
    }
  }

  async #transaction(begin: string, work: () => Promise<void>): Promise<void> {
    try {
      await this.#session.client.query(begin)
      await checkLease(this.#session.client, this.lease)
      await work()
      await this.#session.client.query('COMMIT')
    } catch (error) {
      this.#session.forgetTables()
      await this.#session.client.query('ROLLBACK').catch(() => undefined)
      throw asStoreError(error)
    }
  }
}

/** SQLSTATE classes of transient errors: 08 connection, 53 resources, 57 operator intervention, 40 serialisation. */
const RETRYABLE_STATES = /^(08|53|57|40)/

/** Converts a session error to a retryable or fatal error of the program. */
export function asStoreError(error: unknown): Error {
  if (error instanceof FatalError || error instanceof RetryableError) return error
  // A programming error, which a new connection does not fix.
  if (error instanceof TypeError || error instanceof RangeError) return error
  if (knownFailure(error)) return databaseFailure(error, '')
  if (error instanceof pg.DatabaseError && !RETRYABLE_STATES.test(error.code ?? '')) {
    return new FatalError('DATABASE_ERROR', 'the database refused a statement', { cause: error })
  }
  return databaseFailure(error, 'the database connection broke')
}
