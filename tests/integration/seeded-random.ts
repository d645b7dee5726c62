/** Reproducible random numbers. */
export interface SeededRandom {
  /** A number from 0 to below 1. */
  fraction(): number
  /** A whole number from `low` to `high`, both included. */
  between(low: number, high: number): number
}

/** Creates a generator whose numbers depend on the seed alone (linear congruential with mixed output). */
export function createRandom(seed: number): SeededRandom {
  let state = seed >>> 0
  const fraction = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    const mixed = Math.imul(state ^ (state >>> 15), 0x2c1b_3c6d)
    return ((mixed ^ (mixed >>> 13)) >>> 0) / 2 ** 32
  }
  return { fraction, between: (low, high) => low + Math.floor(fraction() * (high - low + 1)) }
}
