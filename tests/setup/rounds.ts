/** Share of the rounds of the longest random tests that fits into ten minutes of the whole suite. */
const USUAL_SHARE = 0.07

/** All rounds with `PRONGHORN_TEST_ALL_ROUNDS=1`. */
const share = process.env.PRONGHORN_TEST_ALL_ROUNDS === '1' ? 1 : USUAL_SHARE

/** How often to repeat what is repeated `all` times at most. */
export function rounds(all: number): number {
  return Math.ceil(all * share)
}
