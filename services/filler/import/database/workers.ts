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

/** A piece of an import that is written in one transaction, or not at all. */
export interface ImportStep {
  /** Unique in the import, and the same in every run over the same source. */
  readonly name: string
  /** Writes its rows in the open transaction of `target`; returns how many. */
  run(worker: ImportWorker): Promise<number>
}

/** A session on the source's snapshot and one that writes here. */
export interface ImportWorker {
  readonly source: pg.Client
  readonly target: pg.Client
}

/** Opens sessions for `count` workers. */
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

/** Ends the sessions of workers. */
export async function closeWorkers(workers: readonly ImportWorker[]): Promise<void> {
  for (const { source, target } of workers) {
    await source.end().catch(() => undefined)
    await target.end().catch(() => undefined)
  }
}

/** How steps are run. */
export interface StepRun {
  readonly lease: Lease
  readonly signal: AbortSignal
  /** Is called after each step with the rows that it wrote. */
  readonly onStep: (rows: number) => void
}

/** Runs steps, one per worker at the same time. Each is one transaction that checks the lease and records the step; after an interruption the database contains complete steps only. */
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

/** The columns of a table that COPY text has. */
export interface CopiedColumns {
  readonly table: string
  readonly columns: readonly string[]
}

/** Copies the rows of a statement of the source into a table, line by line through `change` when there is one. */
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

/** Copies lines of COPY text, each with its line feed, into a table. */
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

/** COPY text has a line feed at the end of each row and nowhere else. */
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
