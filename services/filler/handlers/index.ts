import { FatalError } from '../../core/errors/index.ts'
import type { Handler } from './handler.ts'
import { createAssetsHandler } from './assets/index.ts'
import type { AssetsHandlerArgs } from './assets/index.ts'
import type { StateWriter } from './state-writer.ts'
import { createMarketHandler, noteFormerTerms } from './market/index.ts'
import type { MarketHandlerArgs } from './market/index.ts'
import { createOracleHandler } from './oracle/index.ts'
import type { OracleHandlerArgs } from './oracle/index.ts'
import { createStateHistoryWriter } from './state/index.ts'
import type { StateHandlerArgs } from './state/index.ts'
import { createToolsHandler } from './tools/index.ts'
import type { ToolsHandlerArgs } from './tools/index.ts'
export { BlockTransactions } from './block-transactions.ts'
export type { ActionEvent, Handler, BlockInfo, BlockScope, Query, RowEvent } from './handler.ts'
export type { Declaration, Declarations } from './declaration.ts'
export type { StateWriter, StateWriterScope } from './state-writer.ts'

/** One entry of a reader's `contracts` in readers.config.json. */
export interface ContractEntry {
  readonly handler: string
  readonly args: Readonly<Record<string, unknown>>
}

/**
 * Contract families of this version: name to factory. To add a family, add a folder and an entry here, after the
 * families from whose rows it derives values.
 */
const factories: Readonly<Record<string, (args: never, reader: readonly ContractEntry[]) => Handler>> = {
  assets: (args: AssetsHandlerArgs) => createAssetsHandler(args),
  oracle: (args: OracleHandlerArgs, reader) =>
    createOracleHandler(args, reader.some(isMarket) ? noteFormerTerms : undefined),
  market: (args: MarketHandlerArgs) => createMarketHandler(args),
  tools: (args: ToolsHandlerArgs, reader) =>
    createToolsHandler(args, !reader.some(({ handler }) => handler === 'assets')),
}

function isMarket({ handler }: ContractEntry): boolean {
  return handler === 'market'
}

/**
 * Creates the handler of a configured contract; null if this version has no handler for it.
 *
 * @param reader all entries of the reader. A market handler takes the accounts of the assets and oracle contracts from
 * these entries, and derives sale prices from the oracle's pairs.
 * @throws FatalError `READER_FAMILIES_DIFFER`
 */
export function createHandler(entry: ContractEntry, reader: readonly ContractEntry[]): Handler | null {
  const args = isMarket(entry) ? { ...entry.args, ...accountsOf(entry, reader) } : entry.args
  return factories[entry.handler]?.(args as never, reader) ?? null
}

/**
 * Adds the accounts of the assets and oracle contracts to the market's arguments. Market values are derived from rows
 * of both families as of the same block, so one reader must index all three.
 */
function accountsOf(market: ContractEntry, reader: readonly ContractEntry[]): Record<string, unknown> {
  const accounts: Record<string, unknown> = {}
  for (const family of ['assets', 'oracle']) {
    const argument = `${family}_account`
    const account = reader.find(({ handler }) => handler === family)?.args[argument]
    const wanted = market.args[argument] ?? account
    if (account === undefined || account !== wanted)
      throw new FatalError(
        'READER_FAMILIES_DIFFER',
        `the market handler needs an ${family} handler in the same reader${typeof wanted === 'string' ? ` for contract ${wanted}` : ''}`,
      )
    accounts[argument] = account
  }
  return accounts
}

/** Sorts families by dependency: each after the families from which it derives values. */
export function sortFamilies<T extends { readonly family: string }>(handlers: readonly T[]): T[] {
  const order = Object.keys(factories)
  return [...handlers].sort((a, b) => order.indexOf(a.family) - order.indexOf(b.family))
}

/** Creates the state history writer of a configured entry; null if the entry is a contract family. */
export function createStateWriter(entry: ContractEntry, reader: string): StateWriter | null {
  return entry.handler === 'state'
    ? createStateHistoryWriter(entry.args as unknown as StateHandlerArgs, reader)
    : null
}
