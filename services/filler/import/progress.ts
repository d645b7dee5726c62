import type { NodeBlock } from '../../core/chain-node/index.ts'
import { FatalError } from '../../core/errors/index.ts'
import type { CommitUnit, FinalStatements, Store, UnitBlock } from '../store/index.ts'

/** Progress of a phase of an import: `done` of all `of` steps (or blocks, or rows) are finished. */
export interface ImportProgress {
  readonly phase: string
  readonly done: number
  readonly of: number
  /** Number of rows that this run of the import has written. */
  readonly rows: number
}

/** Identity of an import: its source and its block. */
export interface ImportSubject {
  readonly kind: 'database' | 'state'
  /** Address of the source database or of the chain node, without credentials. */
  readonly source: string
  readonly fingerprint: string
  readonly block: NodeBlock
  /** First block with complete history; null if the history is complete from the first block. */
  readonly historySince: number | null
  /** DDL statements that create the import's temporary tables in the schema `import`. */
  readonly workTables: readonly string[]
}

/**
 * Starts an import, or resumes an unfinished import of the same source. Rows of an unfinished import of another source
 * are deleted first.
 *
 * @param startsOver whether the rows of an unfinished import of the same source are deleted, too.
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

/** Names of the completed steps. */
export async function readSteps(store: Store): Promise<Set<string>> {
  const rows = await store.query<{ step: string }>('SELECT step FROM chain.import_steps WHERE reader = $1', [
    store.lease.reader,
  ])
  return new Set(rows.map(({ step }) => step))
}

/** Records a completed step, in the transaction that writes the step's rows. Parameters: reader, step, row count. */
export const NOTE_STEP = 'INSERT INTO chain.import_steps (reader, step, rows) VALUES ($1, $2, $3)'

/** A step whose rows are written as one commit unit of the store. */
export interface LoadedStep {
  /** Name of the step: unique within the import, and the same in every run over the same source. */
  readonly name: string
  readonly unit: CommitUnit
  readonly rows: number
  /** Time of the block whose state the rows represent. */
  readonly timeMs: number
}

/** Writes a step and records it as completed. `statements` run in the same transaction. */
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
 * Finishes an import: sets the reader's position to the import block. `finalStatements` run in the same transaction.
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
