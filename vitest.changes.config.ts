import { defineConfig } from 'vitest/config'
import { shared } from './tests/setup/vitest.ts'

// Rehearsals that take most of an hour: every change of a running appliance under load, upgrades from the oldest
// version, published dumps, clients of IPv6, servers of the operator, and an operator's commands for containers.
export default defineConfig({
  test: {
    ...shared,
    include: ['tests/appliance/{changes,dump,ipv6,operator,own-infrastructure,upgrade,scale}.rehearsal.ts'],
    reporters: ['default'],
  },
})
