import { defineConfig, mergeConfig } from 'vitest/config'
import base from './vitest.config.ts'

// What takes minutes and containers: the appliance under faults.
export default mergeConfig(
  { ...base, test: { ...base.test, include: [], reporters: [] } },
  defineConfig({
    test: {
      include: ['tests/**/faults.rehearsal.ts', 'tests/faults/table.rehearsal.ts'],
      reporters: ['default', ['json', { outputFile: '.data/rehearsal-results.json' }]],
    },
  }),
)
