import { defineConfig } from 'vitest/config'
import { shared } from './tests/setup/vitest.ts'

// Runs a mixed load for SOAK_MINUTES minutes.
export default defineConfig({
  test: { ...shared, include: ['tests/hostile/soak.rehearsal.ts'], reporters: ['default'] },
})
