import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { describeUnless, findProgram } from '../setup/available.ts'

const run = promisify(execFile)

/** `describe` for suites that need the programs prometheus and promtool. */
export function describeWithPrometheus(name: string, suite: () => void): void {
  const missing = ['prometheus', 'promtool'].filter((each) => findProgram(each) === undefined)
  describeUnless(
    missing.length === 0 ? undefined : `there is no ${missing.join(', ')} on the PATH`,
    name,
    suite,
  )
}

/** Runs promtool and returns its output. @throws Error with the output if promtool fails. */
export async function promtool(...words: string[]): Promise<string> {
  try {
    const { stdout } = await run('promtool', words)
    return stdout
  } catch (error) {
    const { stdout, stderr } = error as { stdout?: string; stderr?: string }
    throw new Error(`promtool ${words.join(' ')}: ${stdout ?? ''}${stderr ?? ''}`, { cause: error })
  }
}
