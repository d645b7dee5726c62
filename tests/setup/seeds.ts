import { readNumber } from './read-number.ts'
import { rounds } from './rounds.ts'

/**
 * Seed of this run, `PRONGHORN_SEED`, beside the fixed seeds of the random tests; undefined unless it is set. `fresh`
 * lets the test command draw one.
 */
const runSeed =
  (process.env.PRONGHORN_SEED ?? '') === '' ? undefined : readNumber('PRONGHORN_SEED', 0, 0, 1e9)

/** Seeds of a random test: its fixed one and that of this run. The title of the test ends with `seed %i`. */
export function seedsBeside(fixed: number): number[] {
  return runSeed === undefined || runSeed === fixed ? [fixed] : [fixed, runSeed]
}

/** Rounds for each seed of a test that has `all` at most: two seeds share them. */
export function roundsOfSeed(all: number): number {
  return Math.ceil(rounds(all) / (runSeed === undefined ? 1 : 2))
}

/** Seeds of a test that has one round for each: consecutive ones from `first`, half of them from that of this run. */
export function roundSeeds(all: number, first = 1): number[] {
  const count = rounds(all)
  const fresh = runSeed === undefined ? 0 : Math.floor(count / 2)
  return [
    ...Array.from({ length: count - fresh }, (_, at) => first + at),
    ...Array.from({ length: fresh }, (_, at) => runSeed! + at),
  ]
}
