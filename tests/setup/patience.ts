import { readNumber } from './read-number.ts'

/**
 * Factor for all time limits of the tests, from `PRONGHORN_TEST_PATIENCE`. The default is 4, because four test workers
 * share the processors, and because one machine was up to three times slower on some days than on others (one loop took
 * 1.8 to 5.5 s, measured 2026-12-01). Tests that pass take no longer with a larger factor.
 */
const factor = readNumber('PRONGHORN_TEST_PATIENCE', 4, 1, 1_000)

/** Scales a time limit. @param ms upper bound for a test that runs alone on a fast machine with two cores. */
export function patient(ms: number): number {
  return Math.round(ms * factor)
}
