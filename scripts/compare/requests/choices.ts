import { Random } from '../../../services/devchain/index.ts'

/** Pseudo-random choices that depend on the seed only. */
export type Choices = Pick<Random, 'below' | 'chance' | 'pick'>

export function createChoices(seed: number): Choices {
  return new Random(String(seed))
}
