/** Counters of the writes of PostgreSQL, and the dead rows of its tables. */
import { setTimeout as delay } from 'node:timers/promises'
import type pg from 'pg'

/** Counters of a PostgreSQL server since its start. */
export interface Counters {
  /** Pages of 8 kB of tables and indexes that were written to their files. */
  readonly pages: number
  readonly walBytes: number
  /** Pages whose first change after a checkpoint put the whole page into the write-ahead log. */
  readonly fullImages: number
}

/** PostgreSQL adds the statistics of an idle session to its counters after ten seconds (PGSTAT_IDLE_INTERVAL), ms. */
const IDLE_MS = 11_000
/** The checkpointer adds its statistics at the end of a checkpoint, ms. */
const CHECKPOINTER_MS = 1_500

/** Pages that backends, background writer and checkpointer wrote, before and since PostgreSQL 18. */
const pagesSql = {
  before: 'SELECT buffers_checkpoint + buffers_clean + buffers_backend FROM pg_stat_bgwriter',
  since: "SELECT sum(write_bytes) / 8192 FROM pg_stat_io WHERE object = 'relation'",
}

/**
 * Runs a checkpoint, so that every changed page is written, and reads the counters. In PostgreSQL 14 `fullImages` may
 * lack the last transactions of the reader: an idle session of that version adds its statistics at its next transaction.
 */
export async function readCounters(database: pg.Client): Promise<Counters> {
  await delay(IDLE_MS)
  await database.query('CHECKPOINT')
  await delay(CHECKPOINTER_MS)
  const version = await database.query<{ is18: boolean }>(
    "SELECT current_setting('server_version_num')::integer >= 180000 AS is18",
  )
  const { rows } = await database.query<Counters>(
    `SELECT (${version.rows[0]!.is18 ? pagesSql.since : pagesSql.before})::float8 AS pages,
      (pg_current_wal_insert_lsn() - '0/0'::pg_lsn)::float8 AS "walBytes", wal_fpi::float8 AS "fullImages" FROM pg_stat_wal`,
  )
  return rows[0]!
}

/** Difference between two readings. */
export function countersBetween(before: Counters, after: Counters): Counters {
  return {
    pages: after.pages - before.pages,
    walBytes: after.walBytes - before.walBytes,
    fullImages: after.fullImages - before.fullImages,
  }
}

/** State of a table for autovacuum. */
interface TableState {
  readonly name: string
  readonly dead: number
  /** Number of dead rows above which the next autovacuum begins. */
  readonly limit: number
  readonly vacuums: number
}

/** A table while it was watched. */
export interface WatchedTable extends TableState {
  readonly deadAtBegin: number
  readonly mostDead: number
  /** Longest time with more dead rows than `limit`, seconds. */
  readonly secondsAbove: number
}

const option = (name: string): string =>
  `coalesce((SELECT option_value FROM pg_options_to_table(c.reloptions) WHERE option_name = '${name}'), current_setting('${name}'))::float8`
const TABLES = `
  SELECT c.oid::regclass::text AS name, s.n_dead_tup::float8 AS dead, s.autovacuum_count::float8 AS vacuums,
    ${option('autovacuum_vacuum_threshold')} + ${option('autovacuum_vacuum_scale_factor')} * greatest(c.reltuples, 0) AS limit
  FROM pg_stat_user_tables s JOIN pg_class c ON c.oid = s.relid`

/** Reads the dead rows of all tables again and again. */
export class VacuumWatch {
  readonly #database: pg.Client
  readonly #begin = new Map<string, TableState>()
  readonly #tables = new Map<string, WatchedTable>()
  /** Times at which the dead rows of tables exceeded the limit, ms. */
  readonly #aboveSince = new Map<string, number>()

  constructor(database: pg.Client) {
    this.#database = database
  }

  async sample(): Promise<void> {
    const { rows } = await this.#database.query<TableState>(TABLES)
    const nowMs = performance.now()
    const isFirst = this.#begin.size === 0
    for (const row of rows) {
      const { name, dead, limit } = row
      // Tables that a run creates, such as partitions, begin without rows.
      const begin = this.#begin.get(name) ?? { ...row, dead: isFirst ? dead : 0 }
      this.#begin.set(name, begin)
      if (dead <= limit) this.#aboveSince.delete(name)
      const above = dead > limit ? nowMs - (this.#aboveSince.get(name) ?? nowMs) : 0
      if (dead > limit) this.#aboveSince.set(name, nowMs - above)
      const known = this.#tables.get(name)
      this.#tables.set(name, {
        ...{ ...row, vacuums: row.vacuums - begin.vacuums, deadAtBegin: begin.dead },
        mostDead: Math.max(known?.mostDead ?? 0, dead),
        secondsAbove: Math.max(known?.secondsAbove ?? 0, Math.round(above / 1_000)),
      })
    }
  }

  /** Tables that had dead rows or were vacuumed; most dead rows first. */
  get tables(): WatchedTable[] {
    return [...this.#tables.values()]
      .filter(({ mostDead, vacuums }) => mostDead > 0 || vacuums > 0)
      .sort((one, other) => other.mostDead - one.mostDead)
  }
}

/** Turns autovacuum off, and waits until its workers have ended; or returns to the setting of the server. */
export async function setAutovacuum(database: pg.Client, isOn: boolean): Promise<void> {
  await database.query(`ALTER SYSTEM ${isOn ? 'RESET autovacuum' : 'SET autovacuum = off'}`)
  await database.query('SELECT pg_reload_conf()')
  for (let isRunning = !isOn; isRunning;) {
    await delay(CHECKPOINTER_MS)
    const { rows } = await database.query(
      "SELECT FROM pg_stat_activity WHERE backend_type = 'autovacuum worker'",
    )
    isRunning = rows.length > 0
  }
}
