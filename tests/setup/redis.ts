import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describeUnless, findProgram } from './available.ts'
import { findFreePort } from '../../services/core/http/listener/index.ts'

/** A Redis server of its own for a test. */
export interface TestRedis {
  readonly port: number
  /** Freezes it: connections stay open, nothing is answered. */
  freeze(): void
  thaw(): void
  /** Ends it at once. `start` brings it back on the same port, empty. */
  kill(): Promise<void>
  start(): Promise<void>
  /** Ends it and removes its files. */
  stop(): Promise<void>
}

/**
 * `describe` for what needs a real Redis. Without a `redis-server` on the PATH the suite counts as skipped and says
 * why; with PRONGHORN_REQUIRE_ALL=1 it fails instead.
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
    async stop() {
      await kill()
      rmSync(dir, { recursive: true, force: true })
    },
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
