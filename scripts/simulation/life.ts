import type { DatabaseAddress } from '../../services/core/database/index.ts'
import { PronghornError, describeError } from '../../services/core/errors/index.ts'
import { createLogger } from '../../services/core/log/index.ts'
import { runReader } from '../../services/filler/index.ts'
import type { ReaderOptions, ReaderSettings } from '../../services/filler/index.ts'
import { DatabaseProxy } from './database-proxy.ts'
import { simulatedTiming } from './settings.ts'

/** What every life of a seed's filler is started with. */
export interface LifeOptions {
  readonly settings: ReaderSettings
  readonly database: DatabaseAddress
  readonly chainId: string
  readonly nodes: readonly string[]
  /** Whether it builds the indexes of queries once it has caught up; a process always does. */
  readonly buildsIndexes: boolean
  readonly send: NonNullable<ReaderOptions['send']>
  /** Takes the lines that it logs. */
  readonly log: (line: string) => void
}

/** How a life ended: by itself with or without an error, or as it was asked to. */
export interface LifeEnd {
  /** Code of the error; null without one, `INTERNAL` for one that is none of the program's. */
  readonly code: string | null
  readonly text: string
}

/** One run of a filler, from its start to its end or its sudden death. */
export interface Life {
  /** Everything that it says to the database goes this way. */
  readonly proxy: DatabaseProxy
  readonly ended: Promise<LifeEnd>
  /** Asks it to end, as SIGTERM does. */
  stop(): void
  /** Ends it as SIGKILL does: its connections break in the middle of whatever they carry, and nothing comes from it again. */
  kill(): void
}

/** A life within this process. */
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
