import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['services/**/*.test.ts', 'tests/**/*.test.ts'],
    globalSetup: ['tests/setup/postgres.ts'],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    pool: 'forks',
    maxWorkers: 2,
    reporters: ['default', ['json', { outputFile: '.data/test-results.json' }]],
  },
})
