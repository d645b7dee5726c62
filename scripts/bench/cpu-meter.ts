/** Processor time of other processes: what a measurement costs, however busy the machine is. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
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

/** The processes of a database that serve the connections of another process; those that it opens later are missing. */
export async function sessionProcesses(database: pg.Client, clientPid: number): Promise<number[]> {
  const { rows } = await database.query<{ pid: number }>(
    'SELECT pid FROM pg_stat_activity WHERE client_port = ANY($1::integer[]) AND datname = current_database()',
    [portsOf(clientPid)],
  )
  return rows.map(({ pid }) => pid)
}

/** Local ports of the TCP sockets of a process. */
function portsOf(pid: number): number[] {
  const folder = `/proc/${pid}/fd`
  const sockets = new Set(readdirSync(folder).map((file) => socketOf(join(folder, file))))
  return ['tcp', 'tcp6'].flatMap((protocol) =>
    readFileSync(`/proc/net/${protocol}`, 'latin1')
      .split('\n')
      .slice(1)
      .map((line) => line.trim().split(/\s+/))
      .filter((fields) => sockets.has(`socket:[${fields[9]!}]`))
      .map((fields) => parseInt(fields[1]!.split(':')[1]!, 16)),
  )
}

/** What a file descriptor leads to; undefined when it has just been closed. */
function socketOf(file: string): string | undefined {
  try {
    return readlinkSync(file)
  } catch {
    return undefined
  }
}
