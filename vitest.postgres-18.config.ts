import { defineConfig } from 'vitest/config'
import { inProjects, shared } from './tests/setup/vitest.ts'

// Runs the tests that depend on the version of the database on PostgreSQL 18. Long simulations that do not depend on
// the version, and faults of nodes and Redis, run on PostgreSQL 14 only. PRONGHORN_TEST_POSTGRES is set in this
// process, because the setup that starts the server runs here and `test.env` does not apply to it. The test processes
// inherit the variable.
process.env.PRONGHORN_TEST_POSTGRES = '18'

export default defineConfig({
  test: {
    ...shared,
    projects: inProjects(
      [
        'services/core/database/**/*.test.ts',
        'services/filler/store/**/*.test.ts',
        'tests/{api,conformance,integration,state}/**/*.test.ts',
      ],
      [
        'tests/api/{fuzz,workers,client-library,documentation,route-list,lifecycle,rate-limit,limits}*',
        'tests/api/{cache,cached-records,outage,request-scope}.test.ts',
        'tests/api/fuzz/**',
        'tests/integration/{backup,forks,kills,filler-metrics,nodes,nodes-head,second-filler,early-stop}.test.ts',
        'tests/integration/{block-faults,database-unavailable,refused-store}.test.ts',
        'tests/state/{forks,gaps,seeds}.test.ts',
        'tests/integration/{digest-roads,market-clock,modes,stalled-node}.test.ts',
      ],
    ),
    reporters: ['default', ['json', { outputFile: '.data/test-results-18.json' }]],
  },
})
