import { defineConfig } from 'vitest/config'
import { shared } from './tests/setup/vitest.ts'

// What takes minutes and containers: the appliance under faults.
export default defineConfig({
  test: {
    ...shared,
    include: ['tests/appliance/faults.rehearsal.ts', 'tests/faults/table.rehearsal.ts'],
    reporters: ['default', ['json', { outputFile: '.data/rehearsal-results.json' }]],
  },
})
