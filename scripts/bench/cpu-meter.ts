/** Processor time of other processes: what a measurement costs, however busy the machine is. */
import { readFileSync } from 'node:fs'
import type pg from 'pg'

/** Sums the processor time of the first threads of processes, as Linux reports it. */
export class CpuMeter {
  readonly #files: readonly string[]

  constructor(pids: readonly number[]) {
    this.#files = pids.map((pid) => `/proc/${pid}/schedstat`)
  }

  /** Milliseconds on a processor since the processes began; NaN where the system does not report it. */
  read(): number {
    let nanoseconds = 0
    for (const file of this.#files) {
      try {
        nanoseconds += Number(readFileSync(file, 'latin1').split(' ', 1)[0])
      } catch {
        return NaN
      }
    }
    return nanoseconds / 1e6
  }
}

/** The processes of a database that serve sessions of a name; those that it starts later are missing. */
export async function sessionProcesses(database: pg.Client, name: string): Promise<number[]> {
  const { rows } = await database.query<{ pid: number }>(
    'SELECT pid FROM pg_stat_activity WHERE application_name = $1 AND datname = current_database()',
    [name],
  )
  return rows.map(({ pid }) => pid)
}

/** Name of the sessions of an api. */
export const API_SESSIONS = 'pronghorn-api'
