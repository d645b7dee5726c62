/** Limits the memory of a PostgreSQL server, page cache included, with a control group of Linux. Needs root. */
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { connectDatabase } from '../../services/core/database/index.ts'
import { applianceSettings } from './appliance-settings.ts'
import { openGeneratedServer } from './generated-server.ts'
import type { GeneratedArguments, GeneratedServer } from './generated-server.ts'

const GROUPS = '/sys/fs/cgroup'
const NAME = 'pronghorn-bench'
const PAGE_BYTES = 8_192
/** Share of the limit for `shared_buffers`: PostgreSQL's documentation recommends a quarter of the memory. */
const BUFFERS = 0.25

/** A running PostgreSQL server with limited memory. */
export interface LimitedServer extends GeneratedServer {
  readonly memoryBytes: number
  /** Pages that the processes of the server have read from the disk. A process that ended does not count. */
  pagesRead(): number
}

/**
 * Empties the page cache, and starts the server of `--data` with a memory limit: `share` times the database size.
 * @param settings settings of PostgreSQL in addition to the settings of all benchmarks.
 * @throws Error without `--data`.
 */
export async function openLimitedServer(
  given: GeneratedArguments,
  share: number,
  settings: Readonly<Record<string, string>> = {},
): Promise<LimitedServer> {
  if (given.data === undefined) throw new Error('--memory needs --data FOLDER')
  const memoryBytes = Math.round((await databaseBytes(given)) * share)
  const group = new MemoryGroup(memoryBytes)
  group.enter()
  const server = await openGeneratedServer(given, {
    ...applianceSettings('effective_io_concurrency'),
    ...settings,
    shared_buffers: `${Math.round((memoryBytes * BUFFERS) / 2 ** 20)}MB`,
  }).finally(() => {
    group.leave()
  })
  return {
    address: server.address,
    memoryBytes,
    pagesRead: () => group.bytesRead() / PAGE_BYTES,
    stop: async () => {
      await server.stop()
      await group.remove()
    },
  }
}

async function databaseBytes(given: GeneratedArguments): Promise<number> {
  const server = await openGeneratedServer(given)
  try {
    const database = await connectDatabase(server.address, { applicationName: 'bench' })
    const { rows } = await database.query<{ bytes: string }>(
      'SELECT pg_database_size(current_database()) AS bytes',
    )
    await database.end()
    return Number(rows[0]!.bytes)
  } finally {
    await server.stop()
  }
}

/** A control group of version 1 or 2 with a memory limit. */
class MemoryGroup {
  readonly #parent: string
  readonly #folder: string
  readonly #previous: string

  constructor(bytes: number) {
    const isVersion2 = existsSync(join(GROUPS, 'cgroup.controllers'))
    this.#parent = isVersion2 ? GROUPS : join(GROUPS, 'memory')
    this.#folder = join(this.#parent, NAME)
    if (isVersion2) writeFileSync(join(GROUPS, 'cgroup.subtree_control'), '+memory')
    mkdirSync(this.#folder, { recursive: true })
    if (readFileSync(join(this.#folder, 'cgroup.procs'), 'latin1') !== '')
      throw new Error(
        `another benchmark with a memory limit is running: its processes are in ${this.#folder}`,
      )
    writeFileSync(join(this.#folder, isVersion2 ? 'memory.max' : 'memory.limit_in_bytes'), String(bytes))
    this.#previous = groupOfProcess(isVersion2)
    // Pages that are already in the page cache would not count as memory of the control group.
    writeFileSync('/proc/sys/vm/drop_caches', '1')
  }

  /** Adds the calling process to the control group; programs that the process starts from now on belong to it, too. */
  enter(): void {
    writeFileSync(join(this.#folder, 'cgroup.procs'), String(process.pid))
  }

  /**
   * Moves the calling process back to its former control group. Programs that the process has started keep the memory
   * limit.
   */
  leave(): void {
    writeFileSync(join(this.#parent, this.#previous, 'cgroup.procs'), String(process.pid))
  }

  /** Bytes that the processes of the control group have read from the disk. */
  bytesRead(): number {
    const pids = readFileSync(join(this.#folder, 'cgroup.procs'), 'latin1').split('\n').filter(Boolean)
    return pids.reduce((sum, pid) => sum + bytesReadBy(pid), 0)
  }

  /** Waits until the last process of the control group has ended, and removes the control group. */
  async remove(): Promise<void> {
    while (readFileSync(join(this.#folder, 'cgroup.procs'), 'latin1') !== '') await setTimeout(50)
    rmdirSync(this.#folder)
  }
}

/** Path of the calling process's control group below the root of its hierarchy. */
function groupOfProcess(isVersion2: boolean): string {
  const lines = readFileSync('/proc/self/cgroup', 'latin1').split('\n')
  const line = lines.find((each) => (isVersion2 ? each.startsWith('0::') : each.includes(':memory:')))
  return line?.split(':')[2] ?? '/'
}

/** Bytes that a process has read from the disk; 0 if it has ended. */
function bytesReadBy(pid: string): number {
  try {
    return Number(/^read_bytes: (\d+)$/m.exec(readFileSync(`/proc/${pid}/io`, 'latin1'))?.[1])
  } catch {
    return 0
  }
}
