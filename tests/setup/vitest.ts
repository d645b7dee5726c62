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
  // More workers than cores, because suites mostly wait for processes, sockets and timers: on two cores, two workers
  // used 1.1 cores, three used 1.8 (measured 2026-11-28).
  maxWorkers: 3,
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
