import { Random } from '../../../services/devchain/index.ts'

/** Picks positions of a list at random, with probabilities proportional to given weights. */
export class Choice {
  readonly #sums: Float64Array
  readonly #random: Random

  constructor(weights: ArrayLike<number>, random: Random) {
    this.#sums = new Float64Array(weights.length)
    this.#random = random
    let sum = 0
    for (let i = 0; i < weights.length; i++) {
      sum += weights[i]!
      this.#sums[i] = sum
    }
  }

  next(): number {
    const sums = this.#sums
    const at = this.#random.fraction() * sums[sums.length - 1]!
    let low = 0
    let high = sums.length - 1
    while (low < high) {
      const middle = (low + high) >>> 1
      if (sums[middle]! > at) high = middle
      else low = middle + 1
    }
    return low
  }
}

/** Weights that fall with the rank as popularity does (Zipf): 1, 2^-exponent, 3^-exponent, … */
export function falling(count: number, exponent: number): Float64Array {
  return Float64Array.from({ length: count }, (_, rank) => (rank + 1) ** -exponent)
}

export { Random }
