import { readNumber } from './read-number.ts'

/**
 * Factor for all time limits of the tests, from `PRONGHORN_TEST_PATIENCE`; default 1. Raise it for slow and busy
 * machines. Tests that pass take no longer with it.
 */
const factor = readNumber('PRONGHORN_TEST_PATIENCE', 1, 1, 1_000)

/** Scales a time limit. @param ms generous upper bound for a machine with two idle cores. */
export function patient(ms: number): number {
  return Math.round(ms * factor)
}
