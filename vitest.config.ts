import { defineConfig } from 'vitest/config'
import { inProjects, shared } from './tests/setup/vitest.ts'

export default defineConfig({
  test: {
    ...shared,
    reporters: ['default', ['json', { outputFile: '.data/test-results.json' }]],
    projects: inProjects(['{services,tests}/**/*.test.ts']),
  },
})
