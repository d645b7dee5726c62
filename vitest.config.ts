import { defineConfig } from 'vitest/config'
import { patient } from './tests/setup/patience.ts'
import { temporaryFolder } from './tests/setup/temporary-folder.ts'

process.env.TMPDIR = temporaryFolder()

export default defineConfig({
  test: {
    include: ['services/**/*.test.ts', 'tests/**/*.test.ts'],
    globalSetup: ['tests/setup/postgres.ts'],
    testTimeout: patient(120_000),
    hookTimeout: patient(120_000),
    // PRONGHORN_TEST_PATIENCE scales every limit.
    expect: { poll: { timeout: patient(30_000) } },
    pool: 'forks',
    maxWorkers: 2,
    reporters: ['default', ['json', { outputFile: '.data/test-results.json' }]],
  },
})
