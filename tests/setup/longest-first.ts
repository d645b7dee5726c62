import { BaseSequencer } from 'vitest/node'
import type { TestSpecification } from 'vitest/node'

/** The test files with the longest durations in `.data/test-results.json` of 2026-11-29, longest first. */
const longest = [
  'tests/standalone/first-hour.test.ts',
  'tests/appliance/compose.test.ts',
  'tests/integration/kills.test.ts',
  'tests/hostile/hostile-content.test.ts',
  'tests/compare/data-paths.test.ts',
  'tests/integration/digest-roads.test.ts',
  'tests/standalone/messages.test.ts',
  'tests/integration/forks.test.ts',
  'tests/console/console.test.ts',
  'tests/integration/database-unavailable.test.ts',
  'tests/monitoring/watched.test.ts',
  'tests/live/workers.test.ts',
  'tests/import/import-kills.test.ts',
  'tests/integration/second-filler.test.ts',
  'tests/dump/dump.test.ts',
  'tests/live/feed-forks.test.ts',
  'tests/integration/block-faults.test.ts',
  'tests/dump/dump-faults.test.ts',
  'tests/verify/verify.test.ts',
  'tests/standalone/endings.test.ts',
  'tests/verify/every-damage.test.ts',
  'tests/conformance/corpus.test.ts',
  'tests/standalone/standalone.test.ts',
  'tests/appliance/check-script.test.ts',
  'tests/verify/kills.test.ts',
  'tests/api/fuzz/fuzz.test.ts',
  'tests/integration/modes.test.ts',
  'tests/appliance/backups.test.ts',
  'tests/api/answer-size.test.ts',
  'tests/integration/recordings.test.ts',
  'tests/api/listing-attributes.test.ts',
  'tests/integration/market.test.ts',
  'tests/appliance/settings.test.ts',
  'tests/hostile/hostile.test.ts',
  'tests/verify/cli.test.ts',
  'tests/api/workers.test.ts',
  'tests/import/import-state.test.ts',
  'tests/live/hostile-clients.test.ts',
  'tests/api/documentation.test.ts',
  'tests/api/plans.test.ts',
  'tests/api/market-lists.test.ts',
  'tests/import/import-state-kills.test.ts',
  'tests/integration/backup.test.ts',
  'tests/api/market-model.test.ts',
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
