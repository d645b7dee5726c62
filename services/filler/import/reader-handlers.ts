import { createHandler, createStateWriter, sortFamilies } from '../handlers/index.ts'
import type { Handler } from '../handlers/index.ts'
import type { ReaderSettings } from '../pipeline/index.ts'
import type { Accounts } from './copy-parts.ts'
import { unfit } from './old-source.ts'
import type { OldSource } from './old-source.ts'

/** The handlers of a reader that can take rows of another program. @throws FatalError `IMPORT_SOURCE_UNFIT`. */
export function createReaderHandlers(settings: ReaderSettings): Handler[] {
  const handlers = settings.contracts.flatMap((entry) => {
    if (createStateWriter(entry, settings.name) !== null)
      throw unfit(
        `reader ${settings.name} has the handler ${entry.handler}, whose rows the source does not store: leave it out`,
      )
    return createHandler(entry, settings.contracts) ?? []
  })
  return sortFamilies(handlers)
}

/** Contract accounts of handlers by family. */
export function accountsOf(handlers: readonly Handler[]): Accounts {
  const account = (family: string) => handlers.find((handler) => handler.family === family)?.account ?? null
  return {
    assets: account('assets'),
    market: account('market'),
    oracle: account('oracle'),
    tools: account('tools'),
  }
}

/** Tables that the old program creates with the handler of a family. */
const tablesOfFamilies = {
  assets: 'atomicassets_config',
  market: 'atomicmarket_config',
  oracle: 'delphioracle_pairs',
} as const

/** @throws FatalError `IMPORT_SOURCE_UNFIT` when the source never had the handler of a family. Links may be absent. */
export function requireFamilies(source: OldSource, accounts: Accounts): void {
  for (const family of ['assets', 'market', 'oracle'] as const) {
    const table = tablesOfFamilies[family]
    if (accounts[family] !== null && !source.has(table))
      throw unfit(`it lacks ${table}: leave the handler ${family} out of the reader`)
  }
}
