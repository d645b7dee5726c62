import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { expect } from 'vitest'
import { runCli } from '../../services/cli/program.ts'
import { findFreePort } from '../../services/core/http/listener/index.ts'
import { patient } from '../setup/patience.ts'
import { program } from '../setup/standalone.ts'

/** A command that has ended, with its output. */
export interface Ended {
  readonly code: number | null
  /** All text that the command wrote to both outputs. */
  readonly text: string
  /** Lines of standard output and standard error, without the lines that report the steps of the start. */
  readonly lines: readonly string[]
}

const STEPS = /^(?:Checking|Starting|Creating|Indexing|Connecting|Stopped|Catching|At the head)/
/** Time after which a command is asked to stop, ms. */
const TIMEOUT_MS = patient(60_000)

const environment = () => ({ PATH: process.env.PATH, HOME: tmpdir(), TMPDIR: tmpdir() })

/** Runs a command in this process, with the environment of a child process. */
function runHere(
  args: readonly string[],
  signal: AbortSignal,
  print: (text: string) => void,
): Promise<number> {
  return runCli(args, { env: environment(), isTerminal: false, out: print, err: print, signal })
}

/**
 * Runs a command in this process until the command ends. A process of its own takes 0.6 s of processor time to load
 * the services (measured 2026-11-30).
 */
export async function run(...args: string[]): Promise<Ended> {
  const stopping = new AbortController()
  const timer = setTimeout(() => stopping.abort(), TIMEOUT_MS)
  let text = ''
  try {
    const code = await runHere(args, stopping.signal, (more) => (text += more))
    return ended(code, text)
  } finally {
    clearTimeout(timer)
    stopping.abort()
  }
}

/** A `pronghorn standalone` that runs in this process. */
export interface StandaloneHere {
  /** URL of the API. */
  readonly api: string
  readonly output: () => string
  /** Stops all services and returns the exit code. */
  readonly stop: () => Promise<number>
}

/** Starts `pronghorn standalone` in this process, on a free port; resolves when the API replies. */
export async function startHere(args: readonly string[]): Promise<StandaloneHere> {
  const api = `http://localhost:${await findFreePort()}`
  const stopping = new AbortController()
  let output = ''
  const port = ['--port', new URL(api).port]
  const end = runHere(['standalone', ...port, ...args], stopping.signal, (text) => (output += text))
  const stop = () => {
    stopping.abort()
    return end
  }
  const ending: { code?: number } = {}
  void end.then((code) => (ending.code = code))
  await expect
    .poll(() => ending.code !== undefined || output.includes(`${api}/health`), { timeout: TIMEOUT_MS })
    .toBe(true)
    .catch(async (error: unknown) => {
      await stop()
      throw error
    })
  if (ending.code !== undefined) throw new Error(`standalone did not start: ${output}`)
  return { api, output: () => output, stop }
}

/** Runs the built program until it ends. */
export async function runProgram(...args: string[]): Promise<Ended> {
  const child = spawn(process.execPath, [program, ...args], { env: environment(), timeout: TIMEOUT_MS })
  let text = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (text += chunk.toString()))
  const [code] = (await once(child, 'close')) as [number | null]
  return ended(code, text)
}

function ended(code: number | null, text: string): Ended {
  const [, ending = text] = /Pronghorn is running[^]*?\(HTTP\)\n\n?([^]*)/.exec(text) ?? []
  return { code, text, lines: ending.split('\n').filter((line) => line !== '' && !STEPS.test(line)) }
}
