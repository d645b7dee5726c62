import { buildQueryIndexes, connectDatabase, listIndexFamilies } from '../../core/database/index.ts'
import type { DatabaseAddress } from '../../core/database/index.ts'
import type { Logger } from '../../core/log/index.ts'

/** Builds the indexes that only queries need, once the reader is at the head, beside its work. */
export class QueryIndexBuilder {
  private readonly database: DatabaseAddress
  private readonly families: readonly string[]
  private readonly logger: Logger
  private readonly ending = new AbortController()
  private running: Promise<void> | null = null

  constructor(database: DatabaseAddress, families: readonly string[], logger: Logger) {
    this.database = database
    this.families = families
    this.logger = logger
  }

  /** Starts building; the second and later calls do nothing. */
  start(): void {
    this.running ??= this.build().catch((error: unknown) => {
      this.logger.error(
        { err: error },
        'query indexes could not be built; lists are slow until the next start',
      )
    })
  }

  /** Stops after the index that is being built was cut off; the next start makes it again. */
  async stop(): Promise<void> {
    this.ending.abort()
    await this.running
  }

  private async build(): Promise<void> {
    const client = await connectDatabase(this.database, { applicationName: 'pronghorn index builder' })
    const cut = () => void client.end().catch(() => undefined)
    this.ending.signal.addEventListener('abort', cut, { once: true })
    try {
      const known = await listIndexFamilies()
      for (const family of this.families.filter((name) => known.includes(name))) {
        await buildQueryIndexes(
          client,
          family,
          (name, elapsedMs) =>
            this.logger.info({ index: name, elapsedMs: Math.round(elapsedMs) }, 'query index built'),
          this.ending.signal,
        )
      }
    } catch (error) {
      if (!this.ending.signal.aborted) throw error
    } finally {
      this.ending.signal.removeEventListener('abort', cut)
      if (!this.ending.signal.aborted) await client.end().catch(() => undefined)
    }
  }
}
