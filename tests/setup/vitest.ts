import type { ProjectConfig } from 'vitest/node'
import type { ViteUserConfig } from 'vitest/config'
import { randomInt } from 'node:crypto'
import { LongestFirst } from './longest-first.ts'
import { patient } from './patience.ts'
import { temporaryFolder } from './temporary-folder.ts'

process.env.TMPDIR = temporaryFolder()

// PRONGHORN_SEED=fresh draws a new seed for each run. The worker processes inherit the drawn seed.
if (process.env.PRONGHORN_SEED === 'fresh') {
  process.env.PRONGHORN_SEED = String(randomInt(1e9))
  console.info(`seed of this run: PRONGHORN_SEED=${process.env.PRONGHORN_SEED}`)
}

/** Settings of each project (a group of test files in vitest). */
const ofEachProject = {
  setupFiles: ['tests/setup/repeat.ts'],
  testTimeout: patient(120_000),
  hookTimeout: patient(120_000),
  // PRONGHORN_TEST_PATIENCE scales every time limit.
  expect: { poll: { timeout: patient(30_000) } },
  pool: 'forks',
  // More workers than cores, because suites also wait for processes, sockets and timers: on two cores, three workers
  // took 688 s and left 15 % of the processors idle, four took 644 s and left 2 % (measured 2026-11-30).
  maxWorkers: 4,
} satisfies ProjectConfig

/** Suites that need a process of their own: one measures the process, the other counts its prepared statements. */
const alone = ['tests/api/{answer-size,records}.test.ts']

/**
 * The projects of a test run. All suites but two share processes, because starting a process and loading the modules
 * takes longer than most suites.
 */
export function inProjects(include: string[], exclude: string[] = []) {
  return [
    {
      test: { ...ofEachProject, name: 'together', include, exclude: [...exclude, ...alone], isolate: false },
    },
    { test: { ...ofEachProject, name: 'alone', include: alone } },
  ]
}

/** Settings of the whole test run. */
export const shared = {
  ...ofEachProject,
  // `globalSetup` is not in `ofEachProject`: each project would start a database server of its own.
  globalSetup: ['tests/setup/postgres.ts'],
  sequence: { sequencer: LongestFirst },
} satisfies ViteUserConfig['test']
