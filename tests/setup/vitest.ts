import type { ProjectConfig } from 'vitest/node'
import type { ViteUserConfig } from 'vitest/config'
import { randomInt } from 'node:crypto'
import { LongestFirst } from './longest-first.ts'
import { patient } from './patience.ts'
import { temporaryFolder } from './temporary-folder.ts'

process.env.TMPDIR = temporaryFolder()

// Another seed for the random tests in each run; their worker processes inherit it.
if (process.env.PRONGHORN_SEED === 'fresh') {
  process.env.PRONGHORN_SEED = String(randomInt(1e9))
  console.info(`seed of this run: PRONGHORN_SEED=${process.env.PRONGHORN_SEED}`)
}

/** Settings of each project of a test run. */
export const ofEachProject = {
  setupFiles: ['tests/setup/repeat.ts'],
  testTimeout: patient(120_000),
  hookTimeout: patient(120_000),
  // PRONGHORN_TEST_PATIENCE scales every limit.
  expect: { poll: { timeout: patient(30_000) } },
  pool: 'forks',
  // Suites wait for processes, sockets and timers: two workers used 1.1 of two processors, three 1.8, on 2026-11-28.
  maxWorkers: 3,
} satisfies ProjectConfig

/** Settings of every test run. */
export const shared = {
  ...ofEachProject,
  // A project that inherited it would start a database server of its own.
  globalSetup: ['tests/setup/postgres.ts'],
  sequence: { sequencer: LongestFirst },
} satisfies ViteUserConfig['test']
