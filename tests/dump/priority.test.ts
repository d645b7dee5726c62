import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { packageRoot } from '../../services/core/paths/index.ts'

/** Lowers the priority as a publication does, compresses on a pool thread, and prints the priority of each thread. */
const program = `
  import { readdirSync } from 'node:fs'
  import { getPriority } from 'node:os'
  import { promisify } from 'node:util'
  import { gzip } from 'node:zlib'
  import { giveWay } from ${JSON.stringify(join(packageRoot, 'dist/services/cli/priority.js'))}
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
