import { readNumber } from './read-number.ts'

/**
 * Share of the rounds of the longest random tests, `PRONGHORN_TEST_ROUNDS`: 0.07 unless it is set, so that the tests end
 * within ten minutes.
 */
const share = readNumber('PRONGHORN_TEST_ROUNDS', 0.07, 0.01, 1)

/** How often to repeat what is repeated `all` times at most. */
export function rounds(all: number): number {
  return Math.ceil(all * share)
}
