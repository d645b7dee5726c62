/**
 * Share of the rounds of the longest random tests, `PRONGHORN_TEST_ROUNDS`: 0.4 unless it is set, so that the tests end
 * within ten minutes. Continuous integration runs all of them, with 1.
 */
const share = readShare(process.env.PRONGHORN_TEST_ROUNDS)

/** How often to repeat what is repeated `all` times at most. */
export function rounds(all: number): number {
  return Math.ceil(all * share)
}

function readShare(text = ''): number {
  if (text === '') return 0.4
  const value = Number(text)
  if (value > 0 && value <= 1) return value
  throw new Error(`PRONGHORN_TEST_ROUNDS is ${text}: allowed are numbers above 0, up to 1`)
}
