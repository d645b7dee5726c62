import { defineConfig } from 'vitest/config'
import { shared } from './tests/setup/vitest.ts'

// What takes minutes and containers: the appliance under faults, and with servers of its operator.
export default defineConfig({
  test: {
    ...shared,
    include: ['tests/appliance/{faults,own-infrastructure}.rehearsal.ts', 'tests/faults/table.rehearsal.ts'],
    reporters: ['default', ['json', { outputFile: '.data/rehearsal-results.json' }]],
  },
})
