import { sha256 } from '../runtime/index.ts'

/**
 * Deterministic pseudo-random generator (sfc32): a seed text gives the same sequence on every machine. Not for
 * secrets.
 */
export class Random {
  #a: number
  #b: number
  #c: number
  #counter = 1

  constructor(seed: string) {
    const digest = sha256(Buffer.from(seed))
    this.#a = digest.readInt32LE(0)
    this.#b = digest.readInt32LE(4)
    this.#c = digest.readInt32LE(8)
    for (let i = 0; i < 12; i++) this.#next()
  }

  /** A number from 0 (inclusive) to 1 (exclusive). */
  fraction(): number {
    return this.#next() / 2 ** 32
  }

  /** A whole number from 0 to `count` - 1. */
  below(count: number): number {
    return Math.floor(this.fraction() * count)
  }

  /** A whole number from `least` to `most`. */
  between(least: number, most: number): number {
    return least + this.below(most - least + 1)
  }

  /** True with the given probability. */
  chance(probability: number): boolean {
    return this.fraction() < probability
  }

  /** A random item; throws on an empty list. */
  pick<T>(items: readonly T[]): T {
    if (items.length === 0) throw new RangeError('nothing to pick from')
    return items[this.below(items.length)]!
  }

  /** A random key, with probabilities proportional to the weights. */
  weighted<K extends string>(weights: Readonly<Record<K, number>>): K {
    const entries = Object.entries(weights) as [K, number][]
    let at = this.fraction() * entries.reduce((sum, [, weight]) => sum + weight, 0)
    for (const [key, weight] of entries) {
      at -= weight
      if (at < 0) return key
    }
    return entries.at(-1)![0]
  }

  #next(): number {
    const sum = (this.#a + this.#b + this.#counter++) | 0
    this.#a = this.#b ^ (this.#b >>> 9)
    this.#b = (this.#c + (this.#c << 3)) | 0
    this.#c = ((this.#c << 21) | (this.#c >>> 11)) + sum
    return sum >>> 0
  }
}
