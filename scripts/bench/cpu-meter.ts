/** Processor time of other processes. Unlike elapsed time, it hardly depends on other load of the machine. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import type pg from 'pg'

/** Sums the processor time of the main threads of processes, as Linux reports it. */
export class CpuMeter {
  readonly #files: readonly string[]

  constructor(pids: readonly number[]) {
    this.#files = pids.map((pid) => `/proc/${pid}/schedstat`)
  }

  /** Processor time since the processes started, ms; NaN if a process has ended or the system does not report it. */
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

/** PostgreSQL process ids of the sessions of a client process. Sessions that the client opens later are missing. */
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

/** Target of a link in `/proc/PID/fd`; undefined if the process has closed the file descriptor meanwhile. */
function socketOf(file: string): string | undefined {
  try {
    return readlinkSync(file)
  } catch {
    return undefined
  }
}
