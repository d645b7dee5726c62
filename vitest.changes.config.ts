import { defineConfig } from 'vitest/config'
import { shared } from './tests/setup/vitest.ts'

// What takes the better part of an hour: every change of a running appliance under load, upgrades from the oldest version,
// clients of IPv6, and servers of the operator.
export default defineConfig({
  test: {
    ...shared,
    include: ['tests/appliance/{changes,ipv6,own-infrastructure,upgrade,scale}.rehearsal.ts'],
    reporters: ['default'],
  },
})
