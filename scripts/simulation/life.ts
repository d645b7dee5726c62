import type { DatabaseAddress } from '../../services/core/database/index.ts'
import { PronghornError, describeError } from '../../services/core/errors/index.ts'
import { createLogger } from '../../services/core/log/index.ts'
import { runReader } from '../../services/filler/index.ts'
import type { ReaderOptions, ReaderSettings } from '../../services/filler/index.ts'
import { DatabaseProxy } from './database-proxy.ts'
import { simulatedTiming } from './settings.ts'

/** Options of every run (life) of a seed's filler. */
export interface LifeOptions {
  readonly settings: ReaderSettings
  readonly database: DatabaseAddress
  readonly chainId: string
  readonly nodes: readonly string[]
  /**
   * Whether a filler inside this process builds the query indexes after catching up. A filler that is a separate
   * process always builds the query indexes.
   */
  readonly buildsIndexes: boolean
  readonly send: NonNullable<ReaderOptions['send']>
  /** Called with each log line. */
  readonly log: (line: string) => void
}

/** How a run of a filler ended. */
export interface LifeEnd {
  /** Code of the error; null without an error, `INTERNAL` for an unexpected one. */
  readonly code: string | null
  readonly text: string
}

/** One run of a filler (a life), from start to exit or kill. */
export interface Life {
  /** Proxy through which the filler reaches the database. */
  readonly proxy: DatabaseProxy
  readonly ended: Promise<LifeEnd>
  /** Stops the filler, like SIGTERM. */
  stop(): void
  /** Kills the filler, like SIGKILL: its connections break at any point, and it sends nothing more. */
  kill(): void
}

/** A filler run inside this process. */
export class ThreadlessLife implements Life {
  readonly proxy: DatabaseProxy
  readonly ended: Promise<LifeEnd>
  #isDead = false
  readonly #ending = new AbortController()

  private constructor(options: LifeOptions, proxy: DatabaseProxy, database: DatabaseAddress) {
    this.proxy = proxy
    const logger = createLogger({ name: 'filler', level: 'info', destination: { write: options.log } })
    const reading = runReader(
      {
        settings: options.settings,
        database,
        chain: { chainId: options.chainId, http: null, ship: options.nodes },
        logger,
        buildQueryIndexes: options.buildsIndexes,
        send: (channel, text) => {
          if (!this.#isDead) options.send(channel, text)
        },
        ...simulatedTiming,
      },
      this.#ending.signal,
    )
    this.ended = reading.then(
      () => ({ code: null, text: 'ended' }),
      (error: unknown) => ({ code: codeOf(error), text: describeError(error) }),
    )
  }

  static async start(options: LifeOptions): Promise<ThreadlessLife> {
    const proxy = new DatabaseProxy(options.database)
    return new ThreadlessLife(options, proxy, await proxy.open())
  }

  stop(): void {
    this.#ending.abort()
  }

  kill(): void {
    this.#isDead = true
    this.proxy.cut(true)
    this.#ending.abort()
  }
}

function codeOf(error: unknown): string {
  return error instanceof PronghornError ? error.code : 'INTERNAL'
}
