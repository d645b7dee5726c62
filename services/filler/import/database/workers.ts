import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type pg from 'pg'
import { from as copyFrom, to as copyTo } from 'pg-copy-streams'
import { connectDatabase, databaseFailure } from '../../../core/database/index.ts'
import type { DatabaseAddress } from '../../../core/database/index.ts'
import { checkLease, joinLines } from '../../store/index.ts'
import type { Lease } from '../../store/index.ts'
import { NOTE_STEP } from '../progress.ts'
import type { OldSource } from './old-source.ts'

/** A part of an import that one transaction writes completely or not at all. */
export interface ImportStep {
  /** Name of the step: unique within the import, and the same in every run over the same source. */
  readonly name: string
  /** Writes the step's rows in the open transaction of `target`; returns the number of rows. */
  run(worker: ImportWorker): Promise<number>
}

/** Two sessions: `source` reads the snapshot of the source database, `target` writes to the target database. */
export interface ImportWorker {
  readonly source: pg.Client
  readonly target: pg.Client
}

/** Opens two database sessions for each of `count` import workers: one on the source, one on the target. */
export async function openWorkers(
  source: OldSource,
  target: DatabaseAddress,
  count: number,
): Promise<ImportWorker[]> {
  const workers: ImportWorker[] = []
  try {
    for (let i = 0; i < count; i++) {
      const reading = await source.openSession('read')
      const writing = await connectDatabase(target, { applicationName: 'pronghorn import' }).catch(
        (cause: unknown) => {
          throw databaseFailure(cause, 'the database cannot be reached', target)
        },
      )
      await writing.query('SET synchronous_commit = off; SET jit = off')
      workers.push({ source: reading, target: writing })
    }
    return workers
  } catch (error) {
    await closeWorkers(workers)
    throw error
  }
}

/** Closes the sessions of all workers. */
export async function closeWorkers(workers: readonly ImportWorker[]): Promise<void> {
  for (const { source, target } of workers) {
    await source.end().catch(() => undefined)
    await target.end().catch(() => undefined)
  }
}

export interface StepRun {
  readonly lease: Lease
  readonly signal: AbortSignal
  /** Called after each step with the number of rows that the step wrote. */
  readonly onStep: (rows: number) => void
}

/**
 * Runs the steps of an import. Each worker runs one step at a time. A step is one transaction, which checks the lease,
 * writes the rows and records the step. If the import is interrupted, the database therefore contains complete steps
 * only.
 */
export async function runSteps(
  workers: readonly ImportWorker[],
  steps: readonly ImportStep[],
  { lease, signal, onStep }: StepRun,
): Promise<void> {
  const waiting = steps[Symbol.iterator]()
  let isFailed = false
  await Promise.all(
    workers.map(async (worker) => {
      try {
        for (;;) {
          if (isFailed) return
          signal.throwIfAborted()
          const next = waiting.next()
          if (next.done) return
          onStep(await runStep(worker, lease, next.value))
        }
      } catch (error) {
        isFailed = true
        throw error
      }
    }),
  )
}

async function runStep(worker: ImportWorker, lease: Lease, step: ImportStep): Promise<number> {
  const { target } = worker
  try {
    await target.query('BEGIN')
    await checkLease(target, lease)
    const rows = await step.run(worker)
    await target.query(NOTE_STEP, [lease.reader, step.name, rows])
    await target.query('COMMIT')
    return rows
  } catch (error) {
    await target.query('ROLLBACK').catch(() => undefined)
    throw error
  }
}

/** Table that COPY writes to, and its columns in the order of the values in a COPY line. */
export interface CopiedColumns {
  readonly table: string
  readonly columns: readonly string[]
}

/**
 * Copies the rows that a SELECT on the source database returns to a table of the target database. `change`, if given,
 * receives each COPY line without the line feed, and returns the COPY line to write, with the line feed.
 */
export async function copyAcross(
  { source, target }: ImportWorker,
  select: string,
  into: CopiedColumns,
  change?: (line: string) => string,
): Promise<number> {
  const reading = source.query(copyTo(`COPY (${select}) TO STDOUT`))
  const writing = target.query(copyFrom(copyStatement(into)))
  if (change === undefined) await pipeline(reading, writing)
  else await pipeline(reading, changeLines(change), writing)
  return writing.rowCount
}

/** Writes lines of COPY text to a table. Each line ends with a line feed. */
export async function copyText(
  target: pg.ClientBase,
  into: CopiedColumns,
  lines: Iterable<string | Buffer>,
): Promise<number> {
  const writing = target.query(copyFrom(copyStatement(into)))
  await pipeline(joinLines(lines, CHUNK_CHARACTERS), writing)
  return writing.rowCount
}

const CHUNK_CHARACTERS = 1 << 16

function copyStatement({ table, columns }: CopiedColumns): string {
  return `COPY ${table} (${columns.map((column) => `"${column}"`).join(', ')}) FROM STDIN`
}

/**
 * Stream that converts COPY text line by line. COPY text escapes line feeds in values, so each line feed ends a row.
 */
function changeLines(change: (line: string) => string): Transform {
  let rest: Buffer = Buffer.alloc(0)
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
      const end = bytes.lastIndexOf(0x0a) + 1
      rest = bytes.subarray(end)
      if (end === 0) {
        done()
        return
      }
      const lines = bytes.toString('utf8', 0, end - 1).split('\n')
      let text = ''
      for (const line of lines) text += change(line)
      done(null, text)
    },
  })
}
