import { defineConfig, mergeConfig } from 'vitest/config'
import base from './vitest.config.ts'

// What takes the better part of an hour: every change of a running appliance under load, upgrades from the oldest version,
// and clients of IPv6.
export default mergeConfig(
  { ...base, test: { ...base.test, include: [], reporters: [] } },
  defineConfig({
    test: {
      include: ['tests/appliance/{changes,ipv6,upgrade,scale}.rehearsal.ts'],
      reporters: ['default'],
    },
  }),
)
