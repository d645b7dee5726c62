import type { NodeBlock } from '../../core/chain-node/index.ts'
import { FatalError } from '../../core/errors/index.ts'
import type { CommitUnit, FinalStatements, Store, UnitBlock } from '../store/index.ts'

/**
 * Progress of one phase of an import: `done` steps of `of` steps are finished. Some phases count blocks or rows instead
 * of steps. `of` is 0 if the total is unknown.
 */
export interface ImportProgress {
  readonly phase: string
  readonly done: number
  readonly of: number
  /** Number of rows that this run of the import has written. */
  readonly rows: number
}

/** Identifies an import by its source and by the block whose state is imported. */
export interface ImportSubject {
  readonly kind: 'database' | 'state'
  /** Address of the source database or of the chain node, without credentials. */
  readonly source: string
  readonly fingerprint: string
  readonly block: NodeBlock
  /** First block from which the database has all history (logs, transfers, trades); null if no history is missing. */
  readonly historySince: number | null
  /** DDL statements that create the work tables of the import in the schema `import`. */
  readonly workTables: readonly string[]
}

/**
 * Starts an import, or resumes an unfinished import of the same source. A start first empties the tables of the reader,
 * which may contain rows of an unfinished import.
 *
 * @param startsOver true to start even if an unfinished import of the same source could be resumed.
 * @returns whether the import is resumed.
 * @throws FatalError `IMPORT_TARGET_FILLED`.
 */
export async function beginImport(
  store: Store,
  subject: ImportSubject,
  startsOver = false,
): Promise<boolean> {
  const { reader } = store.lease
  if (store.position !== null)
    throw new FatalError(
      'IMPORT_TARGET_FILLED',
      `reader ${reader} is at block ${store.position.num}; an import needs an empty database`,
    )
  const { kind, source, fingerprint, block, historySince, workTables } = subject
  const [known] = await store.query<{ same: boolean }>(
    'SELECT finished_at IS NULL AND kind = $2 AND fingerprint = $3 AS same FROM chain.imports WHERE reader = $1',
    [reader, kind, fingerprint],
  )
  if (known?.same === true && !startsOver) return true
  await store.wipe(async (statements) => {
    await statements.run('DROP SCHEMA IF EXISTS import CASCADE', [])
    await statements.run('DELETE FROM chain.import_steps WHERE reader = $1', [reader])
    await statements.run('DELETE FROM chain.imports WHERE reader = $1', [reader])
    for (const statement of ['CREATE SCHEMA import', ...workTables]) await statements.run(statement, [])
    await statements.run(
      `INSERT INTO chain.imports (reader, kind, source, fingerprint, block_num, block_time, block_id, history_since)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
      [
        reader,
        kind,
        source,
        fingerprint,
        block.num,
        block.timeMs,
        Buffer.from(block.id, 'hex'),
        historySince,
      ],
    )
  })
  return false
}

/** Reads the names of the import steps that are completed. */
export async function readSteps(store: Store): Promise<Set<string>> {
  const rows = await store.query<{ step: string }>('SELECT step FROM chain.import_steps WHERE reader = $1', [
    store.lease.reader,
  ])
  return new Set(rows.map(({ step }) => step))
}

/**
 * INSERT that records a completed step. Runs in the transaction that writes the step's rows. Parameters: reader, name
 * of the step, number of rows.
 */
export const NOTE_STEP = 'INSERT INTO chain.import_steps (reader, step, rows) VALUES ($1, $2, $3)'

/** A step whose rows are written as one commit unit of the store. */
export interface LoadedStep {
  /** Name of the step: unique within the import, and the same in every run over the same source. */
  readonly name: string
  readonly unit: CommitUnit
  readonly rows: number
  /** Time of the imported block, in ms since 1970. Derived values of the rows are computed for this time. */
  readonly timeMs: number
}

/**
 * Writes the rows of a step and records the step as completed, in one transaction. `statements`, if given, run in the
 * transaction after the rows are written.
 */
export async function loadStep(
  store: Store,
  { name, unit, rows, timeMs }: LoadedStep,
  statements?: FinalStatements,
): Promise<void> {
  await store.load(unit, timeMs, async (final) => {
    await statements?.(final)
    await final.run(NOTE_STEP, [store.lease.reader, name, rows])
  })
}

/**
 * Finishes an import: sets the reader's position to the import block and drops the schema `import` with the work
 * tables, in one transaction. `finalStatements`, if given, run in this transaction.
 */
export async function finishImport(
  store: Store,
  block: UnitBlock,
  finalStatements?: FinalStatements,
): Promise<void> {
  const { reader } = store.lease
  await store.begin(block, async (statements) => {
    await finalStatements?.(statements)
    await statements.run('DROP SCHEMA import CASCADE', [])
    await statements.run('DELETE FROM chain.import_steps WHERE reader = $1', [reader])
    await statements.run(
      'UPDATE chain.imports SET finished_at = now(), block_num = $2, block_time = $3, block_id = $4 WHERE reader = $1',
      [reader, block.num, block.timeMs, block.id],
    )
  })
}
