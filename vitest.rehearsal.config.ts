import { defineConfig } from 'vitest/config'
import { shared } from './tests/setup/vitest.ts'

// Rehearsals that take minutes and need containers: the appliance under faults.
export default defineConfig({
  test: {
    ...shared,
    include: ['tests/appliance/faults.rehearsal.ts', 'tests/faults/table.rehearsal.ts'],
    reporters: ['default', ['json', { outputFile: '.data/rehearsal-results.json' }]],
  },
})
