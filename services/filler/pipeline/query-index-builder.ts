import type pg from 'pg'
import { buildQueryIndexes, knownFailure, listIndexFamilies } from '../../core/database/index.ts'
import type { DatabaseAddress } from '../../core/database/index.ts'
import type { Logger } from '../../core/log/index.ts'
import { repeatBeside } from './background.ts'

/**
 * Builds the indexes that only queries need (CREATE INDEX CONCURRENTLY), once the reader is at the head or at its stop
 * block. The reader catches up faster without these indexes.
 */
export class QueryIndexBuilder {
  readonly #database: DatabaseAddress
  readonly #families: readonly string[]
  readonly #logger: Logger
  readonly #ending = new AbortController()
  readonly #firstRetryMs: number | undefined
  #running: Promise<void> | null = null

  /** `firstRetryMs` is for tests. */
  constructor(database: DatabaseAddress, families: readonly string[], logger: Logger, firstRetryMs?: number) {
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
  #buildAll(): Promise<void> {
    const onFailure = (error: unknown, delayMs: number): void => {
      const found = knownFailure(error)
      const cause = found === undefined ? '' : `: ${found.message(undefined)}`
      this.#logger.error(
        found === undefined ? { err: error, delayMs } : {},
        `query indexes could not be built${cause}; the build is retried, and lists are slow until it succeeds`,
      )
    }
    const work = {
      database: this.#database,
      connection: { applicationName: 'pronghorn index builder' },
      signal: this.#ending.signal,
      run: (client: pg.Client) => this.#build(client),
    }
    return repeatBeside(work, onFailure, this.#firstRetryMs)
  }

  async #build(client: pg.Client): Promise<void> {
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
  }
}
