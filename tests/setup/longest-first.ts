import { BaseSequencer } from 'vitest/node'
import type { TestSpecification } from 'vitest/node'

/** The longest test files, the longest first, by `.data/test-results.json` on 2026-11-27. */
const longest = [
  'tests/integration/kills.test.ts',
  'tests/hostile/hostile-content.test.ts',
  'tests/standalone/first-hour.test.ts',
  'tests/integration/digest-roads.test.ts',
  'tests/standalone/standalone.test.ts',
  'tests/api/answer-size.test.ts',
  'tests/integration/forks.test.ts',
  'tests/live/feed-forks.test.ts',
  'tests/integration/market.test.ts',
  'tests/integration/database-unavailable.test.ts',
  'tests/integration/modes.test.ts',
  'tests/verify/verify.test.ts',
  'tests/live/events.test.ts',
  'tests/state/stored-rows.test.ts',
  'tests/standalone/endings.test.ts',
]

/**
 * Order of the test files: those with a process of their own, so that the others find the process of the one before
 * them, and of each kind the longest first, so that no worker begins a long one when the other has nothing left.
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
