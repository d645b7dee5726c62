/** Areas of the code whose result depends only on their input, with the tests that must detect a change. */
export const areas: Readonly<Record<string, { readonly folder: string; readonly tests: readonly string[] }>> =
  {
    handlers: {
      folder: 'services/filler/handlers',
      tests: [
        'services/filler/handlers',
        'tests/model',
        'tests/integration/edge-values.test.ts',
        'tests/integration/recordings.test.ts',
        'tests/integration/market-clock.test.ts',
        'tests/integration/market.test.ts',
        'tests/integration/tools.test.ts',
        'tests/import/import-state.test.ts',
        'tests/verify/verify.test.ts',
      ],
    },
    planner: {
      folder: 'services/api/planner',
      tests: [
        'services/api/planner',
        'tests/api/plans.test.ts',
        'tests/api/tools-plans.test.ts',
        'tests/api/market-lists.test.ts',
        'tests/api/asset-filters.test.ts',
        'tests/api/entity-lists.test.ts',
        'tests/api/market-model.test.ts',
      ],
    },
    store: {
      folder: 'services/filler/store',
      tests: [
        'services/filler/store',
        'tests/integration/forks.test.ts',
        'tests/integration/second-filler.test.ts',
      ],
    },
    limits: {
      folder: 'services/core/http/limits',
      tests: ['services/core/http', 'tests/api/limits.test.ts', 'tests/api/rate-limit.test.ts'],
    },
    keys: {
      folder: 'services/state/access',
      tests: ['services/state/access', 'tests/state/keys.test.ts', 'tests/state/service.test.ts'],
    },
    cache: { folder: 'services/api/cache', tests: ['services/api/cache', 'tests/api/cache.test.ts'] },
  }
