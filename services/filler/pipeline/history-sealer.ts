import type pg from 'pg'
import { connectDatabase, knownFailure } from '../../core/database/index.ts'
import type { DatabaseAddress } from '../../core/database/index.ts'
import { pause } from '../../core/retry/index.ts'
import { SEAL_BLOCKS, sealAtOnce, sealedKinds, sealNext } from '../../core/seals/index.ts'
import type { Sealing } from '../../core/seals/index.ts'
import { checkLease } from '../store/index.ts'
import type { Lease } from '../store/index.ts'
import { repeatBeside, runBeside } from './background.ts'
import type { BackgroundWork } from './background.ts'
import type { ReaderOptions, SealingPace } from './reader-options.ts'

const defaultPace: SealingPace = { rangeBlocks: SEAL_BLOCKS, share: 0.1, idleMs: 60_000 }

/**
 * Seals the history of a reader in the background, one range after the other. The pause after each range is longer than
 * the sealing of the range.
 */
export class HistorySealer {
  readonly #options: Pick<ReaderOptions, 'database' | 'logger' | 'settings'>
  readonly #sealings: readonly Sealing[]
  readonly #pace: SealingPace
  readonly #ending = new AbortController()
  #running: Promise<void> | null = null

  /** @param lease checked in each transaction that writes. */
  constructor(options: ReaderOptions, lease: Lease) {
    this.#options = options
    this.#pace = { ...defaultPace, ...options.sealing }
    this.#sealings = sealingsOf(options.settings, lease, this.#pace.rangeBlocks)
  }

  /**
   * Starts sealing in the background; further calls do nothing. Call `start` when the query indexes exist, because
   * sealing finds the rows through these indexes.
   */
  start(): void {
    if (!this.#ending.signal.aborted) this.#running ??= this.#sealAll()
  }

  /**
   * Seals all irreversible blocks without pauses, until `stop` aborts. For a reader that has reached its `stop_block`.
   */
  async finish(stop: AbortSignal): Promise<void> {
    stop.addEventListener('abort', () => this.#ending.abort(), { once: true })
    if (!stop.aborted) await runBeside(this.#work(1))
  }

  /** Stops sealing. The next start of the reader seals the remaining ranges. */
  async stop(): Promise<void> {
    this.#ending.abort()
    await this.#running
  }

  async #sealAll(): Promise<void> {
    const onFailure = (error: unknown, delayMs: number): void => {
      const code = knownFailure(error)?.code
      this.#options.logger.error(
        { err: error, ...(code === undefined ? {} : { code }), delayMs },
        'history could not be sealed; sealing is retried',
      )
    }
    do await repeatBeside(this.#work(this.#pace.share), onFailure)
    while (await pause(this.#pace.idleMs, this.#ending.signal))
  }

  /** Sealing of the ranges of irreversible blocks. @param share maximum share of the time, 0 to 1. */
  #work(share: number): BackgroundWork {
    const { database, settings } = this.#options
    const { signal } = this.#ending
    const connection = {
      applicationName: `pronghorn sealer ${settings.name}`,
      settings: { max_parallel_workers_per_gather: '0' },
    }
    const run = async (client: pg.Client): Promise<void> => {
      for (const sealing of this.#sealings) {
        for (let isMore = true; isMore && !signal.aborted;) {
          const startedMs = performance.now()
          isMore = await sealNext(client, sealing)
          const pauseMs = (performance.now() - startedMs) * (1 / share - 1)
          if (isMore && !(await pause(pauseMs, signal))) return
        }
      }
    }
    return { database, connection, signal, run }
  }
}

function sealingsOf(
  settings: Pick<ReaderOptions['settings'], 'contracts'>,
  lease: Lease,
  rangeBlocks: number,
): Sealing[] {
  const families = new Set<string>(['chain', ...settings.contracts.map(({ handler }) => handler)])
  return sealedKinds
    .filter(({ family }) => families.has(family))
    .map((kind) => ({
      kind,
      reader: lease.reader,
      rangeBlocks,
      checkRight: (client) => checkLease(client, lease),
    }))
}

/** Seals the rows of an import, on a connection of its own. @param lease lease under which the import writes. */
export async function sealImported(
  database: DatabaseAddress,
  settings: Pick<ReaderOptions['settings'], 'contracts' | 'name'>,
  lease: Lease,
  rangeBlocks = SEAL_BLOCKS,
): Promise<void> {
  const client = await connectDatabase(database, { applicationName: `pronghorn sealer ${settings.name}` })
  try {
    for (const sealing of sealingsOf(settings, lease, rangeBlocks)) await sealAtOnce(client, sealing)
  } finally {
    await client.end().catch(() => undefined)
  }
}
