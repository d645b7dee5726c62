import { z } from 'zod'
import { describeError } from '../../core/errors/index.ts'
import { createReadyAccess } from '../../core/kvstore/index.ts'
import type { KeyValueStore } from '../../core/kvstore/index.ts'
import type { Logger } from '../../core/log/index.ts'
import type { DatabaseView } from './data.ts'

/** Sizes are measured at most once in this time, by all processes together. */
const SIZES_EVERY_MS = 30_000

/** A measurement of another process is asked for like anything else: it must not hold up what waits for it. */
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

/** What keeps sizes. */
export interface KeptSizesOptions {
  readonly measure: () => Promise<DatabaseView>
  readonly kvstore: KeyValueStore
  /** Nothing is asked of a database that is known to be away. */
  readonly isAvailable: () => boolean
  readonly logger: Logger
  /** For tests. */
  readonly everyMs?: number
}

/** The sizes of the tables, measured while somebody wants to know them, and seldom. */
export interface KeptSizes {
  /** The last measurement, at once; null before the first. Begins a new one when it is time. */
  current(): DatabaseView | null
  /** Resolves when no measurement is under way. */
  settled(): Promise<void>
}

/**
 * Keeps the sizes of the tables. One measurement runs at a time; processes that share a key-value store take turns and
 * tell each other. One that fails leaves what was known, and is tried again when it is time again.
 */
export function keepSizes(options: KeptSizesOptions): KeptSizes {
  const { everyMs = SIZES_EVERY_MS } = options
  const access = createReadyAccess({ deadlineMs: DEADLINE_MS })
  let kept: DatabaseView | null = null
  let running: Promise<void> | undefined
  let dueMs = -Infinity
  const refresh = async (): Promise<void> => {
    const others = await access(() => options.kvstore.read('console:sizes'))
    const told = others ? parseShared(others.value) : undefined
    if (others && told) {
      kept = told
      dueMs = performance.now() + Math.min(others.expiresInMs, everyMs)
      return
    }
    // Whoever counts first measures. Without the store each process is on its own.
    const turn = await access(() => options.kvstore.increment('console:sizes:turn', everyMs))
    if (turn && turn.count > 1) {
      dueMs = performance.now() + Math.min(turn.expiresInMs, everyMs / 10)
      return
    }
    kept = await options.measure()
    const text = JSON.stringify(kept)
    await access(() => options.kvstore.set('console:sizes', text, everyMs))
  }
  return {
    current() {
      if (!running && performance.now() >= dueMs && options.isAvailable()) {
        dueMs = performance.now() + everyMs
        running = refresh()
          .catch((error: unknown) => {
            options.logger.debug(`table sizes are not known: ${describeError(error)}`)
          })
          .finally(() => {
            running = undefined
          })
      }
      return kept
    },
    async settled() {
      await running
    },
  }
}

function parseShared(text: string): DatabaseView | undefined {
  try {
    return shared.parse(JSON.parse(text))
  } catch {
    // Of another version: it is measured anew.
    return undefined
  }
}
