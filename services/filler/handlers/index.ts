import type { Handler } from './handler.ts'
import { createAssetsHandler } from './assets/index.ts'
import type { AssetsHandlerArgs } from './assets/index.ts'
import type { Keeper } from './keeper.ts'
import { createOracleHandler } from './oracle/index.ts'
import type { OracleHandlerArgs } from './oracle/index.ts'
import { createStateKeeper } from './state/index.ts'
import type { StateHandlerArgs } from './state/index.ts'
import { createToolsHandler } from './tools/index.ts'
import type { ToolsHandlerArgs } from './tools/index.ts'

export type { ActionEvent, BlockInfo, BlockScope, Handler, Query, RowEvent, WantedFields } from './handler.ts'
export type { Keeper, KeeperScope, KeptBlock, RawPermission, RawPermissionLink, RawRow } from './keeper.ts'

/** One entry of a reader's `contracts` in readers.config.json. */
export interface ContractEntry {
  readonly handler: string
  readonly args: Readonly<Record<string, unknown>>
}

/**
 * The contract families that this version indexes: name to factory. A new family is one folder and one line here, after
 * the families whose rows it derives from.
 */
const factories: Readonly<Record<string, (args: never) => Handler>> = {
  assets: (args: AssetsHandlerArgs) => createAssetsHandler(args),
  oracle: (args: OracleHandlerArgs) => createOracleHandler(args),
  tools: (args: ToolsHandlerArgs) => createToolsHandler(args),
}

/** Makes the handler of a configured contract; null when this version has none for it. */
export function createHandler(entry: ContractEntry): Handler | null {
  return factories[entry.handler]?.(entry.args as never) ?? null
}

/** Sorts families so that each comes after those that it derives from. */
export function sortFamilies<T extends { readonly family: string }>(handlers: readonly T[]): T[] {
  const order = Object.keys(factories)
  return [...handlers].sort((a, b) => order.indexOf(a.family) - order.indexOf(b.family))
}

/** Makes the keeper of a configured entry; null when the entry is of a contract family. */
export function createKeeper(entry: ContractEntry, reader: string): Keeper | null {
  return entry.handler === 'state'
    ? createStateKeeper(entry.args as unknown as StateHandlerArgs, reader)
    : null
}
