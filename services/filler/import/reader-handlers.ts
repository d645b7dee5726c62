import { createHandler, createStateWriter, sortFamilies } from '../handlers/index.ts'
import type { Handler } from '../handlers/index.ts'
import type { ReaderSettings } from '../pipeline/index.ts'
import { unfit } from './unfit.ts'

/**
 * Creates the handlers of a reader for an import.
 *
 * @throws FatalError `IMPORT_SOURCE_UNFIT` if the reader has a state history writer: neither a source database nor a
 * chain node stores the history that this handler writes.
 */
export function createReaderHandlers(settings: ReaderSettings): Handler[] {
  const handlers = settings.contracts.flatMap((entry) => {
    if (createStateWriter(entry, settings.name) !== null)
      throw unfit(
        `reader ${settings.name} has the handler ${entry.handler}, whose rows the source does not store: remove the handler`,
      )
    return createHandler(entry, settings.contracts) ?? []
  })
  return sortFamilies(handlers)
}

/** Contract account of each family; null if the reader does not index the family. */
export interface Accounts {
  readonly assets: string | null
  readonly market: string | null
  readonly oracle: string | null
  readonly tools: string | null
}

export function accountsOf(handlers: readonly Handler[]): Accounts {
  const account = (family: string) => handlers.find((handler) => handler.family === family)?.account ?? null
  return {
    assets: account('assets'),
    market: account('market'),
    oracle: account('oracle'),
    tools: account('tools'),
  }
}
