import { defineConfig } from 'vitest/config'
import { shared } from './tests/setup/vitest.ts'

// Mixed load for as long as SOAK_MINUTES says.
export default defineConfig({
  test: { ...shared, include: ['tests/hostile/soak.rehearsal.ts'], reporters: ['default'] },
})
