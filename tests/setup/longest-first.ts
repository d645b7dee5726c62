import { BaseSequencer } from 'vitest/node'
import type { TestSpecification } from 'vitest/node'

/** The test files with the longest durations in `.data/test-results.json` of 2026-11-30, longest first. */
const longest = [
  'tests/integration/kills.test.ts',
  'tests/standalone/first-hour.test.ts',
  'tests/monitoring/watched.test.ts',
  'tests/dump/dump.test.ts',
  'tests/appliance/compose.test.ts',
  'tests/console/console.test.ts',
  'tests/standalone/messages.test.ts',
  'tests/integration/database-unavailable.test.ts',
  'tests/verify/every-damage.test.ts',
  'tests/integration/digest-roads.test.ts',
  'tests/hostile/hostile-content.test.ts',
  'tests/dump/dump-faults.test.ts',
  'tests/verify/verify.test.ts',
  'tests/api/market-model.test.ts',
  'tests/integration/modes.test.ts',
  'tests/integration/block-faults.test.ts',
  'tests/integration/second-filler.test.ts',
  'tests/live/feed-forks.test.ts',
  'tests/import/import-kills.test.ts',
  'tests/conformance/corpus.test.ts',
  'tests/compare/data-paths.test.ts',
  'tests/integration/recordings.test.ts',
  'tests/verify/cli.test.ts',
  'tests/standalone/endings.test.ts',
  'tests/verify/kills.test.ts',
  'tests/live/workers.test.ts',
  'tests/live/hostile-clients.test.ts',
  'tests/integration/market.test.ts',
  'tests/standalone/standalone.test.ts',
  'tests/verify/live.test.ts',
  'tests/integration/market-clock.test.ts',
  'tests/live/plain.test.ts',
  'tests/integration/forks.test.ts',
  'tests/api/listing-attributes.test.ts',
  'tests/api/answer-size.test.ts',
  'tests/state/stored-rows.test.ts',
  'tests/compare/compare.test.ts',
  'tests/api/plans.test.ts',
  'services/filler/ship/several/several-nodes.test.ts',
  'tests/api/entity-lists.test.ts',
  'tests/appliance/backups.test.ts',
  'tests/seals/history.test.ts',
  'tests/import/import-database.test.ts',
  'tests/api/market-lists.test.ts',
  'tests/live/recorded.test.ts',
  'tests/console/outage.test.ts',
  'tests/appliance/running-settings.test.ts',
  'tests/integration/refused-store.test.ts',
  'services/appliance/smoke/smoke-test.test.ts',
  'tests/live/events.test.ts',
  'tests/api/replicas.test.ts',
  'tests/integration/tools.test.ts',
  'tests/appliance/settings.test.ts',
  'tests/appliance/check-script.test.ts',
  'tests/api/lifecycle.test.ts',
]

/**
 * Sorts the test files. Files that need a worker process of their own come first, so that later files can reuse
 * workers. Within each of the two groups the longest file comes first, so that no long file starts when the other
 * workers are already idle.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const rank = ({ moduleId, project }: TestSpecification) => {
      const at = longest.findIndex((file) => moduleId.endsWith(file))
      return (at === -1 ? longest.length : at) - (project.config.isolate ? 2 * longest.length : 0)
    }
    return sorted.toSorted((a, b) => rank(a) - rank(b))
  }
}
