import { defineConfig, mergeConfig } from 'vitest/config'
import base from './vitest.config.ts'

// Mixed load for as long as SOAK_MINUTES says.
export default mergeConfig(
  { ...base, test: { ...base.test, include: [], reporters: [] } },
  defineConfig({ test: { include: ['tests/hostile/soak.rehearsal.ts'], reporters: ['default'] } }),
)
