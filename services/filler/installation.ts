import { statfs } from 'node:fs/promises'
import { createPool } from '../core/database/index.ts'
import type { DatabaseAddress } from '../core/database/index.ts'
import { describeError } from '../core/errors/index.ts'
import type { Logger } from '../core/log/index.ts'
import { readPageCounts, readTasks, TABLE_SIZES } from '../core/upkeep/index.ts'
import type { TableSizeRow } from '../core/upkeep/index.ts'
import type { InstallationFacts } from './metrics/filler-metrics.ts'

export interface InstallationOptions {
  readonly database: DatabaseAddress
  /** A folder on the database's disk; undefined if the disk is not on this machine. */
  readonly disk: string | undefined
  readonly onFacts: (facts: InstallationFacts) => void
  readonly logger: Logger
}

const EVERY_MS = 15_000
const TABLES_EVERY_MS = 300_000
const TIMEOUT_MS = 5_000

/**
 * Measures the database, its disk and its scheduled tasks at intervals. @returns a function that stops the
 * measurements.
 */
export function watchInstallation(options: InstallationOptions): () => Promise<void> {
  const pool = createPool(options.database, {
    applicationName: 'pronghorn watch',
    statementTimeoutMs: TIMEOUT_MS,
    max: 1,
  })
  let tablesDueMs = -Infinity
  const look = async (): Promise<void> => {
    const disk = options.disk === undefined ? null : await statfs(options.disk).catch(() => null)
    if (disk)
      options.onFacts({ disk: { freeBytes: disk.bavail * disk.bsize, bytes: disk.blocks * disk.bsize } })
    const { rows } = await pool.query<{ bytes: bigint; backends: number; limit: number }>(
      `SELECT pg_database_size(current_database()) AS bytes, current_setting('max_connections')::integer AS limit,
        (SELECT sum(numbackends)::integer FROM pg_stat_database) AS backends`,
    )
    const pages = await readPageCounts(pool)
    options.onFacts({ server: { ...rows[0]!, pages }, tasks: await readTasks(pool) })
    if (performance.now() < tablesDueMs) return
    const sizes = await pool.query<TableSizeRow>({ text: TABLE_SIZES, rowMode: 'array' })
    options.onFacts({
      tables: sizes.rows.map(([schema, name, , table, index]) => ({
        name: `${schema}.${name}`,
        bytes: Number(table) + Number(index),
      })),
    })
    tablesDueMs = performance.now() + TABLES_EVERY_MS
  }
  let looking: Promise<void> | undefined
  const lookUnlessLooking = (): void => {
    looking ??= look()
      .catch((error: unknown) => {
        // Not an error: the readers report an unavailable database. The next interval measures the database again.
        options.logger.debug(`the state of the database could not be read: ${describeError(error)}`)
      })
      .finally(() => {
        looking = undefined
      })
  }
  lookUnlessLooking()
  const timer = setInterval(lookUnlessLooking, EVERY_MS)
  return async () => {
    clearInterval(timer)
    await looking
    await pool.end()
  }
}
