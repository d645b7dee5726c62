import { defineConfig } from 'vitest/config'
import { ofEachProject, shared } from './tests/setup/vitest.ts'

/** Suites that need a process of their own: they measure the process, or (`records`) count its prepared statements. */
const alone = [
  'tests/hostile/hostile*.test.ts',
  'tests/api/{answer-size,records}.test.ts',
  'tests/live/workers.test.ts',
  'tests/api/fuzz/*.test.ts',
]

// The suites that are not in `alone` share processes: starting a process and loading the modules takes longer than most
// suites.
const together = ['{services,tests}/**/*.test.ts']

export default defineConfig({
  test: {
    ...shared,
    reporters: ['default', ['json', { outputFile: '.data/test-results.json' }]],
    projects: [
      { test: { ...ofEachProject, name: 'together', include: together, exclude: alone, isolate: false } },
      { test: { ...ofEachProject, name: 'alone', include: alone } },
    ],
  },
})
