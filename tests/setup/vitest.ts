import type { ViteUserConfig } from 'vitest/config'
import { patient } from './patience.ts'
import { temporaryFolder } from './temporary-folder.ts'

process.env.TMPDIR = temporaryFolder()

/** Settings of every test run. */
export const shared = {
  globalSetup: ['tests/setup/postgres.ts'],
  testTimeout: patient(120_000),
  hookTimeout: patient(120_000),
  // PRONGHORN_TEST_PATIENCE scales every limit.
  expect: { poll: { timeout: patient(30_000) } },
  pool: 'forks',
  maxWorkers: 2,
} satisfies ViteUserConfig['test']
