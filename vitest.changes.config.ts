import { defineConfig, mergeConfig } from 'vitest/config'
import base from './vitest.config.ts'

// What takes the better part of an hour: every change of a running appliance under load, and clients of IPv6.
export default mergeConfig(
  { ...base, test: { ...base.test, include: [], reporters: [] } },
  defineConfig({
    test: {
      include: ['tests/appliance/{changes,ipv6}.rehearsal.ts'],
      reporters: ['default'],
    },
  }),
)
