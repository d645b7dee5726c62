import { readNumber } from './read-number.ts'

/**
 * Factor of every time limit of the tests, `PRONGHORN_TEST_PATIENCE`: 1 unless it is set. Slow and busy machines need more;
 * nothing waits longer than it has to.
 */
const factor = readNumber('PRONGHORN_TEST_PATIENCE', 1, 1, 1_000)

/** A time limit on this machine. @param ms what a machine with two idle cores needs at most, generously. */
export function patient(ms: number): number {
  return Math.round(ms * factor)
}
