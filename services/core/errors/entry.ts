import type { RunMode } from './mode.ts'

/**
 * What an error code means, and what to do about it: the same in every mode, or a text for each. `{name}` in a remedy is
 * replaced by that detail of the error.
 */
export interface ErrorEntry {
  readonly meaning: string
  readonly remedy: string | Readonly<Record<RunMode, string>>
}
