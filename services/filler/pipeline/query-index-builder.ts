import {
  buildQueryIndexes,
  connectDatabase,
  knownFailure,
  listIndexFamilies,
} from '../../core/database/index.ts'
import type { DatabaseAddress } from '../../core/database/index.ts'
import type { Logger } from '../../core/log/index.ts'
import { retry } from '../../core/retry/index.ts'

/** Wait before a failed index build is retried; doubles up to LONGEST_RETRY_MS. */
const FIRST_RETRY_MS = 5_000
const LONGEST_RETRY_MS = 300_000

/**
 * Builds the indexes that only queries need (CREATE INDEX CONCURRENTLY), once the reader is at the head or at its stop
 * block. The reader catches up faster without these indexes.
 */
export class QueryIndexBuilder {
  readonly #database: DatabaseAddress
  readonly #families: readonly string[]
  readonly #logger: Logger
  readonly #ending = new AbortController()
  readonly #firstRetryMs: number
  #running: Promise<void> | null = null

  /** `firstRetryMs` is for tests. */
  constructor(
    database: DatabaseAddress,
    families: readonly string[],
    logger: Logger,
    firstRetryMs = FIRST_RETRY_MS,
  ) {
    this.#firstRetryMs = firstRetryMs
    this.#database = database
    this.#families = families
    this.#logger = logger
  }

  /**
   * Starts the build; further calls return the same promise, which resolves when all indexes exist or the builder is
   * stopped.
   */
  start(): Promise<void> {
    return (this.#running ??= this.#buildAll())
  }

  /** Builds the missing indexes until all exist or the signal aborts. */
  async finish(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return
    const stop = (): void => this.#ending.abort()
    signal.addEventListener('abort', stop, { once: true })
    await this.start()
    signal.removeEventListener('abort', stop)
  }

  /** Cancels the index build in progress. The next start of the reader repeats the build. */
  async stop(): Promise<void> {
    this.#ending.abort()
    await this.#running
  }

  /** Retries until all indexes exist: an operator may remove the cause of any failure. */
  async #buildAll(): Promise<void> {
    const building = retry(() => this.#build(), {
      firstMs: this.#firstRetryMs,
      longestMs: LONGEST_RETRY_MS,
      signal: this.#ending.signal,
      onFailure: (error, _failures, delayMs) => {
        const found = knownFailure(error)
        const cause = found === undefined ? '' : `: ${found.message(undefined)}`
        this.#logger.error(
          found === undefined ? { err: error, delayMs } : {},
          `query indexes could not be built${cause}; the build is retried, and lists are slow until it succeeds`,
        )
      },
    })
    // `retry` fails only after `stop` was called, so the error needs no report.
    await building.catch(() => undefined)
  }

  async #build(): Promise<void> {
    const client = await connectDatabase(this.#database, { applicationName: 'pronghorn index builder' })
    const cut = () => void client.end().catch(() => undefined)
    this.#ending.signal.addEventListener('abort', cut, { once: true })
    try {
      const known = await listIndexFamilies()
      for (const family of this.#families.filter((name) => known.includes(name))) {
        await buildQueryIndexes(
          client,
          family,
          (name, elapsedMs) =>
            this.#logger.info({ index: name, elapsedMs: Math.round(elapsedMs) }, 'query index built'),
          this.#ending.signal,
        )
      }
    } catch (error) {
      if (!this.#ending.signal.aborted) throw error
    } finally {
      this.#ending.signal.removeEventListener('abort', cut)
      if (!this.#ending.signal.aborted) await client.end().catch(() => undefined)
    }
  }
}
