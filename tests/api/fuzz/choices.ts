import { createRandom } from '../../integration/seeded-random.ts'

/** Random choices that follow from a seed alone. */
export interface Choices {
  /** An integer from 0 to `bound - 1`. */
  below(bound: number): number
  /** True with this probability. */
  chance(probability: number): boolean
  pick<T>(items: readonly T[]): T
}

/** Choices for a seed. */
export function createChoices(seed: number): Choices {
  const random = createRandom(seed)
  const below = (bound: number): number => Math.floor(random.fraction() * bound)
  return {
    below,
    chance: (probability) => random.fraction() < probability,
    pick: (items) => items[below(items.length)]!,
  }
}
