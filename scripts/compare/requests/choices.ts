import { Random } from '../../../services/devchain/index.ts'

/** Random choices that follow from a seed alone. */
export type Choices = Pick<Random, 'below' | 'chance' | 'pick'>

/** Choices for a seed. */
export function createChoices(seed: number): Choices {
  return new Random(String(seed))
}
