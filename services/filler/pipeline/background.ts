import type pg from 'pg'
import { connectDatabase } from '../../core/database/index.ts'
import type { DatabaseAddress } from '../../core/database/index.ts'
import { retry } from '../../core/retry/index.ts'

/** Delay after the first failed attempt; doubles with each further failure, up to LONGEST_RETRY_MS. */
const FIRST_RETRY_MS = 5_000
const LONGEST_RETRY_MS = 300_000

/** Work of a reader beside the reading of blocks, on a database connection of its own. */
export interface BackgroundWork {
  readonly database: DatabaseAddress
  readonly connection: Parameters<typeof connectDatabase>[1]
  /** Ends the work by closing its connection. */
  readonly signal: AbortSignal
  readonly run: (client: pg.Client) => Promise<void>
}

/**
 * Runs work on a new connection. Resolves when the work is done or the signal aborts.
 * @throws the error of the work, unless the signal has aborted.
 */
export async function runBeside({ database, connection, signal, run }: BackgroundWork): Promise<void> {
  const client = await connectDatabase(database, connection)
  const cut = () => void client.end().catch(() => undefined)
  signal.addEventListener('abort', cut, { once: true })
  try {
    if (!signal.aborted) await run(client)
  } catch (error) {
    if (!signal.aborted) throw error
  } finally {
    signal.removeEventListener('abort', cut)
    await client.end().catch(() => undefined)
  }
}

/**
 * Runs work, and repeats it after any failure, because an operator may remove the cause. Resolves when the work is done
 * or the signal aborts.
 * @param onFailure called after each failure.
 * @param firstRetryMs delay after the first failure.
 */
export async function repeatBeside(
  work: BackgroundWork,
  onFailure: (error: unknown, delayMs: number) => void,
  firstRetryMs = FIRST_RETRY_MS,
): Promise<void> {
  const running = retry(() => runBeside(work), {
    firstMs: firstRetryMs,
    longestMs: LONGEST_RETRY_MS,
    signal: work.signal,
    onFailure: (error, _failures, delayMs) => onFailure(error, delayMs),
  })
  // `retry` fails only after the signal aborted, so the error needs no report.
  await running.catch(() => undefined)
}
