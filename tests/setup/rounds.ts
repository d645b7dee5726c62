/** Share of the rounds of the longest random tests that keeps the whole suite within ten minutes. */
const USUAL_SHARE = 0.07

/** `PRONGHORN_TEST_ALL_ROUNDS=1` runs all rounds of every random test. */
const share = process.env.PRONGHORN_TEST_ALL_ROUNDS === '1' ? 1 : USUAL_SHARE

/** Number of rounds that a random test runs in this test run. `all` is the number with PRONGHORN_TEST_ALL_ROUNDS=1. */
export function rounds(all: number): number {
  return Math.ceil(all * share)
}
