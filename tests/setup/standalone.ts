import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { findFreePort } from '../../services/core/http/listener/index.ts'
import { patient } from './patience.ts'

/** Time limit of the start: the parts start one after the other, possibly on a busy machine. */
const START_MS = patient(60_000)

/** Path of the program's built entry file. */
export const program = join(import.meta.dirname, '../../dist/services/cli/main.js')

/** A running `pronghorn standalone`. */
export interface StartedStandalone {
  readonly child: ChildProcess
  /** URL of the API. */
  readonly api: string
  /** All output of the process so far. */
  readonly output: () => string
  /** Sends a signal to the process and waits for its exit; returns the exit code. */
  readonly stop: (signal: NodeJS.Signals) => Promise<number | null>
}

/** Starts `pronghorn standalone` on a free port; resolves when the API replies. The caller stops it. */
export async function startStandalone(
  args: readonly string[],
  account: { uid: number; gid: number } | null = null,
): Promise<StartedStandalone> {
  const port = await findFreePort()
  const child = spawn(process.execPath, [program, 'standalone', '--port', String(port), ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    // TMPDIR names the folder of the test run, which is in memory, so the temporary database is in memory, too.
    env: { PATH: process.env.PATH, HOME: tmpdir(), TMPDIR: tmpdir() },
    ...account,
  })
  const started = {
    child,
    api: `http://localhost:${port}`,
    output: () => output,
    stop: async (signal: NodeJS.Signals) => {
      if (child.exitCode !== null || child.signalCode !== null) return child.exitCode
      const exited = once(child, 'exit') as Promise<[number | null]>
      child.kill(signal)
      return (await exited)[0]
    },
  }
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const deadline = performance.now() + START_MS
  while (!output.includes(`${started.api}/health`)) {
    if (child.exitCode !== null || performance.now() > deadline) {
      await started.stop('SIGKILL')
      throw new Error(`standalone did not start: ${output}`)
    }
    await sleep(50)
  }
  return started
}
