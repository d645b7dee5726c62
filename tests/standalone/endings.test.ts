import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { findFreePort } from '../../services/core/http/listener/index.ts'
import { program } from '../setup/standalone.ts'
import { patient } from '../setup/patience.ts'

let home: string
let started: ChildProcess | null = null

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'pronghorn-test-'))
  // The server of a temporary database runs as another account if the tests run as root; any account may create files
  // here.
  spawn('chmod', ['777', home])
})
afterEach(async () => {
  for (const pid of processes()) process.kill(pid, 'SIGKILL')
  started = null
  await rm(home, { recursive: true, force: true, maxRetries: 20, retryDelay: 200 })
})

/** Ids of all processes whose TMPDIR is this test's folder, including orphans. */
function processes(): number[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return []
    try {
      return readFileSync(`/proc/${name}/environ`, 'utf8').includes(`TMPDIR=${home}\0`) ? [Number(name)] : []
    } catch {
      return []
    }
  })
}

/**
 * Data folders left in the temporary folder. The unpacked PostgreSQL programs stay there for the next start and are
 * not counted.
 */
function remains(): string[] {
  return readdirSync(home).filter((name) => name.startsWith('pronghorn-data-'))
}

/** Starts the program through a shell, like a package script; resolves once the program serves. */
async function startBy(shell: (command: string) => string, env: NodeJS.ProcessEnv = {}): Promise<string> {
  const port = await findFreePort()
  const command = `'${process.execPath}' '${program}' standalone --port ${port}`
  started = spawn('/bin/sh', ['-c', shell(command)], {
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
    env: { PATH: process.env.PATH, HOME: home, TMPDIR: home, ...env },
  })
  let output = ''
  for (const stream of [started.stdout!, started.stderr!])
    stream.on('data', (chunk: Buffer) => (output += chunk.toString()))
  await expect.poll(() => output, { timeout: patient(60_000) }).toContain(`localhost:${port}/health`)
  expect(remains()).toHaveLength(1)
  return output
}

async function expectNothingLeft(): Promise<void> {
  await expect.poll(processes).toEqual([])
  expect(remains()).toEqual([])
}

it('all processes of npm start stop when their terminal is closed', async () => {
  await startBy((command) => `exec ${command}`)
  const exited = once(started!, 'exit')
  started!.kill('SIGHUP')
  expect(await exited).toEqual([0, null])
  await expectNothingLeft()
})

it('all processes of npm start stop when the shell that started the program is killed', async () => {
  await startBy((command) => `${command}; true`)
  started!.kill('SIGKILL')
  await expectNothingLeft()
})

it('killing npm stops all processes, although the shell between npm and the program still runs', async () => {
  const asScript = (command: string) => `/bin/sh -c "${command}; true"; true`
  await startBy(asScript, { npm_lifecycle_event: 'start' })
  started!.kill('SIGKILL')
  await expectNothingLeft()
})

it('a program started with setsid continues after its parent was killed', async () => {
  await startBy((command) => `setsid ${command}; true`)
  started!.kill('SIGKILL')
  await new Promise((resolve) => setTimeout(resolve, 2_000))
  expect(remains()).toHaveLength(1)
})
