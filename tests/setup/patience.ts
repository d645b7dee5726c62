/**
 * Factor of every time limit of the tests, `PRONGHORN_TEST_PATIENCE`: 1 unless it is set. Slow and busy machines need more;
 * nothing waits longer than it has to.
 */
const factor = readFactor(process.env.PRONGHORN_TEST_PATIENCE)

/** A time limit on this machine. @param ms what a machine with two idle cores needs at most, generously. */
export function patient(ms: number): number {
  return Math.round(ms * factor)
}

function readFactor(text = ''): number {
  if (text === '') return 1
  const value = Number(text)
  if (value >= 1 && value <= 1_000) return value
  throw new Error(`PRONGHORN_TEST_PATIENCE is ${text}: allowed are numbers from 1 to 1000`)
}
