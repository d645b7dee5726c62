import type { RunMode } from './mode.ts'

/**
 * Meaning and remedy of an error code. The remedy is one text for all run modes, or one per mode. `{name}` in a remedy
 * is replaced by the error's detail of that name.
 */
export interface ErrorEntry {
  readonly meaning: string
  readonly remedy: string | Readonly<Record<RunMode, string>>
}
