import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { ModuleKind, ScriptTarget, transpile } from 'typescript'
import { expect, it } from 'vitest'
import { packageRoot } from '../../services/core/paths/index.ts'

const source = readFileSync(join(packageRoot, 'services/cli/priority.ts'), 'utf8')

/** Lowers the priority as a publication does, compresses on a pool thread, and prints the priority of each thread. */
const program = `
  ${transpile(source, { module: ModuleKind.ESNext, target: ScriptTarget.ES2023 })}
  import { getPriority } from 'node:os'
  import { promisify } from 'node:util'
  import { gzip } from 'node:zlib'
  giveWay()
  await promisify(gzip)(Buffer.alloc(1_000_000))
  console.log(JSON.stringify(readdirSync('/proc/self/task').map((thread) => getPriority(Number(thread)))))`

it.runIf(process.platform === 'linux')(
  'every thread of a dump publication runs at the lowest priority',
  async () => {
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program])
    const priorities = JSON.parse(stdout) as number[]
    expect(priorities.length).toBeGreaterThan(4)
    expect(new Set(priorities)).toEqual(new Set([19]))
  },
)
