import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['services/**/*.test.ts', 'tests/**/*.test.ts'],
    globalSetup: ['tests/setup/postgres.ts'],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // What is waited for comes, however slow the machine.
    expect: { poll: { timeout: 30_000 } },
    pool: 'forks',
    maxWorkers: 2,
    reporters: ['default', ['json', { outputFile: '.data/test-results.json' }]],
  },
})
