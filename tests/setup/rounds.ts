const isRunningAll = process.env.PRONGHORN_TEST_ALL_ROUNDS === '1'

/** Number of rounds that a random test runs in this test run: `usual`, or `all` with PRONGHORN_TEST_ALL_ROUNDS=1. */
export function rounds(usual: number, all: number): number {
  return isRunningAll ? all : usual
}
