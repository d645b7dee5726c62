import { defineConfig } from 'vitest/config'
import { shared } from './tests/setup/vitest.ts'

export default defineConfig({
  test: {
    ...shared,
    reporters: ['default', ['json', { outputFile: '.data/test-results.json' }]],
    projects: [
      // Tests of modules share a process with those before them: starting one and loading modules takes longer than most.
      { extends: true, test: { name: 'modules', include: ['services/**/*.test.ts'], isolate: false } },
      { extends: true, test: { name: 'parts', include: ['tests/**/*.test.ts'] } },
    ],
  },
})
