import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { knownMutants } from '../../scripts/mutants/known.ts'
import { packageRoot } from '../../services/core/paths/index.ts'

it.each(knownMutants)(
  'a mutation that a test has to detect applies to the source: $behaviour',
  ({ file, from, tests }) => {
    expect(readFileSync(join(packageRoot, file), 'utf8').split(from)).toHaveLength(2)
    for (const test of tests) expect(existsSync(join(packageRoot, test)), test).toBe(true)
  },
)
