import type pg from 'pg'
import { pause } from '../../core/retry/index.ts'
import { repeatBeside } from './background.ts'
import type { ReaderOptions } from './reader-options.ts'

/** Delays of the cleaner; for tests. */
interface CleaningTimes {
  /** Pause between two rounds, ms. */
  readonly intervalMs: number
  /** Delay after the first failure, ms. */
  readonly firstRetryMs?: number
}

const defaultTimes: CleaningTimes = { intervalMs: 5_000 }
type CleanerOptions = Pick<ReaderOptions, 'database' | 'logger'> & {
  readonly settings: Pick<ReaderOptions['settings'], 'contracts' | 'name'>
}

/**
 * Moves the entries of the pending lists of GIN indexes into the indexes, in the background. A commit appends its
 * entries to the pending list, and each search reads the whole list. PostgreSQL itself empties a list only when the
 * list is larger than `gin_pending_list_limit`, within the commit that exceeds the limit, or when autovacuum processes
 * the table.
 */
export class PendingListCleaner {
  readonly #options: CleanerOptions
  readonly #times: CleaningTimes
  readonly #ending = new AbortController()
  #running: Promise<void> | null = null

  constructor(options: CleanerOptions, times = defaultTimes) {
    this.#options = options
    this.#times = times
  }

  /** Starts cleaning in the background; further calls do nothing. */
  start(): void {
    if (!this.#ending.signal.aborted) this.#running ??= this.#cleanRepeatedly()
  }

  async stop(): Promise<void> {
    this.#ending.abort()
    await this.#running
  }

  #cleanRepeatedly(): Promise<void> {
    const { database, logger, settings } = this.#options
    const { signal } = this.#ending
    const families = settings.contracts.map(({ handler }) => handler)
    const work = {
      database,
      connection: { applicationName: `pronghorn pending lists ${settings.name}` },
      signal,
      run: async (client: pg.Client) => {
        do await cleanPendingLists(client, families)
        while (await pause(this.#times.intervalMs, signal))
      },
    }
    const onFailure = (error: unknown, delayMs: number): void =>
      logger.warn(
        { err: error, delayMs },
        'the pending lists of GIN indexes could not be emptied, so searches are slower; the attempt is repeated',
      )
    return repeatBeside(work, onFailure, this.#times.firstRetryMs)
  }
}

/** Empties the pending lists of all GIN indexes in the schemas of families. */
async function cleanPendingLists(client: pg.ClientBase, families: readonly string[]): Promise<void> {
  await client.query(
    `SELECT gin_clean_pending_list(c.oid) FROM pg_class c
       JOIN pg_index i ON i.indexrelid = c.oid JOIN pg_am m ON m.oid = c.relam JOIN pg_namespace s ON s.oid = c.relnamespace
     WHERE m.amname = 'gin' AND c.relkind = 'i' AND i.indisvalid AND s.nspname = ANY($1)`,
    [families],
  )
}
