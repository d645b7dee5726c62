import { z } from 'zod'
import { describeError, PronghornError } from '../../core/errors/index.ts'
import { createReadyAccess } from '../../core/kvstore/index.ts'
import type { KeyValueStore } from '../../core/kvstore/index.ts'
import type { Logger } from '../../core/log/index.ts'
import type { DatabaseView } from './data.ts'
import { TIMEOUT_MS } from './table-sizes.ts'

/** Interval of the measurements of table sizes, ms. All processes together measure at most once per interval. */
const SIZES_EVERY_MS = 30_000

/** Time limit for reading another process's measurement from the key-value store, ms. */
const DEADLINE_MS = 250

const digits = z.string().regex(/^\d{1,20}$/)
const shared = z.strictObject({
  measured_at: z.int(),
  total_bytes: digits,
  tables: z.array(
    z.strictObject({
      schema: z.string(),
      name: z.string(),
      rows: digits.nullable(),
      table_bytes: digits,
      index_bytes: digits,
    }),
  ),
})

export interface CachedSizesOptions {
  readonly measure: () => Promise<DatabaseView>
  readonly kvstore: KeyValueStore
  /** Whether the database is available. No measurement starts while the database is unavailable. */
  readonly isAvailable: () => boolean
  readonly logger: Logger
  /** Interval of the measurements, ms. Default SIZES_EVERY_MS; tests set another interval. */
  readonly everyMs?: number
}

/** Table sizes, measured on demand and at most once per interval. */
export interface CachedSizes {
  /**
   * Returns the last measurement without waiting, or null before the first measurement. Starts a new measurement if one
   * is due.
   */
  current(): DatabaseView | null
  /** Resolves when no measurement is running. Used in tests. */
  settled(): Promise<void>
}

/**
 * Caches the table sizes. One measurement runs at a time, and processes share it through the key-value store. A failed
 * measurement keeps the last value and is retried after the next interval.
 */
export function cacheSizes(options: CachedSizesOptions): CachedSizes {
  const { everyMs = SIZES_EVERY_MS } = options
  const access = createReadyAccess({ deadlineMs: DEADLINE_MS })
  let cached: DatabaseView | null = null
  let running: Promise<void> | undefined
  let dueMs = -Infinity
  const refresh = async (): Promise<void> => {
    const others = await access(() => options.kvstore.read('console:sizes'))
    const theirs = others ? parseShared(others.value) : undefined
    if (others && theirs) {
      cached = theirs
      dueMs = performance.now() + Math.min(others.expiresInMs, everyMs)
      return
    }
    // Leader election: each process increments a counter in the key-value store, and the process that gets 1 measures.
    // Without the key-value store each process measures.
    const turn = await access(() => options.kvstore.increment('console:sizes:turn', everyMs))
    if (turn && turn.count > 1) {
      dueMs = performance.now() + Math.min(turn.expiresInMs, everyMs / 10)
      return
    }
    cached = await options.measure()
    const text = JSON.stringify(cached)
    await access(() => options.kvstore.set('console:sizes', text, everyMs))
  }
  return {
    current() {
      if (!running && performance.now() >= dueMs && options.isAvailable()) {
        dueMs = performance.now() + everyMs
        running = refresh()
          .catch((error: unknown) => {
            options.logger.warn(describeFailure(error, cached !== null))
          })
          .finally(() => {
            running = undefined
          })
      }
      return cached
    },
    async settled() {
      await running
    },
  }
}

function describeFailure(error: unknown, isKnown: boolean): string {
  const isLate = error instanceof PronghornError && error.code === 'QUERY_TIMEOUT'
  const what = isLate
    ? `took longer than ${TIMEOUT_MS / 1_000} s`
    : isLocked(error)
      ? 'found a table locked'
      : `failed (${describeError(error)})`
  const shown = isKnown ? 'those of the last measurement' : 'none'
  return `measuring the table sizes for the console ${what}; the console shows ${shown} until the next attempt`
}

/** Whether another session has locked a table, for example to rewrite the table. PostgreSQL then returns no size. */
function isLocked(error: unknown): boolean {
  return error instanceof Error && (error.cause as { code?: unknown } | undefined)?.code === '55P03'
}

function parseShared(text: string): DatabaseView | undefined {
  try {
    return shared.parse(JSON.parse(text))
  } catch {
    // Another program version stored the measurement: measure again.
    return undefined
  }
}
