import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { describeUnless, findProgram } from './available.ts'
import { findFreePort } from '../../services/core/http/listener/index.ts'

/** A Redis server that belongs to one test. */
export interface TestRedis {
  readonly port: number
  /** Freezes the server: connections stay open, but get no reply. */
  freeze(): void
  thaw(): void
  /** Kills the server. `start` brings it back on the same port, without data. */
  kill(): Promise<void>
  start(): Promise<void>
  /** Makes Redis refuse writes with an error that begins with `cause`. */
  refuseWrites(cause: RefusalCause): Promise<void>
  takeWrites(): Promise<void>
  /** Stops the server and removes its files. */
  stop(): Promise<void>
}

/**
 * Error prefixes with which Redis refuses writes: a read-only replica, out of memory, snapshots that cannot be saved.
 */
export const refusalCauses = ['READONLY', 'OOM', 'MISCONF'] as const
export type RefusalCause = (typeof refusalCauses)[number]

/**
 * `describe` for tests that need a real Redis. Without `redis-server` on the PATH the suite is skipped with a reason,
 * or fails with PRONGHORN_REQUIRE_ALL=1.
 */
export function describeWithRedis(name: string, suite: () => void): void {
  const found = findProgram('redis-server') !== undefined
  describeUnless(found ? undefined : 'there is no redis-server on the PATH', name, suite)
}

/** Starts a Redis server without persistence on a free port of 127.0.0.1. */
export async function startTestRedis(args: readonly string[] = []): Promise<TestRedis> {
  const binary = findProgram('redis-server')
  if (binary === undefined) throw new Error('there is no redis-server on the PATH')
  const dir = mkdtempSync(join(tmpdir(), 'pronghorn-redis-'))
  const port = await findFreePort()
  const options = [
    '--port',
    String(port),
    '--bind',
    '127.0.0.1',
    '--save',
    '',
    '--appendonly',
    'no',
    '--dir',
    dir,
  ]
  let running = await launch(binary, [...options, ...args])
  const kill = () => running.kill()
  return {
    port,
    freeze: () => running.signal('SIGSTOP'),
    thaw: () => running.signal('SIGCONT'),
    kill,
    async start() {
      running = await launch(binary, [...options, ...args])
    },
    refuseWrites: (cause) => withClient(port, (client) => refusals[cause](client, dir)),
    takeWrites: () =>
      withClient(port, async (client) => {
        await client.replicaof('NO', 'ONE')
        await client.config('SET', 'maxmemory', '0')
        await client.config('SET', 'save', '')
      }),
    async stop() {
      await kill()
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

const refusals: Readonly<Record<RefusalCause, (client: Redis, dir: string) => Promise<void>>> = {
  async READONLY(client) {
    await client.replicaof('127.0.0.1', '1')
  },
  async OOM(client) {
    await client.config('SET', 'maxmemory', '1')
  },
  async MISCONF(client, dir) {
    // A folder in place of the snapshot file (dump.rdb) makes Redis fail to save.
    mkdirSync(join(dir, 'dump.rdb'), { recursive: true })
    await client.config('SET', 'save', '3600 1')
    await client.bgsave()
    while (!(await client.info('persistence')).includes('rdb_last_bgsave_status:err')) await sleep(20)
  },
}

async function withClient(port: number, work: (client: Redis) => Promise<void>): Promise<void> {
  const client = new Redis({ port, host: '127.0.0.1' })
  try {
    await work(client)
  } finally {
    client.disconnect()
  }
}

async function launch(binary: string, args: readonly string[]) {
  const child = spawn(binary, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  await new Promise<void>((resolve, reject) => {
    let output = ''
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString()
      if (output.includes('Ready to accept connections')) resolve()
    })
    child.once('error', reject)
    void exited.then(() => reject(new Error(`redis-server ended: ${output}`)))
  })
  return {
    signal: (signal: NodeJS.Signals) => void child.kill(signal),
    async kill() {
      child.kill('SIGKILL')
      await exited
    },
  }
}
