import { readNumber } from './read-number.ts'
import { rounds } from './rounds.ts'

/**
 * Seed of this run from `PRONGHORN_SEED`, used in addition to the fixed seeds of the random tests; undefined if not
 * set. With `fresh` the test command draws a seed.
 */
const runSeed =
  (process.env.PRONGHORN_SEED ?? '') === '' ? undefined : readNumber('PRONGHORN_SEED', 0, 0, 1e9)

/** Seeds of a random test: the fixed seed and the seed of this run. The title of the test must end with `seed %i`. */
export function seedsBeside(fixed: number): number[] {
  return runSeed === undefined || runSeed === fixed ? [fixed] : [fixed, runSeed]
}

/** Number of rounds for each seed of a test; if there are two seeds, each gets half of `rounds(usual, all)`. */
export function roundsOfSeed(usual: number, all: number): number {
  return Math.ceil(rounds(usual, all) / (runSeed === undefined ? 1 : 2))
}

/**
 * Seeds of a test that runs one round per seed: consecutive numbers from `first`. If PRONGHORN_SEED sets a seed of this
 * run, half of the seeds are consecutive numbers from that seed.
 */
export function roundSeeds(usual: number, all: number, first = 1): number[] {
  const count = rounds(usual, all)
  const fresh = runSeed === undefined ? 0 : Math.floor(count / 2)
  return [
    ...Array.from({ length: count - fresh }, (_, at) => first + at),
    ...Array.from({ length: fresh }, (_, at) => runSeed! + at),
  ]
}
