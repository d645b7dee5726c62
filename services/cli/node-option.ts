import { PronghornError } from '../core/errors/index.ts'
import type { ErrorDetails } from '../core/errors/index.ts'

/**
 * Runs a task that sends requests to the node of the option `--http`. The remedies of the task's errors then name the
 * option instead of the configuration. @param http undefined if the configuration names the node.
 */
export async function withNodeOption<T>(http: string | undefined, task: () => Promise<T>): Promise<T> {
  try {
    return await task()
  } catch (error) {
    if (!(error instanceof PronghornError)) throw error
    // `--http` replaces only the HTTP URL of the node. The state-history URL comes from the configuration, so errors of
    // this URL keep the remedy that names the configuration.
    throw String(error.details.node).startsWith('ws') ? error : error.addDetails(nodeDetails(http))
  }
}

/** Error details that make a remedy name `--http`; empty if the configuration names the node. */
export function nodeDetails(http: string | undefined): ErrorDetails {
  return http === undefined ? {} : { http: '`--http`', nodes: '`--http`' }
}
