import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
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

/** Runs the program until it ends. */
export async function run(...args: string[]): Promise<Ended> {
  const env = { PATH: process.env.PATH, HOME: tmpdir(), TMPDIR: tmpdir() }
  const child = spawn(process.execPath, [program, ...args], { env, timeout: patient(60_000) })
  let text = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (text += chunk.toString()))
  const [code] = (await once(child, 'close')) as [number | null]
  const [, ending = text] = /Pronghorn is running[^]*?\(HTTP\)\n\n?([^]*)/.exec(text) ?? []
  return { code, text, lines: ending.split('\n').filter((line) => line !== '' && !STEPS.test(line)) }
}
