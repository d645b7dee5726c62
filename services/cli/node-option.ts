import { PronghornError } from '../core/errors/index.ts'
import type { ErrorDetails } from '../core/errors/index.ts'

/**
 * Runs a task that asks the node whose HTTP address `--http` gave: its errors advise to look at the option, not at the
 * configuration. Undefined: the address is that of the configuration.
 */
export async function withNodeOption<T>(http: string | undefined, task: () => Promise<T>): Promise<T> {
  try {
    return await task()
  } catch (error) {
    if (!(error instanceof PronghornError)) throw error
    // Blocks are read from the state-history address of the configuration all the same.
    throw String(error.details.node).startsWith('ws') ? error : error.addDetails(nodeDetails(http))
  }
}

/** Details that name `--http` in a remedy; none if the address is that of the configuration. */
export function nodeDetails(http: string | undefined): ErrorDetails {
  return http === undefined ? {} : { http: '`--http`', nodes: '`--http`' }
}
